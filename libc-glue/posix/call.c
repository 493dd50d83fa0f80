/* call.c - logs and counts entry and exit of POSIX calls; see call.h. */
#include "call.h"

void log_call_entry(enum trace_libc_libc_call call, uint64_t a, uint64_t b)
{
    trace_libc_entry(call, arch_thread_block()->tid, a, b);
    if (routines_are_counted())
        routine_enter(TRACE_CONTEXT_CALLS - 1 + call);
}

void log_call_exit(enum trace_libc_libc_call call, int64_t result)
{
    if (routines_are_counted())
        routine_leave();
    trace_libc_exit(call, arch_thread_block()->tid, result);
}

void log_call_path(enum trace_libc_libc_call call, const char *path)
{
    trace_libc_path(call, arch_thread_block()->tid, path);
}
