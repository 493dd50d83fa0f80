/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forger.c - logs invalid events among valid ones (tests/host/forger).
 *
 * Invalid events are reserved and committed like others, so only a reader that decodes the packet finds them:
 * an undeclared id, a wrong length, a time far ahead, no length. The valid events are numbered, so the test
 * knows which ones are missing.
 */
#include <stdio.h>
#include <unistd.h>

#define TRACE_DEFINE_FORGER
#include <app/forger.h>
#include <tarn/abi.h>
#include <trace/user.h>

#define OWN_EVENTS 20000 /* of this program's own class: several packets at once */
#define ROUNDS     12
#define GOOD_ONES  40
#define PACKET_GAP 9000 /* valid events between two invalid ones: more than a packet holds */

enum forgery { UNDECLARED_ID, SHORT_LENGTH, WRONG_TIME, NO_LENGTH, FORGERIES };

static const uint64_t *index_here(void)
{
    return &trace_control_of(arch_trace_ring())->index;
}

/* Logs a valid event, and changes its header where it lies. False: something else was logged meanwhile. */
static bool forge(enum forgery kind)
{
    const struct trace_info *info = arch_trace_info();
    const uint32_t words = kind == WRONG_TIME ? 2 : 5;
    const char *ring = arch_trace_ring();
    const uint64_t index = __atomic_load_n(index_here(), __ATOMIC_RELAXED);
    if (words == 2)
        trace_user_stopwatch_start(~0ull);
    else
        trace_user_values(~0ull, ~0ull, ~0ull, ~0ull);
    struct trace_header *event =
        (struct trace_header *)(ring + TRACE_BUFFERS_OFFSET +
                                (index >> (TRACE_INDEX_SHIFT - 3) & info->ring_mask));
    if (ring != arch_trace_ring() || event->length != words ||
        __atomic_load_n(index_here(), __ATOMIC_RELAXED) != index + TRACE_INDEX_STEP(words))
        return false;
    if (kind == WRONG_TIME)
        event->timestamp += 1u << 31;
    else
        event->id = TRACE_ID(TRACE_CLASS_USER, kind == UNDECLARED_ID ? 4000 : 3);
    if (kind == SHORT_LENGTH || kind == NO_LENGTH)
        event->length = kind == SHORT_LENGTH ? 3 : 0;
    return true;
}

int main(void)
{
    uint64_t number = 0;
    unsigned forged = 0;

    if (trace_register_schema(&trace_schema_forger) < 0)
        return 1;
    for (unsigned i = 0; i < OWN_EVENTS; i++)
        trace_forger_own(i);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < GOOD_ONES; i++)
            trace_user_stopwatch_start(number++);
        while (!forge((enum forgery)(round % FORGERIES)))
            usleep(1000);
        forged++;
        for (unsigned i = 0; i < PACKET_GAP; i++)
            trace_user_stopwatch_start(number++);
        usleep(20000); /* gives the pull time to keep up */
    }
    printf("forger: %u forged, %lu good\n", forged, number);
    return 0;
}
