/*
 * tests/guest/explore_libc.c - a short workload for `tarn explore`: threads that meet in all that libc-glue
 * locks with. Each part counts without atomics under the lock that it tests, so that a broken lock loses
 * something.
 */
#include "tap.h"
#include "threads.h"

#include <semaphore.h>
#include <time.h>

#define ROUNDS  300
#define TURNS   600
#define BRIEFLY 20000 /* ns */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static unsigned slot, given, taken, turns[ROUNDS]; /* under mutex */
static unsigned counted;                           /* under semaphore */
static unsigned one, other, torn;                  /* under rwlock; torn: by reader 0 alone */
static unsigned serial;                            /* atomic */
static bool memory_good[THREADS];

/* Half of them give numbers through one slot, half of them take. */
static void *pass_numbers(void *argument)
{
    bool gives = (uintptr_t)argument % 2;
    for (unsigned i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        while ((slot == 0) != gives)
            pthread_cond_wait(gives ? &emptied : &filled, &mutex);
        if (gives)
            given += slot = i + 1;
        else
            taken += slot, slot = 0;
        if (i % 2)
            pthread_cond_signal(gives ? &filled : &emptied);
        pthread_mutex_unlock(&mutex);
        if (i % 2 == 0) /* a waiter may be anywhere before its sleep */
            pthread_cond_signal(gives ? &filled : &emptied);
    }
    return NULL;
}

/* Two threads in turn, and nobody else would wake one of them. */
static struct pair {
    pthread_mutex_t mutex;
    pthread_cond_t changed[2];
    unsigned turn, taken[2]; /* under mutex */
} pairs[THREADS / 2] = {{.mutex = PTHREAD_MUTEX_INITIALIZER}, {.mutex = PTHREAD_MUTEX_INITIALIZER}};

/* At first for a short time only, or for ever. */
static void wait_for_turn(struct pair *pair, unsigned side, bool briefly)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += BRIEFLY;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (pair->turn % 2 != side && briefly)
        pthread_cond_clockwait(&pair->changed[side], &pair->mutex, CLOCK_MONOTONIC, &until);
    while (pair->turn % 2 != side)
        pthread_cond_wait(&pair->changed[side], &pair->mutex);
}

static void *take_turns(void *argument)
{
    uintptr_t me = (uintptr_t)argument;
    struct pair *pair = &pairs[me / 2];
    unsigned side = me % 2;
    for (unsigned i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&pair->mutex);
        wait_for_turn(pair, side, i % 4 == 0);
        pair->turn++;
        pair->taken[side]++;
        if (i % 2)
            pthread_cond_signal(&pair->changed[!side]);
        pthread_mutex_unlock(&pair->mutex);
        if (i % 2 == 0)
            pthread_cond_signal(&pair->changed[!side]);
    }
    return NULL;
}

static void *count_under_semaphore(void *argument)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        sem_wait(&semaphore);
        counted++;
        sem_post(&semaphore);
    }
    return NULL;
}

static void *read_and_write(void *argument)
{
    uintptr_t me = (uintptr_t)argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        if ((i + me) % 3 == 0) {
            pthread_rwlock_wrlock(&rwlock);
            one++;
            other++;
        } else {
            pthread_rwlock_rdlock(&rwlock);
            if (me == 0)
                torn += one != other;
        }
        pthread_rwlock_unlock(&rwlock);
    }
    return NULL;
}

static void *meet_at_barrier(void *argument)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        turns[i]++;
        pthread_mutex_unlock(&mutex);
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void *use_memory(void *argument)
{
    char *held[8] = {NULL}, mark = (char)(1 + (uintptr_t)argument);
    bool good = true;
    for (unsigned i = 0; i < 2 * ROUNDS; i++) {
        char **place = &held[i % 8];
        size_t size = 16 + 40 * (i % 7);
        for (size_t at = 0; *place && at < 16; at++)
            good &= (*place)[at] == mark;
        free(*place);
        *place = malloc(size);
        if (*place)
            memset(*place, mark, size);
    }
    for (unsigned i = 0; i < 8; i++)
        free(held[i]);
    memory_good[(uintptr_t)argument] = good;
    return NULL;
}

int main(void)
{
    bool good = true;
    run_threads(pass_numbers);
    check(given == taken && given == THREADS / 2 * ROUNDS * (ROUNDS + 1) / 2,
          "conditions: what was given was taken");
    run_threads(take_turns);
    check(pairs[0].turn == 2 * TURNS && pairs[0].taken[0] == TURNS && pairs[1].taken[0] == TURNS,
          "conditions: each signal ends the wait of the only waiter");
    sem_init(&semaphore, 0, 1);
    run_threads(count_under_semaphore);
    check(counted == THREADS * ROUNDS, "a semaphore of one lets one in");
    run_threads(read_and_write);
    check(one == other && !torn, "who reads sees all of a write");
    pthread_barrier_init(&barrier, NULL, THREADS);
    run_threads(meet_at_barrier);
    for (unsigned i = 0; i < ROUNDS; i++)
        good &= turns[i] == THREADS;
    check(good && serial == ROUNDS, "a barrier lets all on, and one is the serial thread");
    run_threads(use_memory);
    check(memory_good[0] && memory_good[1] && memory_good[2] && memory_good[3],
          "memory is one thread's alone");
    return finish_tests();
}
