/* SPDX-License-Identifier: BSD-2-Clause */
/* threads.h - runs a function in several threads. */
#ifndef USER_TEST_THREADS_H
#define USER_TEST_THREADS_H

#include "start.h"

#include <stdint.h>

#define THREADS 4

/* Runs `work` in THREADS threads, with their numbers as arguments, and waits for them. */
static inline void run_threads(void *(*work)(void *))
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        start_thread(&threads[i], work, (void *)i);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

#endif
