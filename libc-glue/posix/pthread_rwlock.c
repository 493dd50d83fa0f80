/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libc-glue/posix/pthread_rwlock.c - locks for many readers or one writer, and barriers.
 *
 * `readers` counts readers, WRITER while somebody writes. New readers let waiting writers go first, so a
 * reader must not take the lock a second time. Whoever has to wait counts itself in `waiters` before it looks
 * a last time (futex_wait), and the last holder wakes them all if there are any.
 */
#include "call.h"
#include "deadline.h"

#include <pthread.h>

#define WRITER (~0u)

/* Acquire pairs with the release in pthread_rwlock_unlock. */
static bool take_read(pthread_rwlock_t *lock)
{
    uint32_t readers = __atomic_load_n(&lock->readers, __ATOMIC_RELAXED);
    while (readers < WRITER - 1 && !__atomic_load_n(&lock->writers_waiting, __ATOMIC_RELAXED))
        if (__atomic_compare_exchange_n(&lock->readers, &readers, readers + 1, true, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return true;
    return false;
}

static bool take_write(pthread_rwlock_t *lock)
{
    uint32_t none = 0;
    return __atomic_compare_exchange_n(&lock->readers, &none, WRITER, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static int wait_for(pthread_rwlock_t *lock, bool (*take)(pthread_rwlock_t *), uint64_t deadline)
{
    int error = 0;
    __atomic_fetch_add(&lock->waiters, 1, __ATOMIC_SEQ_CST);
    for (;;) {
        uint32_t seen = __atomic_load_n(&lock->readers, __ATOMIC_SEQ_CST);
        if (take(lock))
            break;
        /* A reader held up only by waiting writers finds the word free: it lets them run. */
        if (seen == 0)
            sys_thread_yield();
        else if (sys_futex_wait(&lock->readers, seen, deadline) == -E_TIMEOUT) {
            error = ETIMEDOUT;
            break;
        }
    }
    __atomic_fetch_sub(&lock->waiters, 1, __ATOMIC_SEQ_CST);
    return error;
}

static int wait_to_write(pthread_rwlock_t *lock, uint64_t deadline)
{
    __atomic_fetch_add(&lock->writers_waiting, 1, __ATOMIC_RELAXED);
    int error = wait_for(lock, take_write, deadline);
    __atomic_fetch_sub(&lock->writers_waiting, 1, __ATOMIC_RELAXED);
    return error;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    return take_read(lock) ? 0 : wait_for(lock, take_read, TARN_FOREVER);
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    return take_write(lock) ? 0 : wait_to_write(lock, TARN_FOREVER);
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    return take_read(lock) ? 0 : EBUSY;
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    return take_write(lock) ? 0 : EBUSY;
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    uint64_t deadline;
    int error = deadline_of(CLOCK_REALTIME, until, &deadline);
    return error || take_read(lock) ? error : wait_for(lock, take_read, deadline);
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    uint64_t deadline;
    int error = deadline_of(CLOCK_REALTIME, until, &deadline);
    return error || take_write(lock) ? error : wait_to_write(lock, deadline);
}

/* Sequentially consistent: the word is let go before `waiters` is looked at (wait_for). */
int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    uint32_t left = 0;
    if (__atomic_load_n(&lock->readers, __ATOMIC_RELAXED) == WRITER)
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
    return lock->readers ? EBUSY : 0;
}

/* ---- barriers -------------------------------------------------------------------------------------------
 */

int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attr, unsigned count)
{
    if (!count)
        return EINVAL;
    *barrier = (pthread_barrier_t){.count = count};
    return 0;
}

int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
    return barrier->arrived ? EBUSY : 0;
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
    while (__atomic_load_n(&barrier->generation, __ATOMIC_ACQUIRE) == generation)
        sys_futex_wait(&barrier->generation, generation, TARN_FOREVER);
    return 0;
}
