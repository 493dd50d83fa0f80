/*
 * steered.c - chooses names, addresses and orders so that look-ups become slow, if that is possible. It boots
 * with -icount on one CPU, so the clock counts instructions: each kind of call must cost about as much among
 * thousands of maliciously chosen objects as among a few.
 */
#include "tap.h"
#include "wait.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define FEW       10u
#define MAPPINGS  20000u
#define NAMES     2000u
#define HASH_BITS 11u /* 2^11 > NAMES */
#define TRIES     8u  /* the cheapest counts: others were interrupted */

/* A balanced tree of 20,000 is four times as deep as one of ten, and the descent is only a part of a call. A
 * list would be 2,000 times as long. */
static void compare(uint64_t many, uint64_t few, const char *what)
{
    check(many < 2 * few, "%s: %lu instructions among a few, %lu among many", what, few, many);
}

static uint64_t cost_of(void (*call)(const char *), const char *name)
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < TRIES; i++) {
        uint64_t start = (uint64_t)clock_monotonic_ns();
        call(name);
        uint64_t cost = (uint64_t)clock_monotonic_ns() - start;
        least = cost < least ? cost : least;
    }
    return least;
}

static void *map_page(size_t pages)
{
    return mmap(NULL, pages * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void map_and_unmap(const char *unused)
{
    munmap(map_page(2), 2 * 4096);
}

/* Leaves one free page after each mapping, too small for the measured mappings. */
static void steer_mappings(void)
{
    uint64_t few = 0;
    for (unsigned i = 0; i < MAPPINGS; i++) {
        if (i == FEW)
            few = cost_of(map_and_unmap, NULL);
        map_page(1);
    }
    compare(cost_of(map_and_unmap, NULL), few, "mapping two pages among mappings with holes of one");
}

static uint32_t fnv1a(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    return hash;
}

/* Advances to the next word of the same length, in alphabetical order. */
static void next_word(char *word)
{
    char *last = word + strlen(word) - 1;
    while (*last == 'z')
        *last-- = 'a';
    ++*last;
}

/* Advances to the next name that a common hash puts into the same bucket as the others. */
static void next_name(char *path)
{
    char *name = strrchr(path, '/') + 1;
    do
        next_word(name);
    while (fnv1a(name) % (1u << HASH_BITS));
}

static void look_up(const char *name)
{
    struct stat status;
    stat(name, &status);
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
            few = cost_of(look_up, first);
    }
    compare(cost_of(look_up, first), few, "looking up a name among names with the same hash");
}

int main(void)
{
    steer_mappings();
    steer_names();
    return finish_tests();
}
