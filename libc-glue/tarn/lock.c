/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libc-glue/tarn/lock.c - the one lock that everything else is made of, and newlib's locks.
 *
 * A lock is a word (LOCK_WORD_*): 0 when free, else who holds it, so that a debugger can tell, and whether
 * somebody may be waiting in futex_wait. Taking a free lock and releasing one that nobody waits for is one
 * atomic operation. A taker spins for a while first, since the holder often runs on another processor.
 *
 * In the trace: before each sleep lock_sleep, after a wait of either kind lock_contended, and lock_held when
 * such a lock is let go. While user mutexes are watched (trace_info.lock_watch) every so many-th acquisition
 * of a thread logs lock_acquired and lock_held, too. Since when a lock is held its holder remembers
 * (struct lock_note), and marks the word (LOCK_WORD_TIMED).
 */
#include "internal.h"

#include <arch/trace.h>
#include <stdlib.h>
#include <sys/lock.h>
#include <trace/lock.h>

#define SPINS_MAX 200
#define CHAIN_MAX 16

#define FREE   0u
#define NOBODY UINT32_MAX

static inline uint32_t held_by_me(void)
{
    return LOCK_WORD_HELD | arch_thread_block()->tid;
}

/* Acquire pairs with the release in lock_word_release: the holder's writes are seen by the next. */
static inline bool take_free(uint32_t *word, uint32_t as)
{
    uint32_t expected = FREE;
    return __atomic_compare_exchange_n(word, &expected, as, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* ---- in the trace ---------------------------------------------------------------------------------- */

/* From now on the caller, who holds it, knows since when. What it remembered longest goes if need be. */
static void begin_timing(struct pthread *thread, uint32_t *word)
{
    struct lock_note *note = &thread->lock_notes[thread->next_lock_note++ % LOCK_NOTES];
    for (unsigned i = 0; i < LOCK_NOTES; i++)
        if (thread->lock_notes[i].word == word)
            note = &thread->lock_notes[i];
    *note = (struct lock_note){word, arch_trace_clock()};
    /* Relaxed: only the holder itself looks for it. Who was about to sleep sees that the word has changed. */
    __atomic_fetch_or(word, LOCK_WORD_TIMED, __ATOMIC_RELAXED);
}

/* Before it is let go, so that the events of a lock come in order. */
static void end_timing(uint32_t *word)
{
    struct pthread *thread = current_thread();
    for (unsigned i = 0; i < LOCK_NOTES; i++) {
        struct lock_note *note = &thread->lock_notes[i];
        if (note->word != word)
            continue;
        trace_lock_held((uint64_t)word, arch_trace_clock() - note->since, TARN_LOCK_CLASS_USER, process_id());
        note->word = NULL;
    }
}

static void log_contended(uint32_t *word, uint32_t seen, uint64_t since, uint64_t spins)
{
    if (!TRACE_ON_LOCK())
        return;
    struct pthread *thread = current_thread();
    uint64_t waited = arch_trace_clock() - since, chain[CHAIN_MAX];
    uint32_t depth = arch_walk_stack(thread->stack_low, thread->stack_high, chain, CHAIN_MAX);
    bool was_held = seen & LOCK_WORD_HELD;
    trace_lock_contended((uint64_t)word, waited, spins, TARN_LOCK_CLASS_USER, process_id(),
                         was_held ? seen & LOCK_WORD_TID : NOBODY, was_held ? process_id() : NOBODY, NOBODY,
                         depth, chain);
    begin_timing(thread, word);
}

static inline uint32_t watched_every(void)
{
    return __atomic_load_n(&arch_trace_info()->lock_watch, __ATOMIC_RELAXED);
}

/* 0, as taking a lock ends. */
static __attribute__((noinline)) int note_acquired(uint32_t *word)
{
    struct pthread *thread = current_thread();
    if (!TRACE_ON_LOCK() || ++thread->locks_acquired < watched_every())
        return 0;
    uint64_t chain[CHAIN_MAX];
    uint32_t depth = arch_walk_stack(thread->stack_low, thread->stack_high, chain, CHAIN_MAX);
    trace_lock_acquired((uint64_t)word, TARN_LOCK_CLASS_USER, process_id(), thread->locks_acquired, depth,
                        chain);
    thread->locks_acquired = 0;
    begin_timing(thread, word);
    return 0;
}

static void log_sleep(uint32_t *word, uint32_t held)
{
    trace_lock_sleep((uint64_t)word, held & LOCK_WORD_TID, process_id(), TARN_LOCK_CLASS_USER, process_id());
}

/* ---- the word --------------------------------------------------------------------------------------- */

static bool spin_for_free(uint32_t *word, uint64_t *spins)
{
    for (; *spins < SPINS_MAX; ++*spins) {
        if (__atomic_load_n(word, __ATOMIC_RELAXED) == FREE && take_free(word, held_by_me()))
            return true;
        arch_spin_pause();
    }
    return false;
}

/* Marks a lock that somebody holds as wanted; what the word is then. FREE: nobody held it, and now it is
 * ours, as wanted, since others may sleep. Acquire pairs with the release in lock_word_release. */
static uint32_t want(uint32_t *word)
{
    uint32_t seen = __atomic_load_n(word, __ATOMIC_RELAXED), next;
    do
        next = (seen == FREE ? held_by_me() : seen) | LOCK_WORD_WANTED;
    while (next != seen &&
           !__atomic_compare_exchange_n(word, &seen, next, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
    return seen == FREE ? FREE : next;
}

/* The word says that it is wanted before anyone sleeps. */
static int sleep_for_free(uint32_t *word, uint64_t deadline)
{
    uint32_t held;
    while ((held = want(word)) != FREE) {
        if (TRACE_ON_LOCK())
            log_sleep(word, held);
        int64_t result = sys_futex_wait(word, held, deadline);
        if (result == -E_TIMEOUT || (result == -E_CANCELED && deadline != TARN_FOREVER))
            return (int)result;
    }
    return 0;
}

static __attribute__((noinline)) int acquire_contended(uint32_t *word, uint64_t deadline)
{
    uint64_t since = arch_trace_clock(), spins = 0;
    uint32_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
    int result = spin_for_free(word, &spins) ? 0 : sleep_for_free(word, deadline);
    if (result < 0)
        return result;
    log_contended(word, seen, since, spins);
    return watched_every() ? note_acquired(word) : 0;
}

/* What is rare is called last, so that the way through needs no stack. */
int lock_word_acquire(uint32_t *word, uint64_t deadline)
{
    if (!take_free(word, held_by_me()))
        return acquire_contended(word, deadline);
    return __builtin_expect(watched_every() != 0, 0) ? note_acquired(word) : 0;
}

bool lock_word_try_acquire(uint32_t *word)
{
    if (!take_free(word, held_by_me()))
        return false;
    return __builtin_expect(watched_every() == 0, 1) || note_acquired(word) == 0;
}

static __attribute__((noinline)) void release_timed(uint32_t *word)
{
    end_timing(word);
    if (__atomic_exchange_n(word, FREE, __ATOMIC_RELEASE) & LOCK_WORD_WANTED)
        sys_futex_wake(word, 1);
}

void lock_word_release(uint32_t *word)
{
    if (__builtin_expect(__atomic_load_n(word, __ATOMIC_RELAXED) & LOCK_WORD_TIMED, 0))
        return release_timed(word);
    if (__atomic_exchange_n(word, FREE, __ATOMIC_RELEASE) & LOCK_WORD_WANTED)
        sys_futex_wake(word, 1);
}

void lock_acquire(struct lock *lock)
{
    lock_word_acquire(&lock->state, TARN_FOREVER);
}

bool lock_try_acquire(struct lock *lock)
{
    return lock_word_try_acquire(&lock->state);
}

void lock_release(struct lock *lock)
{
    lock_word_release(&lock->state);
}

/* ---- newlib's locks (sys/lock.h) ------------------------------------------------------------------ */

struct __lock {
    uint32_t word;
    uint32_t owner; /* tid of who holds a recursive lock; read by others only to compare with their own */
    uint32_t depth; /* beyond once; written by the owner */
};

struct __lock __lock___sfp_recursive_mutex, __lock___atexit_recursive_mutex, __lock___at_quick_exit_mutex,
    __lock___malloc_recursive_mutex, __lock___env_recursive_mutex, __lock___tz_mutex, __lock___dd_hash_mutex,
    __lock___arc4random_mutex;

void __retarget_lock_init(_LOCK_T *lock)
{
    *lock = calloc(1, sizeof(**lock));
    if (!*lock)
        panic("no memory for a lock");
}

void __retarget_lock_init_recursive(_LOCK_T *lock)
{
    __retarget_lock_init(lock);
}

void __retarget_lock_close(_LOCK_T lock)
{
    free(lock);
}

void __retarget_lock_close_recursive(_LOCK_T lock)
{
    free(lock);
}

void __retarget_lock_acquire(_LOCK_T lock)
{
    lock_word_acquire(&lock->word, TARN_FOREVER);
}

int __retarget_lock_try_acquire(_LOCK_T lock)
{
    return lock_word_try_acquire(&lock->word);
}

void __retarget_lock_release(_LOCK_T lock)
{
    lock_word_release(&lock->word);
}

/* Relaxed suffices for `owner`: only the owner itself can find its own tid there. */
static bool reenter(struct __lock *lock)
{
    if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) != thread_id())
        return false;
    lock->depth++;
    return true;
}

void __retarget_lock_acquire_recursive(_LOCK_T lock)
{
    if (reenter(lock))
        return;
    lock_word_acquire(&lock->word, TARN_FOREVER);
    __atomic_store_n(&lock->owner, thread_id(), __ATOMIC_RELAXED);
}

int __retarget_lock_try_acquire_recursive(_LOCK_T lock)
{
    if (reenter(lock))
        return 1;
    if (!lock_word_try_acquire(&lock->word))
        return 0;
    __atomic_store_n(&lock->owner, thread_id(), __ATOMIC_RELAXED);
    return 1;
}

void __retarget_lock_release_recursive(_LOCK_T lock)
{
    if (lock->depth) {
        lock->depth--;
        return;
    }
    __atomic_store_n(&lock->owner, 0, __ATOMIC_RELAXED);
    lock_word_release(&lock->word);
}
