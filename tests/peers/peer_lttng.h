/* peer_lttng.h - the two events for LTTng-UST, whose header reads this file several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tarn_peer

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tests/peers/peer_lttng.h"

#if !defined(TESTS_PEERS_PEER_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TESTS_PEERS_PEER_LTTNG_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* clang-format off */
/* cppcheck-suppress unknownMacro */
LTTNG_UST_TRACEPOINT_EVENT(tarn_peer, one,
    LTTNG_UST_TP_ARGS(uint64_t, id),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, id, id)))

LTTNG_UST_TRACEPOINT_EVENT(tarn_peer, four,
    LTTNG_UST_TP_ARGS(uint64_t, a, uint64_t, b, uint64_t, c, uint64_t, d),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(uint64_t, a, a) lttng_ust_field_integer(uint64_t, b, b)
        lttng_ust_field_integer(uint64_t, c, c) lttng_ust_field_integer(uint64_t, d, d)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
