/*
 * libc_pthread.c - threads and their synchronisation (libc-glue/posix/pthread*.c). That nothing is lost where
 * many threads meet, explore_libc.c counts.
 */
#define THREADS 8
#include "tap.h"
#include "threads.h"

#include <sched.h>
#include <semaphore.h>
#include <time.h>

#define ROUNDS REPEATS(2000)

static struct timespec after_ms(clockid_t clock, long ms)
{
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += ms * 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

static void *return_square(void *argument)
{
    intptr_t n = (intptr_t)argument;
    return (void *)(n * n);
}

static void *exit_deep(void *argument)
{
    pthread_exit((char *)argument + 1);
}

static __thread int own_variable = 17;
static __thread char own_zeroes[100];

static void *change_own(void *argument)
{
    bool fresh = own_variable == 17 && own_zeroes[99] == 0;
    own_variable = 5;
    own_zeroes[99] = 1;
    errno = (int)(intptr_t)argument;
    sched_yield();
    return (void *)(intptr_t)(fresh && errno == (int)(intptr_t)argument);
}

static uint32_t detached_done;
static void *run_detached(void *argument)
{
    __atomic_fetch_add(&detached_done, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void test_life(void)
{
    pthread_t thread;
    void *result = NULL;
    check(pthread_create(&thread, NULL, return_square, (void *)12) == 0, "a thread is created");
    check(pthread_join(thread, &result) == 0 && result == (void *)144, "join returns its result");
    check(result_of(exit_deep, (void *)41) == (void *)42, "and the argument of pthread_exit");
    check(pthread_join(pthread_self(), NULL) == EDEADLK, "a thread cannot join itself");

    errno = 99;
    own_variable = 3;
    check(result_of(change_own, (void *)7) && errno == 99 && own_variable == 3,
          "errno and __thread variables are each thread's own");

    int ok = 0;
    for (int i = 0; i < 200; i++) {
        /* Fails for lack of memory unless stacks are freed. */
        pthread_attr_t attr;
        pthread_attr_init(&attr);
        pthread_attr_setstacksize(&attr, 4 << 20);
        ok += pthread_create(&thread, &attr, return_square, (void *)3) == 0 &&
              pthread_join(thread, &result) == 0 && result == (void *)9;
    }
    check(ok == 200, "200 threads with 4 MiB stacks, one after the other");

    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 20; i++)
        pthread_create(&thread, &attr, run_detached, NULL);
    for (int i = 0; i < 20000 && __atomic_load_n(&detached_done, __ATOMIC_ACQUIRE) < 20; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    check(detached_done == 20, "detached threads run");
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long counter;

static void *count_up(void *argument)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *try_for_20_ms(void *argument)
{
    struct timespec until = after_ms(CLOCK_REALTIME, 20);
    return (void *)(intptr_t)pthread_mutex_timedlock(argument, &until);
}

static void *unlock_it(void *argument)
{
    return (void *)(intptr_t)pthread_mutex_unlock(argument);
}

static void test_mutex(void)
{
    run_threads(count_up);
    check(counter == (unsigned long)THREADS * ROUNDS, "a mutex excludes");

    pthread_mutex_lock(&mutex);
    check(pthread_mutex_trylock(&mutex) == EBUSY, "trylock of a held mutex is EBUSY");
    check(result_of(try_for_20_ms, &mutex) == (void *)ETIMEDOUT, "timedlock times out");
    pthread_mutex_unlock(&mutex);
    check(result_of(try_for_20_ms, &mutex) == NULL, "timedlock takes a free mutex");

    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_t recursive, checked;
    pthread_mutex_init(&recursive, &attr);
    int again =
        pthread_mutex_lock(&recursive) | pthread_mutex_lock(&recursive) | pthread_mutex_trylock(&recursive);
    check(again == 0, "a recursive mutex can be taken again");
    check(result_of(unlock_it, &recursive) == (void *)EPERM, "only its owner can unlock it");
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    check(pthread_mutex_destroy(&recursive) == EBUSY, "it must be unlocked as often as it was locked");
    pthread_mutex_unlock(&recursive);
    check(pthread_mutex_destroy(&recursive) == 0, "then it is free");

    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checked, &attr);
    pthread_mutex_lock(&checked);
    check(pthread_mutex_lock(&checked) == EDEADLK, "an error-checking mutex detects the deadlock");
    check(pthread_mutex_unlock(&checked) == 0 && pthread_mutex_unlock(&checked) == EPERM,
          "and an extra unlock");
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t release = PTHREAD_COND_INITIALIZER;
static int woken;
static bool released;
static void *wait_for_release(void *argument)
{
    pthread_mutex_lock(&gate);
    while (!released)
        pthread_cond_wait(&release, &gate);
    woken++;
    pthread_mutex_unlock(&gate);
    return NULL;
}

static void test_cond(void)
{
    pthread_t waiters[THREADS];
    start_threads(waiters, THREADS, wait_for_release);
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    pthread_mutex_lock(&gate);
    released = true;
    pthread_cond_broadcast(&release);
    pthread_mutex_unlock(&gate);
    join_threads(waiters, THREADS);
    check(woken == THREADS, "broadcast wakes all");

    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_t cond;
    pthread_cond_init(&cond, &attr);
    const uint64_t begin = clock_monotonic_ns();
    const struct timespec until = after_ms(CLOCK_MONOTONIC, 30);
    pthread_mutex_lock(&gate);
    int result = 0;
    while (result == 0)
        result = pthread_cond_timedwait(&cond, &gate, &until);
    bool held = pthread_mutex_trylock(&gate) == EBUSY;
    pthread_mutex_unlock(&gate);
    check(result == ETIMEDOUT && held && clock_monotonic_ns() - begin >= 29000000,
          "timedwait times out, not early, and holds the mutex");
}

static uint32_t once_runs;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void run_slowly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    once_runs++;
}
static uint32_t once_missing;
static void *call_once(void *argument)
{
    pthread_once(&once, run_slowly);
    if (once_runs != 1)
        __atomic_fetch_add(&once_missing, 1, __ATOMIC_RELAXED);
    return NULL;
}

static pthread_key_t key;
static uint32_t destroyed;
static void destroy_value(void *value)
{
    __atomic_fetch_add(&destroyed, (uint32_t)(uintptr_t)value, __ATOMIC_RELAXED);
}
static void *set_value(void *argument)
{
    pthread_setspecific(key, (void *)((intptr_t)argument + 1));
    sched_yield();
    return pthread_getspecific(key);
}

/* Computes in floating-point registers while other threads run: the same series with and without yielding. */
static __attribute__((noinline)) double series(double seed, bool gives_way)
{
    double a = seed, b = seed + 1, c = seed + 2, d = seed + 3, sum = 0;
    for (int i = 0; i < REPEATS(3000); i++) {
        if (gives_way && i % 8 == 0)
            sched_yield();
        a = a * 0.75 + b * 0.25, b = b * 0.5 + c * 0.5, c = c * 0.125 + d * 0.875, d = 0.5 * d + i;
        sum += a - b / 3 + c - d / 7;
    }
    return sum;
}

static uint32_t mixed_up;
static void *compute(void *argument)
{
    double seed = (double)(intptr_t)argument + 0.1, alone = series(seed, false);
    for (int i = 0; i < 5; i++)
        if (series(seed, true) != alone)
            __atomic_fetch_add(&mixed_up, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* Half of them wait in vain, and then in turn. */
static void *time_out(void *argument)
{
    static pthread_rwlock_t waited = PTHREAD_RWLOCK_INITIALIZER;
    const bool reads = (intptr_t)argument % 2;
    for (int i = 0; i < 4; i++) {
        struct timespec until = after_ms(CLOCK_REALTIME, 1);
        if ((reads ? pthread_rwlock_timedrdlock : pthread_rwlock_timedwrlock)(&waited, &until))
            continue;
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
        pthread_rwlock_unlock(&waited);
        if ((reads ? pthread_rwlock_tryrdlock : pthread_rwlock_trywrlock)(&waited) == 0)
            pthread_rwlock_unlock(&waited);
    }
    return NULL;
}

static pthread_spinlock_t spinning;
static unsigned long spins;
static void *spin_up(void *argument)
{
    for (int i = 0; i < ROUNDS; i++) {
        if ((intptr_t)argument % 2 || pthread_spin_trylock(&spinning))
            pthread_spin_lock(&spinning);
        spins++;
        pthread_spin_unlock(&spinning);
    }
    return NULL;
}

int pthread_setschedprio(pthread_t thread, int priority); /* newlib does not declare it */

static void test_attributes(void)
{
    pthread_attr_t attr;
    pthread_mutexattr_t kind;
    size_t size = 0, guard = 0;
    int state = 9, type = 9;
    struct sched_param param = {.sched_priority = 3}, got = {0};
    pthread_attr_init(&attr);
    check(pthread_attr_getdetachstate(&attr, &state) == 0 && state == PTHREAD_CREATE_JOINABLE &&
              pthread_attr_setstacksize(&attr, 1 << 20) == 0 &&
              pthread_attr_getstacksize(&attr, &size) == 0 && size == 1 << 20 &&
              pthread_attr_setguardsize(&attr, 8192) == 0 && pthread_attr_getguardsize(&attr, &guard) == 0 &&
              guard == 8192 && pthread_attr_setschedparam(&attr, &param) == 0 &&
              pthread_attr_getschedparam(&attr, &got) == 0 && got.sched_priority == 3 &&
              pthread_attr_setaffinity_mask_np(&attr, 1) == 0 && pthread_attr_destroy(&attr) == 0,
          "a thread's attributes are what was set");
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    check(pthread_mutexattr_gettype(&kind, &type) == 0 && type == PTHREAD_MUTEX_RECURSIVE &&
              pthread_mutexattr_destroy(&kind) == 0,
          "and a mutex's");
    pthread_condattr_t clock;
    pthread_cond_t condition;
    pthread_rwlock_t shared;
    pthread_condattr_init(&clock);
    check(pthread_cond_init(&condition, &clock) == 0 && pthread_cond_destroy(&condition) == 0 &&
              pthread_condattr_destroy(&clock) == 0 && pthread_rwlock_init(&shared, NULL) == 0 &&
              pthread_rwlock_destroy(&shared) == 0,
          "what nobody uses can be destroyed");
    check(pthread_equal(pthread_self(), pthread_self()) && pthread_setname_np(pthread_self(), "main") == 0 &&
              pthread_setschedprio(pthread_self(), 8) == 0 && sched_getcpu() >= 0,
          "a thread knows itself");
}

static void test_rest(void)
{
    run_threads(call_once);
    check(once_runs == 1 && once_missing == 0,
          "pthread_once runs the routine once, and all callers wait for it");
    pthread_key_create(&key, destroy_value);
    run_threads(set_value);
    check(destroyed == THREADS * (THREADS + 1) / 2, "each thread's value is destroyed");
    struct timespec until = after_ms(CLOCK_REALTIME, 10);
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    check(sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT, "sem_timedwait times out");
    check(sem_trywait(&semaphore) == -1 && errno == EAGAIN && sem_destroy(&semaphore) == 0,
          "and sem_trywait fails at once");
    check(pthread_key_delete(key) == 0 && pthread_setspecific(key, NULL) != 0, "a key can be deleted");
    run_threads(time_out);
    pthread_spin_init(&spinning, 0);
    run_threads(spin_up);
    check(spins == (unsigned long)THREADS * ROUNDS, "a spin lock excludes");
    run_threads(compute);
    check(mixed_up == 0, "each thread has floating-point registers of its own");
}

int main(void)
{
    test_life();
    test_attributes();
    test_mutex();
    test_cond();
    test_rest();
    return finish_tests();
}
