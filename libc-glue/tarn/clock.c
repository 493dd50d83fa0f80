/* clock.c - time without system calls, from the CPU's clock and the trace info page. */
#include "internal.h"

#include <arch/trace.h>
#include <trace/format/layout.h>

#define NS_PER_SECOND 1000000000ull

static const struct trace_info *trace_info(void)
{
    return (const struct trace_info *)USER_TRACE_INFO;
}

/* Split to avoid overflow: the remainder is below clock_hz, which is far below 2^34. */
uint64_t clock_monotonic_ns(void)
{
    uint64_t ticks = arch_trace_clock(), hz = trace_info()->clock_hz;
    return ticks / hz * NS_PER_SECOND + ticks % hz * NS_PER_SECOND / hz;
}

int64_t clock_realtime_offset(void)
{
    return trace_info()->clock_offset_ns;
}

int64_t clock_realtime_ns(void)
{
    return (int64_t)clock_monotonic_ns() + clock_realtime_offset();
}
