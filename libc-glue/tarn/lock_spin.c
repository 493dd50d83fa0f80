/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_spin.c - measures whether to spin for mutexes. Interface and policy: lock_spin.h. */
#include "lock_spin.h"
#include "internal.h"
#include "lock_trace.h"
#include "spin_decision.h"

/* What the process remembers of a lock. */
static struct spin_place {
    uint64_t lock;
    uint64_t woken_at;   /* ticks: the last wake-up that is timed; 0: what it woke has run */
    uint32_t wakes_left; /* wake-ups before the next one is timed */
    uint32_t every;      /* the distance between two measurements */
    bool sleeps;         /* the last decision */
} spin_places[1u << SPIN_PLACES_BITS];
bool all_locks_spin;

static struct trace_places rows; /* of this process */

/* Another lock's place: what was decided is forgotten, and the thread's next wait is measured. */
static __attribute__((noinline)) void take_place(struct spin_place *place, uint64_t lock)
{
    __atomic_store_n(&place->sleeps, false, __ATOMIC_RELAXED);
    __atomic_store_n(&place->every, SPIN_EVERY_MIN, __ATOMIC_RELAXED);
    __atomic_store_n(&place->wakes_left, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&place->lock, lock, __ATOMIC_RELAXED);
    current_thread()->spin_waits_left = 0;
}

static struct spin_place *find_place(const uint32_t *word)
{
    const uint64_t lock = (uint64_t)(uintptr_t)word;
    struct spin_place *place = &spin_places[(uint32_t)(lock >> 2) * 0x9e3779b1u >> (32 - SPIN_PLACES_BITS)];
    if (__builtin_expect(__atomic_load_n(&place->lock, __ATOMIC_RELAXED) != lock, 0))
        take_place(place, lock);
    return place;
}

/* All rows of the process are in the tables of one CPU, that of its first measurement: a lock has one row,
 * which all CPUs change. */
static struct trace_lock_spins_row *find_row(const uint32_t *word)
{
    static char *home;
    char *ring = __atomic_load_n(&home, __ATOMIC_RELAXED);
    if (!ring)
        __atomic_store_n(&home, ring = arch_trace_ring(), __ATOMIC_RELAXED);
    const uint64_t lock = (uint64_t)(uintptr_t)word;
    const uint32_t pid = process_id();
    struct trace_lock_spins_row *row = trace_lock_spins_row_known(ring, lock, pid, &rows);
    return row ? row : trace_lock_spins_row_again(ring, lock, pid, &rows);
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

/* The smallest distance of all locks; and whether no lock's waiters sleep. */
static uint32_t look_at_places(void)
{
    uint32_t every = SPIN_EVERY_MAX;
    bool all_spin = __atomic_load_n(&arch_trace_info()->cpu_count, __ATOMIC_RELAXED) > 1;
    for (unsigned i = 0; i < 1u << SPIN_PLACES_BITS; i++) {
        const struct spin_place *place = &spin_places[i];
        if (!__atomic_load_n(&place->lock, __ATOMIC_RELAXED))
            continue;
        const uint32_t its = __atomic_load_n(&place->every, __ATOMIC_RELAXED);
        every = its < every ? its : every;
        all_spin &= !__atomic_load_n(&place->sleeps, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&all_locks_spin, all_spin, __ATOMIC_RELAXED);
    return every;
}

/* A random distance, or a thread that takes its locks in turn might always measure the same one. */
static void place_measurement(struct pthread *thread)
{
    const uint32_t every = look_at_places();
    thread->spin_waits_left = every / 2 + draw_below(thread, every);
}

struct spin_choice choose_spin_wait(const uint32_t *word)
{
    struct pthread *thread = current_thread();
    struct spin_place *place = find_place(word);
    struct trace_lock_spins_row *row = NULL;
    if (thread->spin_waits_left) {
        thread->spin_waits_left--;
    } else {
        row = find_row(word);
        if (row)
            decide(place, row);
        place_measurement(thread);
    }
    const bool is_alone = __atomic_load_n(&arch_trace_info()->cpu_count, __ATOMIC_RELAXED) == 1;
    return (struct spin_choice){.sleeps = is_alone || __atomic_load_n(&place->sleeps, __ATOMIC_RELAXED),
                                .is_measured = row != NULL};
}

/* ---- the measurement ------------------------------------------------------------------------------- */

static void choose_distance(struct spin_place *place, const struct trace_lock_spins_row *row, uint64_t held)
{
    const bool is_long = is_long_hold((int)trace_table_bucket(held), find_median(row->wake_times));
    const uint32_t every = choose_spin_distance(__atomic_load_n(&place->every, __ATOMIC_RELAXED),
                                                is_long == __atomic_load_n(&place->sleeps, __ATOMIC_RELAXED));
    __atomic_store_n(&place->every, every, __ATOMIC_RELAXED);
}

void count_spin_hold(const uint32_t *word, struct spin_hold hold)
{
    struct trace_lock_spins_row *row = find_row(word);
    if (!row)
        return;
    trace_row_begin(&row->begun);
    trace_row_add(&row->waits, 1);
    if (hold.wait == SPIN_WAIT_SPUN)
        trace_row_add(&row->spun, 1);
    trace_row_add(&row->holds, 1);
    trace_row_add(&row->held, hold.held);
    trace_row_bucket_as(row->hold_times, hold.held, TRACE_ROW_OF_MANY);
    trace_row_end(&row->ended);
    choose_distance(find_place(word), row, hold.held);
}

bool begin_spin_wake(const uint32_t *word)
{
    struct spin_place *place = find_place(word);
    const uint32_t left = __atomic_load_n(&place->wakes_left, __ATOMIC_RELAXED);
    const uint32_t next = left ? left : __atomic_load_n(&place->every, __ATOMIC_RELAXED);
    __atomic_store_n(&place->wakes_left, next - 1, __ATOMIC_RELAXED);
    if (left)
        return false;
    __atomic_store_n(&place->woken_at, arch_trace_clock(), __ATOMIC_RELAXED);
    return true;
}

void cancel_spin_wake(const uint32_t *word)
{
    struct spin_place *place = find_place(word);
    __atomic_store_n(&place->woken_at, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&place->wakes_left, 0, __ATOMIC_RELAXED);
}

void count_spin_wake(const uint32_t *word)
{
    struct spin_place *place = find_place(word);
    if (!__atomic_load_n(&place->woken_at, __ATOMIC_RELAXED))
        return;
    const uint64_t now = arch_trace_clock(),
                   woken_at = __atomic_exchange_n(&place->woken_at, 0, __ATOMIC_RELAXED);
    struct trace_lock_spins_row *row = woken_at ? find_row(word) : NULL;
    if (!row)
        return;
    const uint64_t delay = now - woken_at;
    trace_row_begin(&row->begun);
    trace_row_add(&row->wakes, 1);
    trace_row_add(&row->wake, delay);
    trace_row_bucket_as(row->wake_times, delay, TRACE_ROW_OF_MANY);
    trace_row_end(&row->ended);
}
