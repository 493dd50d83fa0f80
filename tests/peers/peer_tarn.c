/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/peers/peer_tarn.c - Tarn's logging path in a process of Linux, in the discipline that it is compiled
 * for. */
#include "peer.h"
#include "rings.h"
#include <trace/user.h>

#define BUFFER_BYTES (64u << 10) /* bench gives LTTng the same */
#define BUFFERS      16u

PEER_LOOP(log_one, trace_user_stopwatch_start(n))
PEER_LOOP(log_four, trace_user_values(n, n + 1, n + 2, n + 3))

static uint64_t first_tick;

static const char *begin(void)
{
    first_tick = arch_trace_clock();
    return host_rings_open(BUFFER_BYTES, BUFFERS, TRACE_MODE_FLIGHT);
}

/* Each CPU logs a heartbeat when the upper half of the clock changes; this is the most there can be. */
static uint64_t heartbeats_max(void)
{
    return host_cpus() * (((arch_trace_clock() - first_tick) >> 32) + 1);
}

static const char *end(const char *directory, const uint64_t logged[PEER_THREADS])
{
    uint64_t expected = 0;
    for (uint32_t thread = 0; thread < PEER_THREADS; thread++)
        expected += logged[thread];
    host_info.mask = 0;
    if (!host_rings_write(directory))
        return "a packet is not whole, or could not be written";
    if (host_events() < expected || host_events() > expected + heartbeats_max())
        return "the indices count another number of events";
    return host_discarded() || host_torn() ? "events were discarded" : NULL;
}

const struct peer peer = {
#ifdef TRACE_CAS
    .name = "tarn, compare-and-swap",
#else
    .name = "tarn, restartable",
#endif
    .begin = begin,
    .one = log_one,
    .four = log_four,
    .end = end,
};
