/*
 * lock.c - the lock on which all others are built, and newlib's locks.
 *
 * A lock is a word (LOCK_WORD_*): 0 when free, otherwise the holder's tid, which debuggers show, and a flag
 * that threads may be waiting in futex_wait. An uncontended acquisition or release is one atomic operation. A
 * contended acquisition spins for a while before it sleeps, because the holder is often running on another
 * CPU.
 *
 * For the events see lock_trace.h.
 */
#include "internal.h"
#include "lock_trace.h"

#include <stdlib.h>
#include <sys/lock.h>

#define SPINS_MAX 200

#define FREE 0u

static inline uint32_t held_by_me(void)
{
    return LOCK_WORD_HELD | arch_thread_block()->tid;
}

/* Acquire pairs with the release in lock_word_release: it makes the previous holder's writes visible. */
static inline bool take_free(uint32_t *word, uint32_t as)
{
    uint32_t expected = FREE;
    return __atomic_compare_exchange_n(word, &expected, as, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* ---- the lock word --------------------------------------------------------------------------------- */

static bool spin_for_free(uint32_t *word, uint64_t *spins)
{
    for (; *spins < SPINS_MAX; ++*spins) {
        if (__atomic_load_n(word, __ATOMIC_RELAXED) == FREE && take_free(word, held_by_me()))
            return true;
        arch_spin_pause();
    }
    return false;
}

/* Sets the waiters flag of a held lock and returns the new word. If the lock
 * turned out to be free, takes it, also with the flag because others may sleep,
 * and returns FREE. Acquire pairs with the release in lock_word_release. */
static uint32_t want(uint32_t *word)
{
    uint32_t seen = __atomic_load_n(word, __ATOMIC_RELAXED), next;
    do
        next = (seen == FREE ? held_by_me() : seen) | LOCK_WORD_WANTED;
    while (next != seen &&
           !__atomic_compare_exchange_n(word, &seen, next, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
    return seen == FREE ? FREE : next;
}

/* Sets the waiters flag before each sleep. */
static int sleep_for_free(uint32_t *word, struct lock_wait *wait, uint64_t deadline)
{
    uint32_t held;
    while ((held = want(word)) != FREE) {
        wait->holder = lock_word_holder(held);
        int64_t result = sleep_for_lock(wait, word, held, deadline);
        if (result == -E_TIMEOUT || (result == -E_CANCELED && deadline != TARN_FOREVER))
            return (int)result;
    }
    return 0;
}

/* A separate function, so that callers that tail-call it need no stack frame. */
static __attribute__((noinline)) int note_taken(uint32_t *word)
{
    return note_acquisition(TARN_LOCK_MUTEX, word);
}

static __attribute__((noinline)) int acquire_contended(uint32_t *word, uint64_t deadline)
{
    struct lock_wait wait = begin_lock_wait(TARN_LOCK_MUTEX, word, __atomic_load_n(word, __ATOMIC_RELAXED));
    uint32_t first_holder = wait.holder;
    int result = spin_for_free(word, &wait.spins) ? 0 : sleep_for_free(word, &wait, deadline);
    if (result < 0)
        return result;
    wait.holder = first_holder;
    end_lock_wait(&wait);
    if (is_to_be_noted(TARN_LOCK_MUTEX))
        note_taken(word);
    return 0;
}

/* Rare cases are tail calls, so that the fast path needs no stack frame. */
int lock_word_acquire(uint32_t *word, uint64_t deadline)
{
    if (!take_free(word, held_by_me()))
        return acquire_contended(word, deadline);
    return is_to_be_noted(TARN_LOCK_MUTEX) ? note_taken(word) : 0;
}

static __attribute__((noinline)) bool note_word_tried(uint32_t *word)
{
    return note_tried(TARN_LOCK_MUTEX, word) == 0;
}

static __attribute__((noinline)) bool refuse_word(uint32_t *word)
{
    return count_failed_try(TARN_LOCK_MUTEX, word) == 0;
}

bool lock_word_try_acquire(uint32_t *word)
{
    if (!take_free(word, held_by_me()))
        return refuse_word(word);
    return !is_to_be_noted(TARN_LOCK_MUTEX) || note_word_tried(word);
}

static void free_word(uint32_t *word)
{
    if (__atomic_exchange_n(word, FREE, __ATOMIC_RELEASE) & LOCK_WORD_WANTED)
        sys_futex_wake(word, 1);
}

static __attribute__((noinline)) void release_timed(uint32_t *word)
{
    end_lock_timing(word);
    free_word(word);
}

void lock_word_release(uint32_t *word)
{
    if (__builtin_expect(__atomic_load_n(word, __ATOMIC_RELAXED) & LOCK_WORD_TIMED, 0))
        return release_timed(word);
    free_word(word);
}

void lock_acquire(struct lock *lock)
{
    lock_word_acquire(&lock->state, TARN_FOREVER);
}

void lock_release(struct lock *lock)
{
    lock_word_release(&lock->state);
}

/* ---- newlib's locks (sys/lock.h) ------------------------------------------------------------------- */

struct __lock {
    uint32_t word;
    uint32_t owner; /* tid of a recursive lock's holder; other threads only compare it with their own */
    uint32_t depth; /* acquisitions beyond the first; written by the owner */
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

void __retarget_lock_close(_LOCK_T lock)
{
    free(lock);
}

void __retarget_lock_init_recursive(_LOCK_T *lock) __attribute__((alias("__retarget_lock_init")));
void __retarget_lock_close_recursive(_LOCK_T lock) __attribute__((alias("__retarget_lock_close")));

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

/* Relaxed is sufficient for `owner`: only the owner can find its own tid there. */
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
