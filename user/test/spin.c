/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spin.c - keeps CPUs busy in user mode, for tests/watchdog.
 *
 *   spin THREADS    one thread per CPU in turn, until a line of input arrives; prints when all run, and at
 * the end that all were still running
 *
 * No thread ends early: unmapping what it leaves waits, with interrupts disabled, for each CPU that runs
 * another thread of the process, even one that hangs.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <arch/trace.h>

#define THREADS_MAX 64

static _Atomic bool over;
static _Atomic unsigned running;

static void *spin(void *unused)
{
    (void)unused;
    running++;
    while (!atomic_load_explicit(&over, memory_order_relaxed))
        ;
    running--;
    return NULL;
}

static int start(pthread_t *thread, unsigned cpu)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_mask_np(&attributes, 1ull << cpu);
    return pthread_create(thread, &attributes, spin, NULL);
}

static void await_line(void)
{
    char byte;
    while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n')
        ;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS_MAX];
    unsigned count = argc == 2 ? (unsigned)atoi(argv[1]) : 0;
    if (count < 1 || count > THREADS_MAX)
        return 2;
    for (unsigned i = 0; i < count; i++)
        if (start(&thread[i], i % arch_trace_info()->cpu_count))
            return 1;
    while (running < count)
        ;
    printf("spin: %u run\n", count);
    fflush(stdout);
    await_line();
    over = true;
    for (unsigned i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
    printf("spin: %u left\n", running);
    return 0;
}
