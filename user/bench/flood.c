/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user/bench/flood.c - flood THREADS SECONDS [PAUSE]: logs events as fast as it can, to find out what a pull
 * bears.
 *
 * Each thread logs trace_user_stopwatch_start with running numbers and spins PAUSE rounds after every event.
 * It prints how many events were logged, or found no room.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <trace/user.h>

#define THREADS_MAX 64

static unsigned long pause_rounds;
static double end;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void *run_thread(void *argument)
{
    unsigned long *count = argument;

    while (now() < end)
        for (unsigned i = 0; i < 1000; i++) {
            trace_user_stopwatch_start((*count)++);
            for (volatile unsigned long spin = 0; spin < pause_rounds; spin++)
                ;
        }
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
    pthread_t thread[THREADS_MAX];
    unsigned long count[THREADS_MAX] = {0}, all = 0;

    if (threads < 1 || threads > THREADS_MAX || argc > 4) {
        fprintf(stderr, "usage: flood [THREADS [SECONDS [PAUSE]]]\n");
        return 2;
    }
    end = now() + (argc > 2 ? atof(argv[2]) : 5);
    pause_rounds = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, run_thread, &count[i]) != 0)
            return 1;
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        all += count[i];
    }
    printf("flood: %lu events tried\n", all);
    return 0;
}
