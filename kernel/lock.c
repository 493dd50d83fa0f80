/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/lock.c - the slow half of spinlocks: waiting, and what the trace learns about it. Interface: lock.h.
 */
#include <arch/clock.h>
#include <kernel/cpu.h>
#include <kernel/kernel.h>
#include <kernel/lock.h>
#include <kernel/space.h>
#include <trace/lock.h>

#define CHAIN_MAX 8

/* The linker script's ends of the section that LOCK_CLASS fills. */
extern struct lock_class lock_class_first[], lock_class_last[];

static bool is_same(const char *a, const char *b)
{
    return strlen(a) == strlen(b) && memcmp(a, b, strlen(a)) == 0;
}

/* `watch=CLASS` or `watch=all`; blanks of a name are written as underscores. */
static bool is_watched(const char *name, const char *wanted)
{
    char word[32];
    format_text(word, sizeof word, "%s", name);
    for (char *p = word; *p; p++)
        *p = *p == ' ' ? '_' : *p;
    return is_same(wanted, "all") || is_same(wanted, word);
}

void lock_init(void)
{
    char wanted[32] = "";
    uint32_t number = 0;
    boot_option("watch=", wanted, sizeof wanted);
    for (struct lock_class *class = lock_class_first; class < lock_class_last; class ++) {
        class->number = ++number;
        class->watched = is_watched(class->name, wanted);
    }
}

void lock_class_for_each(void (*visit)(struct lock_class *class, void *context), void *context)
{
    for (struct lock_class *class = lock_class_first; class < lock_class_last; class ++)
        visit(class, context);
}

void spin_init(struct spinlock *lock, struct lock_class *class)
{
    *lock = (struct spinlock)SPINLOCK(class);
}

static __attribute__((noinline)) void log_contended(struct spinlock *lock, uint64_t since, uint64_t spins)
{
    uint64_t waited = arch_clock() - since;
    uint64_t chain[CHAIN_MAX];
    uint32_t depth = arch_backtrace(chain, CHAIN_MAX);
    trace_lock_contended((uint64_t)lock, waited, spins, lock->class->number, 0, depth, chain);
}

/* The holder may be waiting for this processor to flush translations, so requests are answered meanwhile. */
void spin_lock_contended(struct spinlock *lock)
{
    uint64_t since = arch_clock(), spins = 0;
    struct cpu *cpu = this_cpu();
    assert(!spin_held(lock));
    const struct spinlock *outer = cpu->waiting_lock;
    atomic_store_explicit(&cpu->waiting_lock, lock, memory_order_relaxed);
    do {
        while (atomic_load_explicit(&lock->held, memory_order_relaxed) != 0) {
            spins++;
            tlb_handle_request();
            arch_relax();
        }
    } while (!spin_try_lock(lock));
    atomic_store_explicit(&cpu->waiting_lock, outer, memory_order_relaxed);
    atomic_fetch_add_explicit(&lock->class->contended, 1, memory_order_relaxed);
    if (TRACE_ON_LOCK())
        log_contended(lock, since, spins);
}

struct cpu *spin_holder(const struct spinlock *lock)
{
    uint32_t offset = atomic_load_explicit(&lock->held, memory_order_relaxed) - (uint32_t)(uintptr_t)cpus;
    uint32_t index = offset / sizeof cpus[0];
    return offset % sizeof cpus[0] == 0 && index < cpu_count ? &cpus[index] : NULL;
}

void spin_note_taken(struct spinlock *lock)
{
    lock->since = arch_clock();
}

void spin_note_released(struct spinlock *lock)
{
    if (lock->since != 0)
        trace_lock_held((uint64_t)lock, arch_clock() - lock->since, lock->class->number, 0);
    lock->since = 0;
}
