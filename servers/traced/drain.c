/* drain.c - marks in the trace what a pull's thread does; see drain.h. */
#include "drain.h"
#include <arch/runtime.h>
#include <trace/trace.h>

static uint32_t own_tid(void)
{
    return arch_thread_block()->tid;
}

void drain_begin(struct drain *drain, uint32_t cpu)
{
    if (drain->is_marked)
        return;
    *drain = (struct drain){.is_marked = true, .has_begun = true};
    trace_trace_drain_begin(own_tid(), cpu);
}

void drain_count(struct drain *drain, size_t bytes)
{
    drain->packets++;
    drain->bytes += bytes;
}

void drain_end(struct drain *drain, bool is_last)
{
    if (drain->is_marked || (is_last && drain->has_begun))
        trace_trace_drain_end(own_tid(), is_last, drain->packets, drain->bytes);
    drain->is_marked = false;
    drain->packets = drain->bytes = 0;
}
