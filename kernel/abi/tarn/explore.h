/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tarn/explore.h - what programs and the exploring kernel (kernel/explore.h) agree on. The ordinary kernel
 * and its programs know nothing of it.
 */
#ifndef TARN_EXPLORE_H
#define TARN_EXPLORE_H

#include <stdbool.h>
#include <stdint.h>

/* ---- points: kernel/explore_runtime.c calls them, in the kernel and in programs ---------------------- */

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

/* ---- what a program asks: system_read(SYSTEM_EXPLORE, operation, ...) -------------------------------- */

#define SYSTEM_EXPLORE 0x78706c72u

enum explore_operation {
    EXPLORE_STRATEGY = 0, /* writes struct explore_strategy */
    EXPLORE_TURN = 1, /* the next points of the caller is to be perturbed. Result: EXPLORE_*, 0: not now */
    EXPLORE_TURN_HOT = 2, /* the same, briefly */
    EXPLORE_RACE = 3,     /* reads struct explore_race: to be told on the console */
};

/* Which of a program's accesses to memory are perturbed: kernel/explore.c, where it is drawn. */
struct explore_strategy {
    uint64_t seed; /* of this process */
    uint64_t gap, hot_mask, hot_rate;
};

/* How a thread lets others go on: for so many nanoseconds and, unless it sleeps, for so many of their turns.
 */
#define EXPLORE_NANOSECONDS(result) ((uint64_t)(result) >> 16)
#define EXPLORE_TURNS(result)       ((uint64_t)(result) >> 1 & 0x7fff)
#define EXPLORE_SLEEPS(result)      ((uint64_t)(result)&1)

struct explore_race {
    uint64_t address; /* what both access */
    uint64_t one_place, other_place;
    uint32_t one_flags, other_flags; /* enum explore_access */
};

#endif
