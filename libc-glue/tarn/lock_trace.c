/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_trace.c - events and tables of locks; see lock_trace.h.
 *
 * The holder records since when it holds a lock (struct lock_note). A timed lock word has the flag
 * LOCK_WORD_TIMED. Timed read-write locks held for reading are counted per thread (read_notes). A sampled
 * acquisition is counted when its lock is released, or when another needs its note.
 */
#include "lock_trace.h"
#include "internal.h"

#include <trace/event/lock_tables.h>
#include <trace/lock.h>

#define CHAIN_MAX  16
#define SITE_DEPTH 6 /* calls inside of locks */

static struct lock_key key_of(enum tarn_lock_class lock_class, const void *lock)
{
    return (struct lock_key){.lock = (uint64_t)lock, .lock_class = lock_class, .pid = process_id()};
}

/* The functions that take locks lie together (user.ld). */
extern const char lock_code_first[], lock_code_last[];

/* The first return address outside of them. */
static uint64_t site_of(const uint64_t *chain, uint32_t depth)
{
    uint32_t i = 0;
    while (i + 1 < depth &&
           chain[i] - (uint64_t)lock_code_first <= (uint64_t)lock_code_last - (uint64_t)lock_code_first)
        i++;
    return depth ? chain[i] : 0;
}

/* ---- hold times ------------------------------------------------------------------------------------ */

static void forget_note(struct pthread *thread, struct lock_note *note)
{
    if (note->lock && note->lock_class == TARN_LOCK_READ)
        thread->read_notes--;
    note->lock = NULL;
}

/* Another lock needs the note: the acquisition counts, its hold time is unknown. */
static void drop_note(struct pthread *thread, struct lock_note *note)
{
    if (note->lock && note->acquisitions)
        lock_tables_add_sample(arch_trace_ring(), key_of(note->lock_class, note->lock), note->acquisitions);
    forget_note(thread, note);
}

static struct lock_note *find_note(struct pthread *thread, const void *lock)
{
    for (unsigned i = 0; i < LOCK_NOTES; i++)
        if (thread->lock_notes[i].lock == lock)
            return &thread->lock_notes[i];
    return NULL;
}

/* Starts timing a lock that the caller holds. Replaces the oldest note if all are in use. */
static void begin_timing(struct pthread *thread, enum tarn_lock_class lock_class, void *lock, uint64_t site,
                         uint32_t acquisitions)
{
    struct lock_note *note = find_note(thread, lock);
    if (!note)
        note = &thread->lock_notes[thread->next_lock_note++ % LOCK_NOTES];
    drop_note(thread, note);
    *note = (struct lock_note){lock, arch_trace_clock(), site, lock_class, acquisitions};
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
    const uint64_t held = arch_trace_clock() - note->since;
    trace_lock_held((uint64_t)lock, held, note->lock_class, process_id());
    if (note->acquisitions)
        lock_tables_add_hold(arch_trace_ring(), key_of(note->lock_class, lock), note->site,
                             note->acquisitions, held);
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

int sleep_for_lock(struct lock_wait *wait, const uint32_t *word, uint32_t value, uint64_t deadline)
{
    if (TRACE_ON_LOCK()) {
        log_lock_name(wait->lock);
        trace_lock_sleep((uint64_t)wait->lock, wait->holder,
                         wait->holder != LOCK_NOBODY ? process_id() : LOCK_NOBODY, wait->lock_class,
                         process_id());
    }
    const int result = (int)sys_futex_wait(word, value, deadline);
    wait->slept |= result != -E_AGAIN; /* the word has the value no more */
    return result;
}

void end_lock_wait(const struct lock_wait *wait)
{
    const bool is_sampled = lock_sample_interval(wait->lock_class) != 0;
    if (!TRACE_ON_LOCK() && !is_sampled)
        return;
    struct pthread *thread = current_thread();
    uint64_t waited = arch_trace_clock() - wait->since, chain[CHAIN_MAX];
    uint32_t depth = arch_walk_stack(thread->stack_low, thread->stack_high, chain, CHAIN_MAX);
    const uint64_t site = site_of(chain, depth);
    if (is_sampled)
        lock_tables_add_wait(
            arch_trace_ring(), key_of(wait->lock_class, wait->lock), site,
            (struct lock_waited){.ticks = waited, .spins = wait->spins, .slept = wait->slept});
    if (!TRACE_ON_LOCK())
        return;
    log_lock_name(wait->lock);
    trace_lock_contended((uint64_t)wait->lock, waited, wait->spins, wait->lock_class, process_id(),
                         wait->holder, wait->holder != LOCK_NOBODY ? process_id() : LOCK_NOBODY, LOCK_NOBODY,
                         wait->readers, depth, chain);
    if (is_held_by_taker(wait->lock_class))
        begin_timing(thread, wait->lock_class, wait->lock, site, 0);
}

/* ---- acquisitions ---------------------------------------------------------------------------------- */

/* A random number below `bound`. The upper bits of such a sequence are the good ones. */
static uint32_t draw(struct pthread *thread, uint32_t bound)
{
    if (!thread->random)
        thread->random = (uint32_t)arch_trace_clock() ^ thread_id() * 0x9e3779b9u;
    thread->random = thread->random * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)thread->random * bound >> 32);
}

_Thread_local struct lock_turn lock_turns[TARN_LOCK_CLASSES_USER];

/* The next sample is `rest` and a random number of acquisitions away. */
static void place_sample(struct pthread *thread, struct lock_turn *turn, uint32_t rest)
{
    const uint32_t place = draw(thread, turn->every);
    turn->left = rest + 1 + place;
    turn->rest = turn->every - 1 - place;
}

/* After is_to_be_noted(). Returns how many acquisitions this one stands for, or 0: it is not sampled. */
static uint32_t end_turn(struct pthread *thread, enum tarn_lock_class lock_class)
{
    struct lock_turn *turn = &lock_turns[lock_class];
    const uint32_t every = lock_sample_interval(lock_class);
    if (turn->every != every) {
        turn->every = every;
        place_sample(thread, turn, 0);
        if (--turn->left)
            return 0;
    }
    place_sample(thread, turn, turn->rest);
    return turn->every;
}

static __attribute__((noinline)) void note_sample(struct pthread *thread, enum tarn_lock_class lock_class,
                                                  void *lock, uint32_t acquisitions)
{
    uint64_t chain[CHAIN_MAX];
    const bool is_logged = TRACE_ON_LOCK();
    uint32_t depth =
        arch_walk_stack(thread->stack_low, thread->stack_high, chain, is_logged ? CHAIN_MAX : SITE_DEPTH);
    if (is_logged) {
        log_lock_name(lock);
        trace_lock_acquired((uint64_t)lock, lock_class, process_id(), acquisitions, depth, chain);
    }
    if (is_held_by_taker(lock_class))
        begin_timing(thread, lock_class, lock, site_of(chain, depth), acquisitions);
    else
        lock_tables_add_sample(arch_trace_ring(), key_of(lock_class, lock), acquisitions);
}

int note_acquisition(enum tarn_lock_class lock_class, void *lock)
{
    struct pthread *thread = current_thread();
    const uint32_t acquisitions = end_turn(thread, lock_class);
    if (acquisitions)
        note_sample(thread, lock_class, lock, acquisitions);
    return 0;
}
