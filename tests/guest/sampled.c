/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sampled.c - a program with a known number of allocations, sampled by tests/host/sampling.
 *
 * Thread n of THREADS allocates and frees (n + 1) * PAIRS blocks. Everything else that the program does needs
 * only a few allocations.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define THREADS 4
#define PAIRS   5000u

static void *allocate(void *argument)
{
    for (unsigned i = 0; i < ((uintptr_t)argument + 1) * PAIRS; i++) {
        void *volatile block = malloc(16 + i % 64);
        free(block);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, allocate, (void *)i);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
