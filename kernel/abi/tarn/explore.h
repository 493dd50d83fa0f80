/*
 * tarn/explore.h - what programs and the exploring kernel (kernel/cpu/explore.h) agree on. The ordinary
 * kernel and its programs know nothing of it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* ---- points: kernel/explore/explore_runtime.c calls them, in the kernel and in programs ---- */

enum explore_access { EXPLORE_READ = 0, EXPLORE_WRITE = 1, EXPLORE_ATOMIC = 2 };

extern bool explore_on; /* kernel: false before the first program, and when the machine ends */

/* The caller is about to access memory. place: the return address of the compiler's call. */
void explore_point(uint64_t address, uint64_t size, uint32_t flags, uint64_t place);

/* Two atomic accesses are no race; nor is a plain write that somebody reads atomically: of a word's size, it
 * is atomic, too. */
static inline bool explore_is_race(uint32_t one, uint32_t other, uint64_t size)
{
    if (one & other & EXPLORE_ATOMIC)
        return false;
    if ((one == EXPLORE_ATOMIC || other == EXPLORE_ATOMIC) && size <= sizeof(uint64_t))
        return false;
    return (one | other) & EXPLORE_WRITE;
}

/* Two places at which the same bytes are accessed. */
struct explore_pair {
    uint64_t one, other;
};

/* Notes a race of these places, in either order. False: known, or `most` are noted. Callers serialize. */
static inline bool explore_note_pair(struct explore_pair *told, uint32_t *count, uint32_t most, uint64_t one,
                                     uint64_t other)
{
    if (*count == most)
        return false;
    for (uint32_t i = 0; i < *count; i++)
        if ((told[i].one == one && told[i].other == other) || (told[i].one == other && told[i].other == one))
            return false;
    told[(*count)++] = (struct explore_pair){one, other};
    return true;
}

/* ---- what a program asks: system_read(SYSTEM_EXPLORE, operation, ...) -------------------------------- */

#define SYSTEM_EXPLORE 0x78706c72u

enum explore_operation {
    EXPLORE_STRATEGY = 0, /* writes struct explore_strategy */
    EXPLORE_TURN = 1,     /* perturb the caller's next points. Result: EXPLORE_*, 0: not now */
    EXPLORE_TURN_HOT = 2, /* the same, briefly */
    EXPLORE_RACE = 3,     /* reads struct explore_race: to be told on the console */
    /* Ends all ordinary programs but the first, and nothing is killed until one starts. Result: how many
     * there were, and dying servers. */
    EXPLORE_SETTLE = 4,
    /* `buffer`, EXPLORE_COVER_BYTES on whole pages, is where the process notes which code it executes. */
    EXPLORE_COVER = 5,
    /* Use the caller's authority over the trace. Result: EXPLORE_CONTROL_*, 0: not now */
    EXPLORE_CONTROL = 6,
};

/* Which of a program's accesses to memory are perturbed; drawn in kernel/explore/explore.c. */
struct explore_strategy {
    uint64_t seed; /* of this process */
    uint64_t gap, hot_mask, hot_rate;
    uint64_t device_rate; /* one access of N to what devices access, too */
};

/* A bit for each return address of calls that begin basic blocks: address / 4, modulo the number of bits. */
#define EXPLORE_COVER_BYTES 32768u

/* The first words of a freed page frame. */
#define EXPLORE_FREED 0xdeadf4a3e0000000ull

/* How long a thread yields: nanoseconds and, unless it sleeps, turns of others. */
#define EXPLORE_NANOSECONDS(result) ((uint64_t)(result) >> 16)
#define EXPLORE_TURNS(result)       ((uint64_t)(result) >> 1 & 0x7fff)
#define EXPLORE_SLEEPS(result)      ((uint64_t)(result)&1)

/* Random bits for the operation, and nanoseconds until the caller asks again. */
#define EXPLORE_CONTROL_RANDOM(result)      ((uint64_t)(result) >> 24)
#define EXPLORE_CONTROL_NANOSECONDS(result) ((uint64_t)(result)&0xffffff)

struct explore_race {
    uint64_t address; /* what both access */
    uint64_t one_place, other_place;
    uint32_t one_flags, other_flags; /* enum explore_access */
};
