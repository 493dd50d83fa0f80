/* child.c - spaces made by system calls. Interface: child.h. */
#include "child.h"

#include <arch/runtime.h>
#include <servers/lib/elf.h>
#include <string.h>

/* Of this program, with their pages as a child gets them. */
static struct elf_executable program;
static cap_t memories[ELF_SEGMENTS_MAX];

static void fail(const char *what, int64_t error)
{
    printf("Bail out! %s: %s\n", what, tarn_error_text((int)error));
    exit(1);
}

static uint64_t start_of(const struct elf_segment *segment)
{
    return segment->address & ~(TARN_PAGE_SIZE - 1);
}

static uint64_t bytes_of(const struct elf_segment *segment)
{
    return (segment->address + segment->size - start_of(segment) + TARN_PAGE_SIZE - 1) &
           ~(TARN_PAGE_SIZE - 1);
}

void child_prepare(void)
{
    const void *base = (const void *)program_startup()->executable_base;
    if (elf_parse(base, ELF_HEADER_BYTES, UINT64_MAX, base, &program))
        fail("reading the program's own header", -E_BAD_ARGUMENT);
    for (unsigned i = 0; i < program.count; i++)
        memories[i] = must(sys_memory_create(bytes_of(&program.segment[i])));
    /* After all capabilities are there, so that the copy of our data includes all of them. */
    for (unsigned i = 0; i < program.count; i++) {
        const uint64_t start = start_of(&program.segment[i]), bytes = bytes_of(&program.segment[i]);
        for (uint64_t at = 0; at < bytes;) {
            int64_t written = sys_memory_write(memories[i], at, (const char *)start + at, bytes - at);
            if (written <= 0)
                fail("copying the program", written);
            at += (uint64_t)written;
        }
    }
}

static int map_all(const struct child *child)
{
    for (unsigned i = 0; i < program.count; i++) {
        const struct elf_segment *segment = &program.segment[i];
        const uint32_t flags = segment->flags | MAP_FIXED | (segment->flags & MAP_WRITE ? MAP_PRIVATE : 0);
        int64_t at = sys_space_map(child->space, memories[i], start_of(segment), bytes_of(segment), 0, flags);
        if (at < 0)
            return (int)at;
    }
    int64_t stacks = sys_memory_create(CHILD_STACK_BYTES * CHILD_STACKS_MAX);
    if (stacks < 0)
        return (int)stacks;
    int64_t at = sys_space_map(child->space, (cap_t)stacks, CHILD_STACKS,
                               CHILD_STACK_BYTES * CHILD_STACKS_MAX, 0, MAP_READ | MAP_WRITE | MAP_FIXED);
    sys_cap_close((cap_t)stacks);
    return at < 0 ? (int)at : 0;
}

int child_create(struct child *child, const char *name)
{
    int64_t ended = sys_notification_create();
    int64_t space = ended < 0 ? ended : sys_space_create(name, 0);
    if (space < 0) {
        if (ended >= 0)
            sys_cap_close((cap_t)ended);
        return (int)space;
    }
    *child = (struct child){.space = (cap_t)space, .ended = (cap_t)ended};
    int error = (int)sys_space_watch(child->space, child->ended, 1);
    if (!error)
        error = map_all(child);
    if (!error)
        error = child_give(child, child->space, SLOT_SPACE, RIGHT_ALL);
    if (error)
        child_end(child);
    return error;
}

int child_give(const struct child *child, cap_t own, cap_t slot, uint32_t rights)
{
    int64_t result = sys_cap_copy(child->space, own, slot, rights, 0);
    return result < 0 ? (int)result : 0;
}

int64_t child_thread(struct child *child, void (*entry)(uint64_t), uint64_t arg, uint32_t priority,
                     uint64_t affinity)
{
    uint64_t top = CHILD_STACKS + (child->threads++ % CHILD_STACKS_MAX + 1) * CHILD_STACK_BYTES;
    struct thread_config config = {.entry = (uint64_t)entry,
                                   .stack = arch_stack_start(top),
                                   .arg = arg,
                                   .priority = priority,
                                   .affinity = affinity,
                                   .name = "child"};
    return sys_thread_create(child->space, &config);
}

int child_start(struct child *child, void (*entry)(uint64_t), uint64_t arg)
{
    int64_t thread = child_thread(child, entry, arg, TARN_PRIO_USER, 0);
    if (thread < 0)
        return (int)thread;
    int64_t error = sys_thread_resume((cap_t)thread);
    sys_cap_close((cap_t)thread);
    return (int)error;
}

cap_t child_run(struct child *child, void (*entry)(uint64_t), uint64_t arg, uint32_t priority,
                uint64_t affinity)
{
    const cap_t thread = must(child_thread(child, entry, arg, priority, affinity));
    must(sys_thread_resume(thread));
    return thread;
}

void child_map(const struct child *child, cap_t memory, uint64_t address, uint64_t size, uint32_t flags)
{
    must(sys_space_map(child->space, memory, address, size, 0, flags | MAP_FIXED));
}

void child_end(struct child *child)
{
    sys_space_kill(child->space, 0);
    int64_t error = sys_notification_wait(child->ended, deadline_after(20000000000ull));
    if (error != 1)
        fail("a killed space does not end", error);
    sys_cap_close(child->ended);
    sys_cap_close(child->space);
}
