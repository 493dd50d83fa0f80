/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user/test/spin.c - keeps processors busy in user mode, for tests/watchdog.
 *
 *   spin THREADS SECONDS    says when all run, and in the end that all are still there
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <tarn/runtime.h>

#define THREADS_MAX 64

static uint64_t end_ns;
static _Atomic unsigned running;

static void *spin(void *unused)
{
    (void)unused;
    running++;
    for (volatile uint64_t turns = 0; turns % 65536 || clock_monotonic_ns() < end_ns; turns++)
        ;
    running--;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS_MAX];
    unsigned count = argc == 3 ? (unsigned)atoi(argv[1]) : 0;
    if (count < 1 || count > THREADS_MAX)
        return 2;
    end_ns = clock_monotonic_ns() + (uint64_t)atoi(argv[2]) * 1000000000;
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&thread[i], NULL, spin, NULL))
            return 1;
    while (running < count)
        ;
    printf("spin: %u run\n", count);
    fflush(stdout);
    for (unsigned i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
    printf("spin: %u left\n", running);
    return 0;
}
