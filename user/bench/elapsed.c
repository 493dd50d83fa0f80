/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elapsed.c - runs a program and prints how long it took, for benchmarks.
 *
 *     elapsed PROGRAM [ARGUMENT...]
 *
 * The time is that of the monotonic clock, from before the start to after the program's exit was collected. The
 * exit status is the program's.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    pid_t pid;
    int status;
    if (argc < 2) {
        fprintf(stderr, "usage: elapsed PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    const double begin = now();
    errno = posix_spawnp(&pid, argv[1], NULL, NULL, argv + 1, environ);
    if (errno || waitpid(pid, &status, 0) < 0) {
        fprintf(stderr, "elapsed: %s: %s\n", argv[1], strerror(errno));
        return 127;
    }
    printf("elapsed: %s: %.6f s\n", argv[1], now() - begin);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
