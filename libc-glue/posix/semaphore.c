/* semaphore.c - counting semaphores; the count is a futex word. */
#include "../tarn/lock_trace.h"
#include "call.h"
#include "deadline.h"

#include <semaphore.h>

static int fail_with(int error)
{
    errno = error;
    return -1;
}

int sem_init(sem_t *semaphore, int shared, unsigned value)
{
    if (value > SEM_VALUE_MAX)
        return fail_with(EINVAL);
    *semaphore = (sem_t){.value = value};
    return 0;
}

int sem_destroy(sem_t *semaphore)
{
    return semaphore->waiters ? fail_with(EBUSY) : lock_set_name(semaphore, NULL);
}

/* Acquire pairs with the release in sem_post. */
static bool take_one(sem_t *semaphore)
{
    uint32_t value = __atomic_load_n(&semaphore->value, __ATOMIC_RELAXED);
    while (value)
        if (__atomic_compare_exchange_n(&semaphore->value, &value, value - 1, true, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return true;
    return false;
}

static int semaphore_note_taken(sem_t *semaphore)
{
    return is_to_be_noted(TARN_LOCK_SEMAPHORE) ? note_acquisition(TARN_LOCK_SEMAPHORE, semaphore) : 0;
}

int sem_trywait(sem_t *semaphore)
{
    if (take_one(semaphore))
        return is_to_be_noted(TARN_LOCK_SEMAPHORE) ? note_tried(TARN_LOCK_SEMAPHORE, semaphore) : 0;
    count_failed_try(TARN_LOCK_SEMAPHORE, semaphore);
    return fail_with(EAGAIN);
}

static int semaphore_wait(sem_t *semaphore, uint64_t deadline)
{
    struct lock_wait wait = begin_lock_wait(TARN_LOCK_SEMAPHORE, semaphore, 0);
    int error = 0;
    __atomic_fetch_add(&semaphore->waiters, 1, __ATOMIC_SEQ_CST);
    while (!take_one(semaphore))
        if (sleep_for_lock(&wait, &semaphore->value, 0, deadline) == -E_TIMEOUT) {
            error = ETIMEDOUT;
            break;
        }
    __atomic_fetch_sub(&semaphore->waiters, 1, __ATOMIC_SEQ_CST);
    end_lock_wait(&wait);
    return error;
}

static int semaphore_wait_until(sem_t *semaphore, uint64_t deadline)
{
    int error = take_one(semaphore) ? 0 : semaphore_wait(semaphore, deadline);
    return error ? fail_with(error) : semaphore_note_taken(semaphore);
}

int sem_wait(sem_t *semaphore)
{
    return semaphore_wait_until(semaphore, TARN_FOREVER);
}

int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    uint64_t deadline;
    int error = deadline_of(CLOCK_REALTIME, until, &deadline);
    return error ? fail_with(error) : semaphore_wait_until(semaphore, deadline);
}

/* Sequentially consistent: the count is incremented before `waiters` is read (semaphore_wait_until). */
int sem_post(sem_t *semaphore)
{
    if (__atomic_add_fetch(&semaphore->value, 1, __ATOMIC_SEQ_CST) > SEM_VALUE_MAX) {
        __atomic_sub_fetch(&semaphore->value, 1, __ATOMIC_SEQ_CST);
        return fail_with(EOVERFLOW);
    }
    if (__atomic_load_n(&semaphore->waiters, __ATOMIC_SEQ_CST))
        sys_futex_wake(&semaphore->value, 1);
    return 0;
}

int sem_getvalue(sem_t *semaphore, int *value)
{
    *value = (int)__atomic_load_n(&semaphore->value, __ATOMIC_RELAXED);
    return 0;
}
