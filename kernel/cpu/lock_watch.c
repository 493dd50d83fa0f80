/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_watch.c - samples acquisitions of spinlocks. Interface: lock_watch.h. */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/lock.h>
#include <kernel/kernel.h>
#include <trace/event/lock_tables.h>
#include <trace/lock.h>

#define CHAIN_MAX 8

/* ---- Which acquisition ---- */

/* A random number below `bound`. The upper bits of such a sequence are the good ones. */
static uint32_t draw(struct lock_watch *watch, uint32_t bound)
{
    watch->random = watch->random * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)watch->random * bound >> 32);
}

/* From the one looked at to the next, which is at a random place of the next period. */
static uint32_t draw_distance(struct lock_watch *watch)
{
    if (watch->period <= 1)
        return watch->period ? 1 : LOCK_SAMPLE_MAX;
    const uint32_t place = draw(watch, watch->period), distance = watch->rest + 1 + place;
    watch->rest = watch->period - 1 - place;
    return distance;
}

/* While no note is in use, no release needs to be looked at. */
static void settle(struct lock_watch *watch)
{
    if (watch->notes_used)
        return;
    watch->left = watch->left - watch->due - 1;
    watch->due = -1;
}

void restart_lock_watch(struct lock_watch *watch, uint32_t period)
{
    watch->period = period;
    watch->rest = 0;
    if (!watch->random)
        watch->random = (uint32_t)(uintptr_t)watch; /* each CPU draws others */
    watch->due = watch->left - draw_distance(watch);
    settle(watch);
}

/* How many acquisitions this one stands for; 0: it is not sampled. */
static uint32_t draw_sample(struct lock_watch *watch, const struct lock_class *class)
{
    const uint32_t every = class->sample_every;
    return every > watch->period && draw(watch, every) >= watch->period ? 0 : every;
}

/* ---- What is noted ---- */

static struct lock_key key_of(const struct spinlock *lock)
{
    return (struct lock_key){.lock = (uint64_t)lock, .lock_class = lock->class->number};
}

static __attribute__((noinline)) void log_acquired(struct spinlock *lock, uint32_t acquisitions)
{
    uint64_t chain[CHAIN_MAX];
    uint32_t depth = arch_backtrace(chain, CHAIN_MAX);
    trace_lock_acquired((uint64_t)lock, lock->class->number, 0, acquisitions, depth, chain);
}

static void make_note(struct lock_watch *watch, struct spinlock *lock, uint64_t site, uint32_t acquisitions)
{
    const uint32_t place = (uint32_t)__builtin_ctz(~watch->notes_used);
    if (TRACE_ON_LOCK())
        log_acquired(lock, acquisitions);
    if (place >= LOCK_NOTES) {
        lock_tables_add_sample(arch_trace_ring(), key_of(lock), acquisitions);
        return;
    }
    watch->notes_used |= 1u << place;
    watch->notes[place] =
        (struct lock_note){.since = arch_clock(), .site = site, .acquisitions = acquisitions};
    lock->note = place + 1;
}

void spin_note_taken_at(struct spinlock *lock, uint64_t site)
{
    struct lock_watch *watch = this_lock_watch();
    if (watch->left > watch->due)
        return;
    watch->due = watch->left - draw_distance(watch);
    const uint32_t acquisitions = draw_sample(watch, lock->class);
    if (acquisitions)
        make_note(watch, lock, site, acquisitions);
    settle(watch);
}

void spin_note_taken(struct spinlock *lock)
{
    spin_note_taken_at(lock, (uint64_t)__builtin_return_address(0));
}

void spin_note_released(struct spinlock *lock)
{
    struct lock_watch *watch = this_lock_watch();
    if (!lock->note)
        return;
    const uint64_t now = arch_clock();
    const struct lock_note note = watch->notes[lock->note - 1];
    watch->notes_used &= ~(1u << (lock->note - 1));
    lock->note = 0;
    settle(watch);
    lock_tables_add_hold(arch_trace_ring(), key_of(lock), note.site, note.acquisitions, now - note.since);
    trace_lock_held((uint64_t)lock, now - note.since, lock->class->number, 0);
}

void spin_count_wait(const struct spinlock *lock, uint64_t site, uint64_t ticks, uint64_t spins)
{
    lock_tables_add_wait(arch_trace_ring(), key_of(lock), site,
                         (struct lock_waited){.ticks = ticks, .spins = spins});
}
