/* trace/event/sizes.h - sets the sizes of all rings. The kernel, which is not interrupted,
 * works in pieces; if the caller ends in between, the kernel completes the change. */
#pragma once

#include <tarn/runtime.h>
#include <tarn/trace_control.h>

#define TRACE_SIZES_TRIES   100u
#define TRACE_SIZES_WAIT_NS 10000000ull

/* `trace`: with RIGHT_WRITE. 0 or TRACE_OP_SET_GEOMETRY's error. Gives a consumer a second to take packets
 * that would not fit. */
static inline int64_t trace_set_sizes(cap_t trace, uint64_t buffer_bytes, uint64_t buffer_count)
{
    unsigned tries = 0;
    for (;;) {
        const int64_t result = sys_trace_control(trace, TRACE_OP_SET_GEOMETRY, buffer_bytes, buffer_count);
        if (result == 0 || (result < 0 && (result != -E_BUSY || ++tries == TRACE_SIZES_TRIES)))
            return result;
        if (result < 0)
            sys_thread_sleep(deadline_after(TRACE_SIZES_WAIT_NS));
    }
}
