/*
 * pthread.c - threads: create, join, detach, exit. For their stacks see tarn/thread.c.
 *
 * `state` decides which thread frees the struct:
 *
 *     JOINABLE --exit--> EXITED               freed by the joiner
 *     JOINABLE --detach--> DETACHED --exit--> frees itself
 *     EXITED --detach-->                      freed by the thread that detaches it
 *
 * A thread always frees its own stack and variables. When the last thread ends, the process ends.
 */
#include "../tarn/lock_trace.h"
#include "call.h"

#include <pthread.h>
#include <reent.h>
#include <stdlib.h>
#include <string.h>

#define STACK_BYTES_DEFAULT (256ull << 10)

enum pthread_state { JOINABLE = 0, DETACHED = 1, EXITED = 2 };

static uint32_t thread_count = 1; /* atomic: number of threads that have not ended */

void run_key_destructors(struct pthread *thread); /* pthread_key.c */

/* ---- attributes ------------------------------------------------------------------------------------ */

int pthread_attr_init(pthread_attr_t *attr)
{
    *attr = (pthread_attr_t){
        .stack_size = STACK_BYTES_DEFAULT,
        .guard_size = TARN_PAGE_SIZE,
        .detach_state = PTHREAD_CREATE_JOINABLE,
        .schedparam.sched_priority = (int)program_startup()->priority,
    };
    return 0;
}

int pthread_attr_destroy(pthread_attr_t *attr)
{
    return 0;
}

int pthread_attr_setstacksize(pthread_attr_t *attr, size_t size)
{
    if (size < PTHREAD_STACK_MIN)
        return EINVAL;
    attr->stack_size = size;
    return 0;
}

int pthread_attr_setguardsize(pthread_attr_t *attr, size_t size)
{
    attr->guard_size = size;
    return 0;
}

int pthread_attr_setdetachstate(pthread_attr_t *attr, int state)
{
    if (state != PTHREAD_CREATE_JOINABLE && state != PTHREAD_CREATE_DETACHED)
        return EINVAL;
    attr->detach_state = state;
    return 0;
}

int pthread_attr_setschedparam(pthread_attr_t *attr, const struct sched_param *param)
{
    if (param->sched_priority < 0 || param->sched_priority >= (int)TARN_PRIORITIES)
        return EINVAL;
    attr->schedparam = *param;
    return 0;
}

#define ATTRIBUTE(name, type, field)                                    \
    int pthread_attr_get##name(const pthread_attr_t *attr, type *value) \
    {                                                                   \
        *value = attr->field;                                           \
        return 0;                                                       \
    }
ATTRIBUTE(stacksize, size_t, stack_size)
ATTRIBUTE(guardsize, size_t, guard_size)
ATTRIBUTE(detachstate, int, detach_state)
ATTRIBUTE(schedparam, struct sched_param, schedparam)

int pthread_attr_setaffinity_mask_np(pthread_attr_t *attr, uint64_t cpus)
{
    attr->affinity = cpus;
    return 0;
}

/* ---- creating and ending --------------------------------------------------------------------------- */

static int64_t create_pthread(pthread_t *out, const pthread_attr_t *attr, void *(*routine)(void *),
                              void *argument)
{
    pthread_attr_t standard;
    if (!attr) {
        pthread_attr_init(&standard);
        attr = &standard;
    }
    struct pthread *thread = calloc(1, sizeof(*thread));
    if (!thread)
        return -EAGAIN;
    thread->routine = routine;
    thread->argument = argument;
    thread->state = attr->detach_state == PTHREAD_CREATE_DETACHED ? DETACHED : JOINABLE;
    if (create_thread(thread, attr) < 0) {
        free(thread);
        return -EAGAIN;
    }
    __atomic_fetch_add(&thread_count, 1, __ATOMIC_RELAXED);
    *out = thread; /* before it runs, because it may end immediately */
    sys_thread_resume(thread->slot);
    return 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *), void *argument)
{
    enter_call(TRACE_LIBC_PTHREAD_CREATE, (uint64_t)routine, (uint64_t)argument);
    int64_t result = create_pthread(thread, attr, routine, argument);
    return (int)-leave_plain(TRACE_LIBC_PTHREAD_CREATE, result);
}

static void free_pthread(struct pthread *thread)
{
    sys_cap_close(thread->slot);
    free(thread);
}

/* The exchange publishes `result` to the joiner (acquire there), which may free the struct at once. After it
 * only the address is used, and only to wake. */
static void leave_pthread(struct pthread *thread)
{
    char *mapping = thread->mapping;
    uint64_t size = thread->mapping_size;
    uint32_t *state = &thread->state;
    _reclaim_reent(_REENT);
    if (__atomic_exchange_n(state, EXITED, __ATOMIC_ACQ_REL) == DETACHED)
        free_pthread(thread);
    else
        sys_futex_wake(state, ~0u);
    exit_thread(mapping, size);
}

void end_pthread(struct pthread *thread, void *result)
{
    thread->result = result;
    run_key_destructors(thread);
    if (__atomic_sub_fetch(&thread_count, 1, __ATOMIC_ACQ_REL) == 0)
        exit(0);
    if (thread->mapping)
        leave_pthread(thread);
    __atomic_store_n(&thread->state, EXITED, __ATOMIC_RELEASE); /* the first thread keeps its stack */
    sys_futex_wake(&thread->state, ~0u);
    for (;;)
        sys_thread_exit();
}

void pthread_exit(void *result)
{
    end_pthread(current_thread(), result);
}

/* The tid of the joined thread for the trace. It is unknown until that thread has run. */
static uint32_t tid_of(const struct pthread *thread)
{
    uint32_t tid = __atomic_load_n(&thread->tid, __ATOMIC_RELAXED);
    return tid ? tid : LOCK_NOBODY;
}

/* Waits until the thread is not JOINABLE and returns the new state. */
static uint32_t join_wait(struct pthread *thread)
{
    uint32_t state;
    struct lock_wait wait = begin_lock_wait(TARN_LOCK_JOIN, thread, 0);
    wait.holder = tid_of(thread);
    while ((state = __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE)) == JOINABLE)
        sleep_for_lock(&wait, &thread->state, JOINABLE, TARN_FOREVER);
    wait.holder = tid_of(thread);
    end_lock_wait(&wait);
    return state;
}

static int64_t join_pthread(struct pthread *thread, void **result)
{
    if (thread == current_thread())
        return -EDEADLK;
    uint32_t state = __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE);
    if (state == JOINABLE)
        state = join_wait(thread);
    if (state == DETACHED)
        return -EINVAL;
    if (result)
        *result = thread->result;
    if (thread->mapping)
        free_pthread(thread);
    return 0;
}

int pthread_join(pthread_t thread, void **result)
{
    enter_call(TRACE_LIBC_PTHREAD_JOIN, (uint64_t)thread, 0);
    return (int)-leave_plain(TRACE_LIBC_PTHREAD_JOIN, join_pthread(thread, result));
}

int pthread_detach(pthread_t thread)
{
    uint32_t expected = JOINABLE;
    if (__atomic_compare_exchange_n(&thread->state, &expected, DETACHED, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return 0;
    if (expected == DETACHED)
        return EINVAL;
    if (thread->mapping)
        free_pthread(thread);
    return 0;
}

/* ---- identity -------------------------------------------------------------------------------------- */

pthread_t pthread_self(void)
{
    return current_thread();
}

int pthread_equal(pthread_t one, pthread_t other)
{
    return one == other;
}

int pthread_setname_np(pthread_t thread, const char *name)
{
    char padded[TARN_NAME_BYTES] = "";
    strncpy(padded, name, sizeof(padded) - 1);
    return (int)-errno_of(sys_thread_set_name(thread->slot, padded));
}

int pthread_setaffinity_mask_np(pthread_t thread, uint64_t cpus)
{
    return (int)-errno_of(sys_thread_set_affinity(thread->slot, cpus));
}

int pthread_setschedprio(pthread_t thread, int priority);
int pthread_setschedprio(pthread_t thread, int priority)
{
    return (int)-errno_of(sys_thread_set_priority(thread->slot, (uint32_t)priority));
}

void pthread_yield(void)
{
    sys_thread_yield();
}
