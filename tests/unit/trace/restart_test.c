/*
 * tests/unit/trace/restart_test.c - tests the kernel's part of restartable logging (trace/ring/restart.c)
 * where no block is needed: how often it grants space.
 *
 * Blocks run in guests only: tests/host/interrupted stops them at every instruction.
 */
#include "ring_harness.h"
#include <trace/ring/restart.h>

#define ASKS 5000

/* Asks for space again and again, as a block does whose control page somebody changes; `pause` ticks apart.
 * Returns after how many grants an event was given up, or ASKS. */
static unsigned ask(uint64_t pause)
{
    for (unsigned grants = 0; grants < ASKS; grants++) {
        control_of_cpu(0)->bound = 0;
        jump_clock(pause);
        if (!trace_ring_make_space())
            return grants;
    }
    return ASKS;
}

static void test_asks(void)
{
    setup_rings(TRACE_BUFFER_BYTES_MIN, 4, TRACE_MODE_FLIGHT);
    const unsigned first = ask(10), second = ask(10);
    check(first > 10 && first < 1000 && second == first && control_of_cpu(0)->discarded == 2,
          "a block that asks without end gives up its event, which is counted: after %u grants", first);
    setup_rings(TRACE_BUFFER_BYTES_MIN, 4, TRACE_MODE_FLIGHT);
    check(ask(1 << 20) == ASKS && control_of_cpu(0)->discarded == 0, "one that asks now and then goes on");
}

/* A program has moved the limit beyond all times, in a packet without events: a block on a port that compares
 * upper halves asks until it is right. */
static void test_limit(void)
{
    setup_rings(TRACE_BUFFER_BYTES_MIN, 4, TRACE_MODE_FLIGHT);
    const uint64_t right = control_of_cpu(0)->time_limit;
    control_of_cpu(0)->time_limit += 1ull << 40;
    check(trace_ring_make_space() && control_of_cpu(0)->time_limit == right,
          "a wrong time limit is mended at once");
}

int main(void)
{
    test_asks();
    test_limit();
    return finish_tests();
}
