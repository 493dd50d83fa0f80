/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user/test/load.c - everyday work on many processors, again and again: it ends well, and what it used is
 * given back.
 *
 *     load [rounds]
 *
 * The first round fills caches that stay (of the servers, of the allocators); what follows must not grow.
 */
#include "leak.h"
#include "tap.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Servers' heaps fragment and grow by a memory object now and then, and their page tables grow until each
 * window's address was used once. Far less than one for each of the hundreds of processes of a round. */
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
    CHECK(run((char *[]){"sdet", "-n", "16", NULL}), "sixteen shells at once");
    CHECK(run((char *[]){"lockstorm", "16", "500", NULL}), "sixteen threads and a lock");
    CHECK(run((char *[]){"market", "8", "100", NULL}), "eight clients and a server");
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

/* Once nothing changes any more: the dead take a moment to go, and servers give windows back late. */
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
    CHECK(objects, "as many kernel objects as before");
    uint64_t lost = frames_of(before) > frames_of(after) ? frames_of(before) - frames_of(after) : 0;
    CHECK(lost <= FRAMES_SPARE, "frames are back");
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
