/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/unit/trace/sum_test.c - tests that a packet's checksum detects damage, and identifies the packet. */
#include <stdlib.h>
#include <string.h>
#include <tests/tap.h>
#include <trace/format/layout.h>
#include <trace/format/sum.h>

#define WORDS  (TRACE_BUFFER_BYTES_MIN / 8)
#define ROUNDS 2000

static uint64_t packet[WORDS], changed[WORDS];

static uint64_t entry_of(const uint64_t *words, uint64_t number)
{
    struct trace_sum sum = {0};
    trace_sum_add(&sum, words, WORDS);
    return trace_sum_entry(&sum, number);
}

static bool is_told(void)
{
    return entry_of(changed, 7) != entry_of(packet, 7);
}

static bool every_bit_counts(void)
{
    bool told = true;
    for (unsigned bit = 0; bit < WORDS * 64; bit += 61) {
        memcpy(changed, packet, sizeof(packet));
        changed[bit / 64] ^= 1ull << bit % 64;
        told &= is_told();
    }
    return told;
}

/* Overwrites a piece, with what lies elsewhere or with one byte. */
static bool pieces_count(bool moved)
{
    unsigned missed = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned size = 1 + (unsigned)random() % 512;
        unsigned to = (unsigned)random() % (WORDS - size), from = (unsigned)random() % (WORDS - size);
        memcpy(changed, packet, sizeof(packet));
        if (moved)
            memcpy(changed + to, packet + from, size * 8);
        else
            memset(changed + to, (int)random() & 0xff, size * 8);
        missed += memcmp(changed, packet, sizeof(packet)) != 0 && !is_told();
    }
    return missed == 0;
}

static bool order_counts(void)
{
    bool told = true;
    for (unsigned step = 0; step + 2 * TRACE_SUM_STEP <= WORDS; step += TRACE_SUM_STEP) {
        memcpy(changed, packet, sizeof(packet));
        memcpy(changed + step, packet + step + TRACE_SUM_STEP, TRACE_SUM_STEP * 8);
        memcpy(changed + step + TRACE_SUM_STEP, packet + step, TRACE_SUM_STEP * 8);
        told &= is_told();
    }
    return told;
}

static bool pieces_add_up(void)
{
    struct trace_sum sum = {0};
    for (unsigned at = 0; at < WORDS; at += 64)
        trace_sum_add(&sum, packet + at, 64);
    return trace_sum_entry(&sum, 7) == entry_of(packet, 7);
}

int main(void)
{
    srandom(4);
    for (unsigned i = 0; i < WORDS; i++)
        packet[i] = (uint64_t)random() << 32 ^ (uint64_t)random();
    check(every_bit_counts(), "a changed bit is detected");
    check(pieces_count(false), "an overwritten piece is detected");
    check(pieces_count(true), "a moved piece is detected");
    check(order_counts(), "swapped pieces are detected");
    check(pieces_add_up(), "a sum can be taken piece by piece");
    uint64_t entry = entry_of(packet, 7);
    check(trace_sum_is_of(entry, 7) && !trace_sum_is_of(entry, 7 + TRACE_SUMS) && !trace_sum_is_of(0, ~0ull),
          "an entry belongs to its packet, and no entry to none");
    return finish_tests();
}
