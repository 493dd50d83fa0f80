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

/* False: no space left. */
static bool forge(enum forgery kind)
{
    const uint32_t id = TRACE_ID(TRACE_CLASS_USER, 3);
    struct trace_slot slot;
    const uint32_t words = kind == WRONG_TIME ? 2 : 4;
    if (!trace_reserve(&slot, words))
        return false;
    for (unsigned i = 0; i + 1 < words; i++)
        trace_put_64(&slot, i * 8, ~0ull);
    trace_store_header(slot.event, kind == UNDECLARED_ID ? TRACE_ID(TRACE_CLASS_USER, 4000) : id,
                       kind == SHORT_LENGTH ? 3
                       : kind == NO_LENGTH  ? 0
                                            : words,
                       slot.time + (kind == WRONG_TIME ? 1u << 31 : 0));
    __atomic_fetch_add(&slot.packet->committed, words, __ATOMIC_RELEASE); /* release 3 of reserve_cas.h */
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
    printf("forger: %u forged, %llu good\n", forged, (unsigned long long)number);
    return 0;
}
