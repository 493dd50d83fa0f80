/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load.c - everyday work on many CPUs, repeated: it succeeds, and its resources are freed.
 *
 *     load [rounds]
 *
 * The first round fills caches of the servers and the allocators; later rounds must not add to them.
 */
#include "leak.h"
#include "tap.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Servers' heaps fragment and sometimes grow by a memory object, and their page tables grow until each shared
 * buffer's address has been used. This is far less than one for each of the hundreds of processes of a round.
 */
#define FRAMES_SPARE   512
#define MEMORIES_SPARE 16
#define PATIENCE       500

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

static uint64_t frames_of(const struct system_stats *stats)
{
    return stats->frames_free + stats->slab_frames;
}

static bool same_objects(const struct system_stats *before, const struct system_stats *after)
{
    return before->spaces == after->spaces && before->threads == after->threads &&
           before->endpoints == after->endpoints && before->notifications == after->notifications &&
           before->replies == after->replies && after->memories <= before->memories + MEMORIES_SPARE &&
           after->mappings <= before->mappings + MEMORIES_SPARE;
}

/* Waits until the numbers are stable: dead processes take a moment to disappear, and servers reclaim shared
 * buffers late. */
static struct system_stats settled_stats(const struct system_stats *expected)
{
    struct system_stats stats = read_stats();
    for (int i = 0; i < PATIENCE; i++) {
        sys_thread_sleep(deadline_after(20000000));
        struct system_stats last = stats;
        stats = read_stats();
        if (expected ? same_objects(expected, &stats) : i >= 25 && same_objects(&last, &stats))
            break;
    }
    return stats;
}

static void check_given_back(const struct system_stats *before, const struct system_stats *after)
{
    bool objects = same_objects(before, after);
    check(objects, "as many kernel objects as before");
    uint64_t lost = frames_of(before) > frames_of(after) ? frames_of(before) - frames_of(after) : 0;
    check(lost <= FRAMES_SPARE, "page frames are freed");
    if (!objects || lost)
        compare_stats(before, after, true);
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2;
    work();
    struct system_stats before = settled_stats(NULL);
    for (unsigned i = 0; i < rounds; i++)
        work();
    struct system_stats after = settled_stats(&before);
    check_given_back(&before, &after);
    return finish_tests();
}
