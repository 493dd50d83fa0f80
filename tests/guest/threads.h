/* threads.h - threads of a test. One that cannot be started ends the test, which would wait for ever. */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef THREADS
#define THREADS 4
#endif

/* On this CPU, or on any: -1. */
static inline void start_thread_on(pthread_t *thread, int cpu, void *(*work)(void *), void *argument)
{
    pthread_attr_t attributes;
    if (cpu >= 0) {
        pthread_attr_init(&attributes);
        pthread_attr_setaffinity_mask_np(&attributes, 1ull << cpu);
    }
    if (pthread_create(thread, cpu >= 0 ? &attributes : NULL, work, argument) != 0) {
        printf("Bail out! no thread\n");
        exit(2);
    }
}

static inline void start_thread(pthread_t *thread, void *(*work)(void *), void *argument)
{
    start_thread_on(thread, -1, work, argument);
}

/* Starts `count` threads with their numbers as arguments. */
static inline void start_threads(pthread_t *threads, unsigned count, void *(*work)(void *))
{
    for (uintptr_t i = 0; i < count; i++)
        start_thread(&threads[i], work, (void *)i);
}

static inline void join_threads(pthread_t *threads, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* Runs `work` in THREADS threads, and waits for them. */
static inline void run_threads(void *(*work)(void *))
{
    pthread_t threads[THREADS];
    start_threads(threads, THREADS, work);
    join_threads(threads, THREADS);
}

/* Runs `work` in a thread. Returns its result. */
static inline void *result_of(void *(*work)(void *), void *argument)
{
    pthread_t thread;
    void *result;
    start_thread(&thread, work, argument);
    pthread_join(thread, &result);
    return result;
}
