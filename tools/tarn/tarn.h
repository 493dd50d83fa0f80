/*
 * tarn.h - what every part of the host tool shares: subcommands, errors, memory.
 *
 * README.md lists the stages of the tool, each with one interface.
 *
 * A subcommand is one file with one struct command (options.h), listed in command/commands.c.
 *
 * No stage exits or prints. Bad input is returned as a `struct fail`, so that the fuzzer and the tests can
 * run everything in one process.
 */
#pragma once

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXIT_OK = 0, EXIT_DAMAGE = 1, EXIT_USAGE = 2 };

struct fail {
    char text[512];
};
bool fail_set(struct fail *fail, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints "tarn: MESSAGE" to stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fail_report(const struct fail *fail, int status); /* complains; returns STATUS */

/* Allocation never fails: out of memory ends the program. Callers bound sizes that depend on input. */
void *alloc_zero(size_t count, size_t size);
void *alloc_more(void *old, size_t count, size_t size);

/* Returns ITEMS, an array of SIZE elements of which COUNT are used, with space for one more. */
void *array_grow(void *items, size_t count, size_t *size, size_t bytes_of_one);

static inline uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}
static inline uint64_t sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The smallest AT from FROM on for which IS_SO holds, or else TO. It holds for all greater ones, too. */
#define FIRST_WHERE(from, to, at, is_so)             \
    ({                                               \
        uint64_t low_ = (from), high_ = (to);        \
        while (low_ < high_) {                       \
            uint64_t at = low_ + (high_ - low_) / 2; \
            if (is_so)                               \
                high_ = at;                          \
            else                                     \
                low_ = at + 1;                       \
        }                                            \
        low_;                                        \
    })

/* For qsort: by the uint64_t with which both begin. */
int compare_numbers(const void *left, const void *right);

/* Returns the structure of TYPE that contains *POINTER as its MEMBER. */
#define OUTER(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

/* Freed all at once. */
struct arena {
    struct arena_block *blocks;
};
void *arena_alloc(struct arena *arena, size_t size); /* zeroed */
/* array_grow in an arena, which keeps the old items. */
void *arena_grow(struct arena *arena, void *items, size_t count, size_t *size, size_t bytes_of_one);
char *arena_string(struct arena *arena, const char *text, size_t length);
void arena_free(struct arena *arena);

/* Writes the path of this program without its last UP parts. */
bool program_path(char *path, size_t size, unsigned up);
/* Finds a file of the source tree in which tarn was built (as build/host/tarn). */
bool source_file(const char *name, char path[PATH_MAX], struct fail *fail);

/* Shell pattern match (*, ?, [..]) over a whole name. */
bool match_glob(const char *pattern, const char *name);
/* Whether the pattern fits all words or the last one. */
bool match_words(const char *pattern, const char *words);
