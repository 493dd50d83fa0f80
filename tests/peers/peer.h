/*
 * tests/peers/peer.h - one of the ways to log that `make bench-peers` compares: a shared object with a struct
 * peer of this name.
 *
 * An event carries a number, alone or in the first of four words, which has its thread in the upper bits.
 * Each thread counts its own numbers, so a reader of the trace knows what must be there.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PEER_THREADS           2u
#define PEER_NUMBER(thread, n) ((uint64_t)(thread) << 40 | (n))

typedef void peer_work(void);
/* Logs `count` events with the numbers from `first` on, after one piece of work each, if there is work. */
typedef void peer_loop(uint64_t first, uint64_t count, peer_work *work);

struct peer {
    const char *name;
    const char *(*begin)(void);         /* NULL: begun; or a reason */
    peer_loop *one, *four;              /* words */
    bool (*end)(const char *directory); /* leaves the trace there; NULL: others do that */
};

extern __attribute__((visibility("default"))) const struct peer peer;

/* The loops, from a statement that logs number n. Not one loop for both: the test for work would count. */
#define PEER_LOOP(name, statement)                                                                    \
    static __attribute__((noinline)) void name##_with_work(uint64_t n, uint64_t end, peer_work *work) \
    {                                                                                                 \
        for (; n < end; n++) {                                                                        \
            work();                                                                                   \
            statement;                                                                                \
        }                                                                                             \
    }                                                                                                 \
    static void name(uint64_t first, uint64_t count, peer_work *work)                                 \
    {                                                                                                 \
        const uint64_t end = first + count;                                                           \
        if (work)                                                                                     \
            name##_with_work(first, end, work);                                                       \
        else                                                                                          \
            for (uint64_t n = first; n < end; n++)                                                    \
                statement;                                                                            \
    }
