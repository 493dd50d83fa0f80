/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_trace.c - events of locks; see lock_trace.h.
 *
 * The holder records since when it holds a lock (struct lock_note). A timed lock word has the flag
 * LOCK_WORD_TIMED. Timed read-write locks held for reading are counted per thread (read_notes).
 */
#include "lock_trace.h"
#include "internal.h"

#include <trace/lock.h>

#define CHAIN_MAX 16

/* ---- hold times ------------------------------------------------------------------------------------ */

static void forget_note(struct pthread *thread, struct lock_note *note)
{
    if (note->lock && note->lock_class == TARN_LOCK_READ)
        thread->read_notes--;
    note->lock = NULL;
}

static struct lock_note *find_note(struct pthread *thread, const void *lock)
{
    for (unsigned i = 0; i < LOCK_NOTES; i++)
        if (thread->lock_notes[i].lock == lock)
            return &thread->lock_notes[i];
    return NULL;
}

/* Starts timing a lock that the caller holds. Replaces the oldest note if all are in use. */
static void begin_timing(struct pthread *thread, enum tarn_lock_class lock_class, void *lock)
{
    struct lock_note *note = find_note(thread, lock);
    if (!note)
        note = &thread->lock_notes[thread->next_lock_note++ % LOCK_NOTES];
    forget_note(thread, note);
    *note = (struct lock_note){lock, arch_trace_clock(), lock_class};
    if (lock_class == TARN_LOCK_READ)
        thread->read_notes++;
    else
        /* Relaxed: only the holder reads the flag. A thread about to sleep notices that the word changed. */
        __atomic_fetch_or((uint32_t *)lock, LOCK_WORD_TIMED, __ATOMIC_RELAXED);
}

void end_lock_timing(const void *lock)
{
    struct pthread *thread = current_thread();
    struct lock_note *note = find_note(thread, lock);
    if (!note)
        return;
    trace_lock_held((uint64_t)lock, arch_trace_clock() - note->since, note->lock_class, process_id());
    forget_note(thread, note);
}

bool times_read_locks(void)
{
    return current_thread()->read_notes != 0;
}

static bool is_held_by_taker(enum tarn_lock_class lock_class)
{
    return lock_class <= TARN_LOCK_WRITE;
}

/* ---- waits ----------------------------------------------------------------------------------------- */

struct lock_wait begin_lock_wait(enum tarn_lock_class lock_class, void *lock, uint32_t word)
{
    return (struct lock_wait){.lock = lock,
                              .lock_class = lock_class,
                              .holder = lock_word_holder(word),
                              .since = arch_trace_clock()};
}

int sleep_for_lock(const struct lock_wait *wait, const uint32_t *word, uint32_t value, uint64_t deadline)
{
    if (TRACE_ON_LOCK()) {
        log_lock_name(wait->lock);
        trace_lock_sleep((uint64_t)wait->lock, wait->holder,
                         wait->holder != LOCK_NOBODY ? process_id() : LOCK_NOBODY, wait->lock_class,
                         process_id());
    }
    return (int)sys_futex_wait(word, value, deadline);
}

void end_lock_wait(const struct lock_wait *wait)
{
    if (!TRACE_ON_LOCK())
        return;
    struct pthread *thread = current_thread();
    uint64_t waited = arch_trace_clock() - wait->since, chain[CHAIN_MAX];
    uint32_t depth = arch_walk_stack(thread->stack_low, thread->stack_high, chain, CHAIN_MAX);
    log_lock_name(wait->lock);
    trace_lock_contended((uint64_t)wait->lock, waited, wait->spins, wait->lock_class, process_id(),
                         wait->holder, wait->holder != LOCK_NOBODY ? process_id() : LOCK_NOBODY, LOCK_NOBODY,
                         wait->readers, depth, chain);
    if (is_held_by_taker(wait->lock_class))
        begin_timing(thread, wait->lock_class, wait->lock);
}

/* ---- acquisitions ---------------------------------------------------------------------------------- */

int log_acquisition(enum tarn_lock_class lock_class, void *lock)
{
    struct pthread *thread = current_thread();
    uint32_t *taken = &thread->locks_taken[lock_class];
    if (!TRACE_ON_LOCK() || ++*taken < lock_sample_interval(lock_class))
        return 0;
    uint64_t chain[CHAIN_MAX];
    uint32_t depth = arch_walk_stack(thread->stack_low, thread->stack_high, chain, CHAIN_MAX);
    log_lock_name(lock);
    trace_lock_acquired((uint64_t)lock, lock_class, process_id(), *taken, depth, chain);
    *taken = 0;
    if (is_held_by_taker(lock_class))
        begin_timing(thread, lock_class, lock);
    return 0;
}
