/* tests/peers/peer_none.c - logs nothing: what the others cost besides. With PEER_CLOCK it reads the clock,
 * as each event of Tarn does. */
#include "peer.h"
#include <arch/trace.h>

#ifdef PEER_CLOCK
#define STATEMENT arch_trace_clock()
#else
#define STATEMENT __asm__ volatile("")
#endif

PEER_LOOP(log_any, STATEMENT)

static const char *begin(void)
{
    return NULL;
}

static const char *end(const char *directory, const uint64_t logged[PEER_THREADS])
{
    return NULL;
}

const struct peer peer = {
#ifdef PEER_CLOCK
    .name = "clock",
#else
    .name = "none",
#endif
    .begin = begin,
    .one = log_any,
    .four = log_any,
    .end = end,
};
