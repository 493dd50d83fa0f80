/*
 * pthread_mutex.c - mutexes and spin locks, based on the lock word of tarn/lock.c.
 *
 * A normal mutex is only the word. In the other kinds, threads compare `owner` only with their own tid, so
 * relaxed accesses are sufficient.
 */
#include "call.h"
#include "deadline.h"

#include <pthread.h>

static bool is_mine(const pthread_mutex_t *mutex)
{
    return __atomic_load_n(&mutex->owner, __ATOMIC_RELAXED) == thread_id();
}

static void set_owner(pthread_mutex_t *mutex, uint32_t owner)
{
    if (mutex->type != PTHREAD_MUTEX_NORMAL)
        __atomic_store_n(&mutex->owner, owner, __ATOMIC_RELAXED);
}

/* The result of locking a mutex that the caller already holds; -1: it does not hold it. */
static int lock_again(pthread_mutex_t *mutex, int error)
{
    if (mutex->type == PTHREAD_MUTEX_NORMAL || !is_mine(mutex))
        return -1;
    if (mutex->type == PTHREAD_MUTEX_ERRORCHECK)
        return error;
    if (mutex->depth == UINT32_MAX)
        return EAGAIN;
    mutex->depth++;
    return 0;
}

static int lock_until(pthread_mutex_t *mutex, uint64_t deadline)
{
    int result = lock_again(mutex, EDEADLK);
    if (result >= 0)
        return result;
    if (lock_word_acquire(&mutex->state, deadline) < 0)
        return ETIMEDOUT;
    set_owner(mutex, thread_id());
    return 0;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    return lock_until(mutex, TARN_FOREVER);
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    uint64_t deadline;
    int error = deadline_of(CLOCK_REALTIME, until, &deadline);
    return error ? error : lock_until(mutex, deadline);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    int result = lock_again(mutex, EBUSY);
    if (result >= 0)
        return result;
    if (!lock_word_try_acquire(&mutex->state))
        return EBUSY;
    set_owner(mutex, thread_id());
    return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (mutex->type != PTHREAD_MUTEX_NORMAL) {
        if (!is_mine(mutex))
            return EPERM;
        if (mutex->depth) {
            mutex->depth--;
            return 0;
        }
        set_owner(mutex, 0);
    }
    lock_word_release(&mutex->state);
    return 0;
}

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
    *mutex = (pthread_mutex_t){.type = attr ? (uint32_t)attr->type : PTHREAD_MUTEX_DEFAULT};
    return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    return mutex->state ? EBUSY : lock_set_name(mutex, NULL);
}

int pthread_mutexattr_init(pthread_mutexattr_t *attr)
{
    attr->type = PTHREAD_MUTEX_DEFAULT;
    return 0;
}

int pthread_mutexattr_destroy(pthread_mutexattr_t *attr)
{
    return 0;
}

int pthread_mutexattr_settype(pthread_mutexattr_t *attr, int type)
{
    if (type < PTHREAD_MUTEX_NORMAL || type > PTHREAD_MUTEX_ERRORCHECK)
        return EINVAL;
    attr->type = type;
    return 0;
}

int pthread_mutexattr_gettype(const pthread_mutexattr_t *attr, int *type)
{
    *type = attr->type;
    return 0;
}

/* ---- spin locks: the same word, so waiters sleep if the holder is preempted ------------------------ */

int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
    *lock = 0;
    return 0;
}

int pthread_spin_destroy(pthread_spinlock_t *lock)
{
    return 0;
}

int pthread_spin_lock(pthread_spinlock_t *lock)
{
    lock_word_acquire(lock, TARN_FOREVER);
    return 0;
}

int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    return lock_word_try_acquire(lock) ? 0 : EBUSY;
}

int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    lock_word_release(lock);
    return 0;
}
