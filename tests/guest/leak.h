/* leak.h - checks that page frames and kernel objects were freed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tarn/runtime.h>

static inline struct system_stats read_stats(void)
{
    struct system_stats stats = {0};
    sys_system_read(SYSTEM_STATS, 0, &stats, sizeof stats);
    return stats;
}

/* Another program makes and ends spaces meanwhile (tests/guest/explore_again.c): nothing can be compared. */
static inline bool is_disturbed(void)
{
    return getenv("EXPLORE_CONTROL") != NULL;
}

/* Waits until the numbers are stable, because processes killed before may still be ending. */
static inline struct system_stats quiet_stats(void)
{
    struct system_stats last = read_stats();
    for (int quiet = 0, turn = 0; quiet < 10 && turn < 300 && !is_disturbed(); turn++) {
        sys_thread_sleep(deadline_after(10000000));
        struct system_stats now = read_stats();
        bool same = now.frames_free == last.frames_free && now.spaces == last.spaces &&
                    now.threads == last.threads && now.memories == last.memories;
        quiet = same ? quiet + 1 : 0;
        last = now;
    }
    return last;
}

/* The first output of a program costs memory here and in the servers, so it comes before counting. */
static inline struct system_stats first_stats(void)
{
    printf("# counting page frames and objects\n");
    fflush(stdout);
    return quiet_stats();
}

/* Page frames that servers may allocate once meanwhile, for heaps and page tables, and objects of memory. A
 * kernel leak repeats in every round of a test, so it is larger. A test whose programs make servers keep more
 * defines them before; there servers may also have given back what they still kept when it was counted. */
#ifndef FRAMES_OF_SERVERS
#define FRAMES_OF_SERVERS   8u
#define MEMORIES_OF_SERVERS 0u
#endif

static inline uint64_t frames_in_stock(const struct system_stats *stats)
{
    return stats->frames_free + stats->slab_frames;
}

/* Page frames that slabs have allocated are no leak: they are freed later than the objects (kernel_frames.c
 * waits for them). */
static inline bool compare_stats(const struct system_stats *before, const struct system_stats *after,
                                 bool print)
{
    struct {
        const char *name;
        uint64_t before, after, more;
    } pairs[] = {
        {"spaces", before->spaces, after->spaces, 0},
        {"threads", before->threads, after->threads, 0},
        {"endpoints", before->endpoints, after->endpoints, 0},
        {"notifications", before->notifications, after->notifications, 0},
        {"memory objects", before->memories, after->memories, MEMORIES_OF_SERVERS},
        {"interrupts", before->irqs, after->irqs, 0},
        {"saved replies", before->replies, after->replies, 0},
        {"mappings", before->mappings, after->mappings, MEMORIES_OF_SERVERS},
    };
    const uint64_t was = frames_in_stock(before), is = frames_in_stock(after);
    bool same =
        is > was ? MEMORIES_OF_SERVERS || is - was <= FRAMES_OF_SERVERS : was - is <= FRAMES_OF_SERVERS;
    if (!same && print)
        printf("# frames: %lu before, %lu after\n", was, is);
    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (pairs[i].before == pairs[i].after ||
            (pairs[i].more && pairs[i].after <= pairs[i].before + pairs[i].more))
            continue;
        if (print)
            printf("# %s: %lu before, %lu after\n", pairs[i].name, pairs[i].before, pairs[i].after);
        same = false;
    }
    return same;
}

/* Waits patiently, because ending takes a moment, longer on a busy host. Prints remaining differences. */
static inline bool same_stats_soon(const struct system_stats *before)
{
    if (is_disturbed())
        return true;
    struct system_stats after = read_stats();
    for (int i = 0; i < 1500 && !compare_stats(before, &after, false); i++) {
        sys_thread_sleep(deadline_after(10000000));
        after = read_stats();
    }
    return compare_stats(before, &after, true);
}
