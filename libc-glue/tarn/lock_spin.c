/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_spin.c - measures whether to spin for mutexes. Interface and policy: lock_spin.h. */
#include "lock_spin.h"
#include "internal.h"
#include "lock_trace.h"
#include "spin_decision.h"

/* What the process remembers of a lock. */
static struct spin_place {
    uint64_t lock;
    uint64_t woken_at; /* ticks: the last wake-up; 0: what it woke has run */
    uint32_t waits, wakes;
    bool sleeps; /* the last decision */
} spin_places[1u << SPIN_PLACES_BITS];

static struct trace_places rows; /* of this process */

static struct spin_place *find_place(const uint32_t *word)
{
    const uint64_t lock = (uint64_t)(uintptr_t)word;
    struct spin_place *place = &spin_places[(uint32_t)(lock >> 2) * 0x9e3779b1u >> (32 - SPIN_PLACES_BITS)];
    if (__atomic_load_n(&place->lock, __ATOMIC_RELAXED) != lock) {
        __atomic_store_n(&place->sleeps, false, __ATOMIC_RELAXED);
        __atomic_store_n(&place->lock, lock, __ATOMIC_RELAXED);
    }
    return place;
}

static struct trace_lock_spins_row *find_row(const uint32_t *word)
{
    char *ring = arch_trace_ring();
    const uint64_t lock = (uint64_t)(uintptr_t)word;
    const uint32_t pid = process_id();
    struct trace_lock_spins_row *row = trace_lock_spins_row_known(ring, lock, pid, &rows);
    return row ? row : trace_lock_spins_row_again(ring, lock, pid, &rows);
}

static bool is_turn(uint32_t *count)
{
    return __atomic_fetch_add(count, 1, __ATOMIC_RELAXED) % SPIN_EVERY == 0;
}

static void decide(struct spin_place *place, struct trace_lock_spins_row *row)
{
    const bool sleeps = decide_to_sleep(row->hold_times, row->wake_times);
    __atomic_store_n(&place->sleeps, sleeps, __ATOMIC_RELAXED);
    trace_row_begin(&row->begun);
    trace_row_add(&row->decisions, 1);
    if (sleeps)
        trace_row_add(&row->sleeps, 1);
    trace_row_end(&row->ended);
}

struct spin_choice begin_spin_wait(const uint32_t *word)
{
    struct spin_place *place = find_place(word);
    struct trace_lock_spins_row *row = is_turn(&place->waits) ? find_row(word) : NULL;
    if (row)
        decide(place, row);
    const bool is_alone = __atomic_load_n(&arch_trace_info()->cpu_count, __ATOMIC_RELAXED) == 1;
    return (struct spin_choice){.sleeps = is_alone || __atomic_load_n(&place->sleeps, __ATOMIC_RELAXED),
                                .is_looked_at = row != NULL};
}

/* ---- the measurement ------------------------------------------------------------------------------- */

void end_spin_wait(uint32_t *word, bool slept)
{
    struct trace_lock_spins_row *row = find_row(word);
    if (!row)
        return;
    trace_row_begin(&row->begun);
    trace_row_add(&row->waits, 1);
    if (!slept)
        trace_row_add(&row->spun, 1);
    trace_row_end(&row->ended);
    time_contended_hold(word);
}

void count_spin_hold(const uint32_t *word, uint64_t held)
{
    struct trace_lock_spins_row *row = find_row(word);
    if (!row)
        return;
    trace_row_begin(&row->begun);
    trace_row_add(&row->holds, 1);
    trace_row_add(&row->held, held);
    trace_row_bucket_as(row->hold_times, held, TRACE_ROW_OF_MANY);
    trace_row_end(&row->ended);
}

void note_spin_wake(const uint32_t *word)
{
    __atomic_store_n(&find_place(word)->woken_at, arch_trace_clock(), __ATOMIC_RELAXED);
}

void count_spin_wake(const uint32_t *word)
{
    struct spin_place *place = find_place(word);
    const uint64_t woken_at = __atomic_exchange_n(&place->woken_at, 0, __ATOMIC_RELAXED);
    struct trace_lock_spins_row *row = woken_at && is_turn(&place->wakes) ? find_row(word) : NULL;
    if (!row)
        return;
    const uint64_t delay = arch_trace_clock() - woken_at;
    trace_row_begin(&row->begun);
    trace_row_add(&row->wakes, 1);
    trace_row_add(&row->wake, delay);
    trace_row_bucket_as(row->wake_times, delay, TRACE_ROW_OF_MANY);
    trace_row_end(&row->ended);
}
