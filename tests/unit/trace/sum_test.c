/* tests/unit/trace/sum_test.c - tests that a packet's checksum detects damage, and identifies the packet. */
#include <tests/tap.h>
#include <trace/format/layout.h>
#include <trace/format/sum.h>

#define WORDS  (TRACE_BUFFER_BYTES_MIN / 8)
#define ROUNDS 20000

static uint64_t packet[WORDS], changed[WORDS];

static uint64_t entry_of(const uint64_t *words, uint64_t number)
{
    struct trace_sum sum = {0};
    trace_sum_add(&sum, words, WORDS);
    return trace_sum_entry(&sum, number);
}

/* One of: a bit, a piece with what lies elsewhere or with one byte, two pieces that change places. */
static void damage(unsigned round)
{
    const unsigned size = 1 + (unsigned)random() % 512, to = (unsigned)random() % (WORDS - size),
                   from = (unsigned)random() % (WORDS - size),
                   step = (unsigned)random() % (WORDS / TRACE_SUM_STEP - 1) * TRACE_SUM_STEP;
    memcpy(changed, packet, sizeof(packet));
    switch (round % 4) {
    case 0:
        changed[to] ^= 1ull << random() % 64;
        break;
    case 1:
        memcpy(changed + to, packet + from, size * 8);
        break;
    case 2:
        memset(changed + to, (int)random() & 0xff, size * 8);
        break;
    default:
        memcpy(changed + step, packet + step + TRACE_SUM_STEP, TRACE_SUM_STEP * 8);
        memcpy(changed + step + TRACE_SUM_STEP, packet + step, TRACE_SUM_STEP * 8);
    }
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
    unsigned missed = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        damage(round);
        missed += memcmp(changed, packet, sizeof(packet)) != 0 && entry_of(changed, 7) == entry_of(packet, 7);
    }
    check(missed == 0, "changed bits, and pieces that are overwritten or moved, are detected");
    check(pieces_add_up(), "a sum can be taken piece by piece");
    uint64_t entry = entry_of(packet, 7);
    check(trace_sum_is_of(entry, 7) && !trace_sum_is_of(entry, 7 + TRACE_SUMS) && !trace_sum_is_of(0, ~0ull),
          "an entry belongs to its packet, and no entry to none");
    return finish_tests();
}
