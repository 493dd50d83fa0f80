/* tests/peers/peer_lttng.c - LTTng-UST. A session that records its events must have been started (bench). */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "peer_lttng.h"
#include "peer.h"
#include <unistd.h>

PEER_LOOP(log_one, lttng_ust_tracepoint(tarn_peer, one, n))
PEER_LOOP(log_four, lttng_ust_tracepoint(tarn_peer, four, n, n + 1, n + 2, n + 3))

static const char *begin(void)
{
    for (unsigned i = 0; i < 100; i++) {
        if (lttng_ust_tracepoint_enabled(tarn_peer, one) && lttng_ust_tracepoint_enabled(tarn_peer, four))
            return NULL;
        usleep(100000);
    }
    return "no session of LTTng records the events";
}

const struct peer peer = {
    .name = "lttng", .begin = begin, .one = log_one, .four = log_four}; /* bench writes its trace */
