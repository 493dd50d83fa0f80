/*
 * pthread_rwlock.c - read-write locks, and barriers.
 *
 * `readers` is the number of readers, or a lock word (LOCK_WORD_*) while a writer holds the lock. Waiting
 * writers take precedence over new readers, so a thread must not acquire a lock for reading twice. A thread
 * that must wait increments `waiters` before its last check (futex_wait); the last holder wakes all waiters.
 */
#include "../tarn/lock_trace.h"
#include "call.h"
#include "deadline.h"

#include <pthread.h>

#define READERS_MAX (LOCK_WORD_TIMED - 1)

/* Acquire pairs with the release in pthread_rwlock_unlock. */
static bool take_read(pthread_rwlock_t *lock)
{
    uint32_t readers = __atomic_load_n(&lock->readers, __ATOMIC_RELAXED);
    while (readers < READERS_MAX && !__atomic_load_n(&lock->writers_waiting, __ATOMIC_RELAXED))
        if (__atomic_compare_exchange_n(&lock->readers, &readers, readers + 1, true, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return true;
    return false;
}

static bool take_write(pthread_rwlock_t *lock)
{
    uint32_t none = 0;
    return __atomic_compare_exchange_n(&lock->readers, &none, LOCK_WORD_HELD | thread_id(), false,
                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* ---- waiting --------------------------------------------------------------------------------------- */

struct side {
    enum tarn_lock_class lock_class;
    bool (*take)(pthread_rwlock_t *);
};
static const struct side readers = {TARN_LOCK_READ, take_read}, writers = {TARN_LOCK_WRITE, take_write};

static struct lock_wait begin_wait(pthread_rwlock_t *lock, const struct side *side)
{
    uint32_t seen = __atomic_load_n(&lock->readers, __ATOMIC_RELAXED);
    struct lock_wait wait = begin_lock_wait(side->lock_class, lock, seen);
    if (wait.holder == LOCK_NOBODY)
        wait.readers = seen;
    return wait;
}

static int rwlock_wait(pthread_rwlock_t *lock, const struct side *side, uint64_t deadline)
{
    struct lock_wait wait = begin_wait(lock, side), sleep = wait;
    int error = 0;
    __atomic_fetch_add(&lock->waiters, 1, __ATOMIC_SEQ_CST);
    for (;; wait.spins++) {
        uint32_t seen = __atomic_load_n(&lock->readers, __ATOMIC_SEQ_CST);
        if (side->take(lock))
            break;
        sleep.holder = lock_word_holder(seen);
        /* Only waiting writers hold this reader up: let them run. */
        if (seen == 0)
            sys_thread_yield();
        else if (sleep_for_lock(&sleep, &lock->readers, seen, deadline) == -E_TIMEOUT) {
            error = ETIMEDOUT;
            break;
        }
    }
    __atomic_fetch_sub(&lock->waiters, 1, __ATOMIC_SEQ_CST);
    wait.slept = sleep.slept;
    if (!error)
        end_lock_wait(&wait);
    return error;
}

static int rwlock_wait_to_write(pthread_rwlock_t *lock, uint64_t deadline)
{
    __atomic_fetch_add(&lock->writers_waiting, 1, __ATOMIC_RELAXED);
    int error = rwlock_wait(lock, &writers, deadline);
    __atomic_fetch_sub(&lock->writers_waiting, 1, __ATOMIC_RELAXED);
    return error;
}

static int rwlock_read_until(pthread_rwlock_t *lock, uint64_t deadline)
{
    int error = take_read(lock) ? 0 : rwlock_wait(lock, &readers, deadline);
    return error || !is_to_be_noted(TARN_LOCK_READ) ? error : note_acquisition(TARN_LOCK_READ, lock);
}

static int rwlock_write_until(pthread_rwlock_t *lock, uint64_t deadline)
{
    int error = take_write(lock) ? 0 : rwlock_wait_to_write(lock, deadline);
    return error || !is_to_be_noted(TARN_LOCK_WRITE) ? error : note_acquisition(TARN_LOCK_WRITE, lock);
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    return rwlock_read_until(lock, TARN_FOREVER);
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    return rwlock_write_until(lock, TARN_FOREVER);
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    if (!take_read(lock))
        return count_failed_try(TARN_LOCK_READ, lock);
    return is_to_be_noted(TARN_LOCK_READ) ? note_tried(TARN_LOCK_READ, lock) : 0;
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    if (!take_write(lock))
        return count_failed_try(TARN_LOCK_WRITE, lock);
    return is_to_be_noted(TARN_LOCK_WRITE) ? note_tried(TARN_LOCK_WRITE, lock) : 0;
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    uint64_t deadline;
    int error = deadline_of(CLOCK_REALTIME, until, &deadline);
    return error ? error : rwlock_read_until(lock, deadline);
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    uint64_t deadline;
    int error = deadline_of(CLOCK_REALTIME, until, &deadline);
    return error ? error : rwlock_write_until(lock, deadline);
}

/* Sequentially consistent: the word is released before `waiters` is read (rwlock_wait). */
int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    uint32_t held = __atomic_load_n(&lock->readers, __ATOMIC_RELAXED), left = 0;
    if (__builtin_expect(held & LOCK_WORD_HELD ? (held & LOCK_WORD_TIMED) != 0 : times_read_locks(), 0))
        end_lock_timing(lock);
    if (held & LOCK_WORD_HELD)
        __atomic_store_n(&lock->readers, 0, __ATOMIC_SEQ_CST);
    else
        left = __atomic_sub_fetch(&lock->readers, 1, __ATOMIC_SEQ_CST);
    if (!left && __atomic_load_n(&lock->waiters, __ATOMIC_SEQ_CST))
        sys_futex_wake(&lock->readers, ~0u);
    return 0;
}

int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attr)
{
    *lock = (pthread_rwlock_t){0};
    return 0;
}

int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
    return lock->readers ? EBUSY : lock_set_name(lock, NULL);
}

/* ---- barriers -------------------------------------------------------------------------------------- */

int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attr, unsigned count)
{
    if (!count)
        return EINVAL;
    *barrier = (pthread_barrier_t){.count = count};
    return 0;
}

int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
    return barrier->arrived ? EBUSY : lock_set_name(barrier, NULL);
}

int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    lock_word_acquire(&barrier->lock, TARN_FOREVER);
    uint32_t generation = barrier->generation;
    bool is_last = ++barrier->arrived == barrier->count;
    if (is_last) {
        barrier->arrived = 0;
        /* Release pairs with the waiters' acquire below. */
        __atomic_store_n(&barrier->generation, generation + 1, __ATOMIC_RELEASE);
    }
    lock_word_release(&barrier->lock);
    if (is_last) {
        sys_futex_wake(&barrier->generation, ~0u);
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    struct lock_wait wait = begin_lock_wait(TARN_LOCK_BARRIER, barrier, 0);
    while (__atomic_load_n(&barrier->generation, __ATOMIC_ACQUIRE) == generation)
        sleep_for_lock(&wait, &barrier->generation, generation, TARN_FOREVER);
    end_lock_wait(&wait);
    return 0;
}
