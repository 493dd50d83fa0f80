/*
 * pthread_cond.c - condition variables.
 *
 * A waiter reads the sequence number while it holds the mutex, and sleeps only if the number has not changed
 * since; a signal changes it and wakes. Spurious wakeups can happen, as POSIX allows.
 */
#include "../tarn/lock_trace.h"
#include "call.h"
#include "deadline.h"

#include <pthread.h>

int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
    *cond = (pthread_cond_t){.clock = attr ? attr->clock : 0};
    return 0;
}

int pthread_cond_destroy(pthread_cond_t *cond)
{
    return cond->waiters ? EBUSY : lock_set_name(cond, NULL);
}

/* The part of the wait that the trace attributes to the condition: up to the signal. Reacquiring the mutex
 * counts as the mutex's wait. */
static int condition_sleep_until(pthread_cond_t *cond, uint32_t sequence, uint64_t deadline)
{
    struct lock_wait wait = begin_lock_wait(TARN_LOCK_CONDITION, cond, 0);
    int result = sleep_for_lock(&wait, &cond->sequence, sequence, deadline);
    end_lock_wait(&wait);
    return result == -E_TIMEOUT ? ETIMEDOUT : 0;
}

/* Sequentially consistent: if a signaller sees no waiters, it came before the waiter read the sequence
 * number, so it changed the protected state before the waiter checked it. */
static int condition_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t deadline)
{
    __atomic_fetch_add(&cond->waiters, 1, __ATOMIC_SEQ_CST);
    uint32_t sequence = __atomic_load_n(&cond->sequence, __ATOMIC_SEQ_CST);
    int result = pthread_mutex_unlock(mutex);
    if (result == 0) {
        result = condition_sleep_until(cond, sequence, deadline);
        pthread_mutex_lock(mutex);
    }
    __atomic_fetch_sub(&cond->waiters, 1, __ATOMIC_SEQ_CST);
    return result;
}

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    return condition_wait_until(cond, mutex, TARN_FOREVER);
}

int pthread_cond_clockwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex, clockid_t clock,
                           const struct timespec *restrict until)
{
    uint64_t deadline;
    int error = deadline_of(clock, until, &deadline);
    return error ? error : condition_wait_until(cond, mutex, deadline);
}

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
    return pthread_cond_clockwait(cond, mutex, cond->clock ? (clockid_t)cond->clock : CLOCK_REALTIME, until);
}

static int wake_waiters(pthread_cond_t *cond, uint32_t count)
{
    if (!__atomic_load_n(&cond->waiters, __ATOMIC_SEQ_CST))
        return 0;
    __atomic_fetch_add(&cond->sequence, 1, __ATOMIC_SEQ_CST);
    sys_futex_wake(&cond->sequence, count);
    return 0;
}

int pthread_cond_signal(pthread_cond_t *cond)
{
    return wake_waiters(cond, 1);
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
    return wake_waiters(cond, ~0u);
}

int pthread_condattr_init(pthread_condattr_t *attr)
{
    attr->clock = CLOCK_REALTIME;
    return 0;
}

int pthread_condattr_destroy(pthread_condattr_t *attr)
{
    return 0;
}

int pthread_condattr_setclock(pthread_condattr_t *attr, clockid_t clock)
{
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return EINVAL;
    attr->clock = (uint32_t)clock;
    return 0;
}

int pthread_condattr_getclock(const pthread_condattr_t *restrict attr, clockid_t *restrict clock)
{
    *clock = (clockid_t)attr->clock;
    return 0;
}
