/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/guest/explore_again.c - starts the workload `again=PATH` of the kernel's command line again and
 * again, for `tarn explore` with programs that are killed, or whose allocations fail. The exploring kernel
 * spares this one, the first ordinary program. After each start all other programs end, so what is left at
 * the end can be compared with a run without perturbations.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tarn/explore.h>
#include <tarn/runtime.h>
#include <tarn/syscall.h>
#include <unistd.h>

#define STARTS_MAX 8
#define ENOUGH_NS  300000000u /* no further start after that */
#define PATIENCE   1000       /* ms, for programs to be gone */
#define REST       20000      /* us: servers forget dead clients */

extern char **environ;

static char *find_workload(char *options)
{
    int64_t size = sys_system_read(SYSTEM_COMMAND_LINE, 0, options, 1023);
    options[size > 0 ? size : 0] = 0;
    for (char *word = strtok(options, " \n"); word; word = strtok(NULL, " \n"))
        if (!strncmp(word, "again=", 6))
            return word + 6;
    return NULL;
}

static void run(char *path)
{
    char *shell = "/bin/sh";
    pid_t pid;
    int error = posix_spawn(&pid, path, NULL, NULL, (char *[]){path, NULL}, environ);
    if (error == ENOEXEC)
        error = posix_spawn(&pid, shell, NULL, NULL, (char *[]){shell, path, NULL}, environ);
    if (!error)
        waitpid(pid, NULL, 0);
}

static bool settle(void)
{
    int64_t left = 1;
    for (int i = 0; i < PATIENCE && left; i++) {
        left = sys_system_read(SYSTEM_EXPLORE, EXPLORE_SETTLE, NULL, 0);
        usleep(1000);
    }
    usleep(REST);
    return left == 0;
}

int main(void)
{
    char options[1024], *path = find_workload(options);
    uint64_t end = clock_monotonic_ns() + ENOUGH_NS;
    bool settled = path != NULL;
    for (int i = 0; i < STARTS_MAX && settled && clock_monotonic_ns() < end; i++) {
        run(path);
        settled = settle();
    }
    printf(settled ? "all programs ended\n" : "Bail out! programs are left\n");
    return !settled;
}
