/* settings.h - all that can be set of the trace, as random numbers say. */
#pragma once

#include <tests/guest/trace_help.h>

#define MINORS    16u
#define SAMPLE_NS 1000000ull /* between samples: the exploring kernel is slow */
#define SETTINGS  12u

static inline uint64_t some_event(uint64_t random)
{
    return (random % TRACE_CLASS_APP_FIRST) << 16 | (random >> 8) % MINORS;
}

/* One of SETTINGS kinds; `a`: how. Returns 0 or -E_*. */
static inline int64_t set_something(uint64_t kind, uint64_t a)
{
    static const uint64_t masks[] = {0, ~0ull, 0x5555555555555555ull, ~0ull << 8};
    switch (kind) {
    case 0:
    case 1:
        return a & 1 ? control(TRACE_OP_SET_MASK, masks[a >> 1 & 3], 0)
                     : control(TRACE_OP_SET_SWITCHES, (a >> 1) % TRACE_CLASS_COUNT, a & 128 ? ~0ull : a >> 8);
    case 2:
    case 3:
        return control(TRACE_OP_SET_ROUTINES, a % 3, 0);
    case 4:
        return control(TRACE_OP_SAMPLE_LOCKS, a & 1 ? ~0ull : (a >> 1) % 64,
                       a & 128 ? 1u << (a >> 8) % 5 : 0);
    case 5:
        control(TRACE_OP_BIND_COUNTERS, a & 1, 0);
        return control(TRACE_OP_SET_PROFILE, a & 2 ? 0 : SAMPLE_NS + (a >> 2) % SAMPLE_NS, 0);
    case 6:
        control(a & 1 ? TRACE_OP_SAMPLE_EVENTS : TRACE_OP_SET_THRESHOLD, some_event(a >> 1),
                (a >> 16) % 1000);
        return control(TRACE_OP_SET_LOW_WATER, (a >> 8) % 101, 0);
    case 7:
        return control(TRACE_OP_SET_GEOMETRY, 16384ull << a % 4, 4ull << (a >> 2) % 4);
    case 8:
        return control(TRACE_OP_SET_MODE, a % 3, 0);
    case 9:
        return control(TRACE_OP_BENCH, a & 1 ? some_event(a >> 1) : ~0ull, 0);
    case 10:
        return control(a & 1 ? TRACE_OP_CLEAR : TRACE_OP_STATEDUMP, 0, 0);
    default:
        return control(TRACE_OP_FLUSH, a & 1 ? ~0ull : (a >> 1) % arch_trace_info()->cpu_count, 0);
    }
}
