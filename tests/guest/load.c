/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load.c - everyday work on many CPUs, repeated: it succeeds, and its resources are freed.
 *
 *     load [rounds]
 *
 * The first round fills caches of the servers and the allocators; later rounds must not add to them.
 */
/* Servers' heaps fragment and sometimes grow by a memory object, and their page tables grow until each shared
 * buffer's address has been used. This is far less than one for each of the hundreds of processes of a round.
 */
#define FRAMES_OF_SERVERS   512u
#define MEMORIES_OF_SERVERS 16u
#include "leak.h"
#include "tap.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

static bool run(char *const arguments[])
{
    pid_t pid;
    int status;
    errno = posix_spawnp(&pid, arguments[0], NULL, NULL, arguments, environ);
    if (errno || waitpid(pid, &status, 0) != pid) {
        printf("# %s: %s\n", arguments[0], strerror(errno));
        return false;
    }
    if (status != 0)
        printf("# %s: status %#x\n", arguments[0], (unsigned)status);
    return status == 0;
}

static void work(void)
{
    check(run((char *[]){"sdet", "-n", "16", NULL}), "sixteen shells at once");
    check(run((char *[]){"lockstorm", "16", "500", NULL}), "sixteen threads and a lock");
    check(run((char *[]){"market", "8", "100", NULL}), "eight clients and a server");
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2;
    work();
    struct system_stats before = quiet_stats();
    for (unsigned i = 0; i < rounds; i++)
        work();
    check(same_stats_soon(&before), "as many kernel objects and page frames as before");
    return finish_tests();
}
