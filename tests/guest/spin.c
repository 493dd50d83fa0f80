/*
 * spin.c - keeps a CPU busy in user mode, for tests/host/watchdog.
 *
 *   spin CPU    until a line of input arrives; prints when it runs, and at the end
 */
#include "threads.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

static _Atomic bool over, running;

static void *spin(void *unused)
{
    running = true;
    while (!atomic_load_explicit(&over, memory_order_relaxed))
        ;
    return NULL;
}

static void await_line(void)
{
    char byte;
    while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n')
        ;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc != 2)
        return 2;
    start_thread_on(&thread, atoi(argv[1]), spin, NULL);
    while (!running)
        sched_yield();
    printf("spin: it runs\n");
    fflush(stdout);
    await_line();
    over = true;
    pthread_join(thread, NULL);
    printf("spin: it is over\n");
    return 0;
}
