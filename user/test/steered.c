/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user/test/steered.c - a program chooses its names, addresses and orders such that look-ups become long, if
 * they can. It boots with -icount on one processor, so the clock counts instructions: each kind of call must
 * cost about as much beside thousands of objects that were chosen with malice as beside a few.
 */
#include "tap.h"
#include "wait.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FEW       10u
#define MAPPINGS  20000u
#define NAMES     2000u
#define HASH_BITS 11u /* 2^11 > NAMES */
#define TRIES     8u  /* the cheapest counts: the others met an interrupt */

/* A balanced tree of 20,000 is four times as deep as one of ten, and going down it is a part of a call. A
 * list would be 2,000 times as long. */
static bool is_near(uint64_t many, uint64_t few)
{
    return many < 2 * few;
}

static void compare(uint64_t many, uint64_t few, const char *what)
{
    printf("# %s: %llu instructions beside a few, %llu beside many\n", what, (unsigned long long)few,
           (unsigned long long)many);
    CHECK(is_near(many, few), what);
}

/* ---- mappings --------------------------------------------------------------------------------------- */

static void *map_page(size_t pages)
{
    return mmap(NULL, pages * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static uint64_t cost_of_mapping(void)
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < TRIES; i++) {
        uint64_t start = (uint64_t)clock_monotonic_ns();
        void *two = map_page(2);
        uint64_t cost = (uint64_t)clock_monotonic_ns() - start;
        least = cost < least ? cost : least;
        munmap(two, 2 * 4096);
    }
    return least;
}

/* Behind each mapping one page stays free, in which nothing finds room. */
static void steer_mappings(void)
{
    uint64_t few = 0;
    for (unsigned i = 0; i < MAPPINGS; i++) {
        if (i == FEW)
            few = cost_of_mapping();
        map_page(1);
    }
    compare(cost_of_mapping(), few, "mapping two pages beside mappings with holes of one");
}

/* ---- names ------------------------------------------------------------------------------------------ */

static uint32_t fnv1a(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    return hash;
}

/* The next of the words of that length, in the order of the alphabet. */
static void next_word(char *word)
{
    char *last = word + strlen(word) - 1;
    while (*last == 'z')
        *last-- = 'a';
    ++*last;
}

/* The next name that a usual hash throws into one bucket with the others. */
static void next_name(char *path)
{
    char *name = strrchr(path, '/') + 1;
    do
        next_word(name);
    while (fnv1a(name) % (1u << HASH_BITS));
}

static uint64_t cost_of_look_up(const char *name)
{
    uint64_t least = UINT64_MAX;
    struct stat status;
    for (unsigned i = 0; i < TRIES; i++) {
        uint64_t start = (uint64_t)clock_monotonic_ns();
        stat(name, &status);
        uint64_t cost = (uint64_t)clock_monotonic_ns() - start;
        least = cost < least ? cost : least;
    }
    return least;
}

static void steer_names(void)
{
    char first[64] = "", name[] = "/tmp/steered/aaaaaa";
    uint64_t few = 0;
    mkdir("/tmp/steered", 0777);
    for (unsigned i = 0; i < NAMES; i++) {
        next_name(name);
        close(open(name, O_WRONLY | O_CREAT, 0666));
        if (i == 0)
            strcpy(first, name);
        if (i == FEW)
            few = cost_of_look_up(first);
    }
    compare(cost_of_look_up(first), few, "looking up a name beside names of one hash");
}

int main(void)
{
    steer_mappings();
    steer_names();
    return finish_tests();
}
