/* SPDX-License-Identifier: BSD-2-Clause */
/* host.c - what the kernel needs below it, made of host memory. Interface: host.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arch/boot.h>
#include <arch/mmu.h>
#include <kernel/diagnosis/span.h>
#include <kernel/failure/watchdog.h>
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <kernel/trace/control.h>
#include <kernel/trace/drain.h>
#include <tarn/error.h>
#include <tests/unit/kernel/host.h>
#include <tests/unit/stub.h>

char *host_ram;
uint64_t host_clock;
_Thread_local struct cpu *host_cpu;
struct cpu cpus[CPUS_MAX];
uint32_t cpu_count;
struct boot_info boot_info;
static struct arch_space kernel_space;
struct arch_space *arch_kernel_space = &kernel_space;

void host_start(uint32_t processors)
{
    host_ram = aligned_alloc(4096, HOST_RAM_BYTES);
    boot_info.ram[0] = (struct boot_range){HOST_RAM_BASE, HOST_RAM_BYTES};
    boot_info.ram_count = 1;
    boot_info.occupied[0] = (struct boot_range){HOST_RAM_BASE + 0x10000, 0x5000};
    boot_info.occupied_count = 1;
    cpu_count = processors;
    for (uint32_t i = 0; i < processors; i++) {
        cpus[i].index = cpus[i].block.cpu = i;
        cpus[i].bit = 1ull << i;
        cpus[i].online = true;
    }
    host_become(0);
}

void host_become(uint32_t processor)
{
    host_cpu = &cpus[processor];
}

void panic(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "panic: ");
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}

void spin_lock_contended(struct spinlock *lock)
{
    while (!spin_try_lock(lock))
        arch_relax();
}
DOES_NOTHING(void spin_count_failed(const struct spinlock *lock, uint64_t site));
DOES_NOTHING(void spin_note_taken(struct spinlock *lock));
DOES_NOTHING(void spin_note_tried(struct spinlock *lock, uint64_t site));
bool lock_is_watched;
DOES_NOTHING(void spin_note_released(struct spinlock *lock, uint64_t site));
void spin_init(struct spinlock *lock, struct lock_class *class)
{
    *lock = (struct spinlock){.class = class};
}
DOES_NOTHING(void trace_sites_forget(struct program_sites *sites));
DOES_NOTHING(void watchdog_check(void));
DOES_NOTHING(void trace_check_mark(void));
DOES_NOTHING(void arch_send_ipi(struct cpu *target, enum ipi_kind kind));

/* ---- Tables are off ---- */

bool routines_on, profile_watches;
DOES_NOTHING(void routines_begin(struct thread *self, bool from_kernel, enum trace_routine_kind kind,
                                 uint64_t argument, uint64_t now));
DOES_NOTHING(void routines_end(struct thread *self, uint64_t now));
DOES_NOTHING(void routines_beat(uint64_t now));
DOES_NOTHING(void span_begun(enum trace_routine_kind kind, uint64_t argument, uint64_t logged));
DOES_NOTHING(void span_ended(uint64_t logged));
bool trace_tables_in_use;

DOES_NOTHING(void trace_tables_reclaim(bool is_heartbeat));
DOES_NOTHING(void routines_end_thread(struct thread *thread));

/* ---- Page tables as a list ---- */

int arch_space_init(struct arch_space *space)
{
    *space = (struct arch_space){0};
    return 0;
}

uint32_t arch_space_destroy(struct arch_space *space)
{
    free(space->pages);
    *space = (struct arch_space){0};
    return 0;
}

static struct host_page *find_page(struct arch_space *space, uint64_t address)
{
    for (uint32_t i = 0; i < space->count; i++) {
        if (space->pages[i].address == address)
            return &space->pages[i];
    }
    return NULL;
}

uint64_t host_map_budget = ~0ull;

int arch_map_page(struct arch_space *space, uint64_t address, paddr_t frame, uint32_t flags)
{
    if (host_map_budget == 0)
        return -E_NO_MEMORY;
    host_map_budget--;
    struct host_page *page = find_page(space, address);
    if (!page) {
        if (space->count == space->capacity) {
            space->capacity = space->capacity ? space->capacity * 2 : 64;
            space->pages = realloc(space->pages, space->capacity * sizeof *space->pages);
        }
        page = &space->pages[space->count++];
    }
    *page = (struct host_page){address, frame, flags};
    return 0;
}

uint32_t arch_map_missing(struct arch_space *space, uint64_t address, const paddr_t *frames, uint32_t count,
                          uint32_t flags)
{
    uint32_t mapped = 0;
    for (uint32_t i = 0; i < count; i++)
        if (frames[i] != FRAME_NONE && !find_page(space, address + i * FRAME_SIZE))
            mapped += arch_map_page(space, address + i * FRAME_SIZE, frames[i], flags) == 0;
    return mapped;
}

uint64_t arch_unmap_range(struct arch_space *space, uint64_t address, uint64_t size)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < space->count;) {
        if (space->pages[i].address >= address && space->pages[i].address < address + size) {
            space->pages[i] = space->pages[--space->count];
            count++;
        } else {
            i++;
        }
    }
    return count;
}

uint64_t arch_protect_range(struct arch_space *space, uint64_t address, uint64_t size, uint32_t flags)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < space->count; i++) {
        if (space->pages[i].address >= address && space->pages[i].address < address + size) {
            space->pages[i].flags = flags;
            count++;
        }
    }
    return count;
}

paddr_t arch_lookup_page(struct arch_space *space, uint64_t address, uint32_t *flags)
{
    struct host_page *page = find_page(space, address);
    if (!page)
        return ~0ull;
    *flags = page->flags;
    return page->frame;
}
