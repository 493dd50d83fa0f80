/* tap.h - results of tests in the guest, what many calls return, how often tests repeat themselves, and the
 * headers that most tests use. */
#pragma once

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <tarn/error.h>
#include <tarn/runtime.h>
#include <tests/tap.h>
#include <unistd.h>

/* Rounds of a test. With the exploring kernel a round takes longer, and fewer are enough: threads meet more
 * often. */
#ifdef TARN_EXPLORE
#define REPEATS(count) ((count) / 20)
#else
#define REPEATS(count) (count)
#endif

/* Whether all these calls return the same: errors of calls that are refused. */
#define all_return(expected, ...) \
    all_are(expected, (int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static inline bool all_are(int64_t expected, const int64_t *results, size_t count)
{
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        if (results[i] != expected)
            printf("# call %u: %ld instead of %ld\n", (unsigned)i, results[i], expected);
        good &= results[i] == expected;
    }
    return good;
}
