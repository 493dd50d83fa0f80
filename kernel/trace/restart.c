/* kernel/trace/restart.c - restarts interrupted blocks of logging; see restart.h. */
#include <kernel/trace/control.h>
#include <kernel/trace/restart.h>
#include <trace/ring/ring.h>

static uint64_t exit_of(uint64_t ip)
{
    return (ip | (TRACE_CELL_BYTES - 1)) + 1 - ARCH_TRACE_EXIT_BYTES;
}

uint64_t trace_restart(uint64_t ip)
{
    if (!trace_is_in_block(ip) || ip >= exit_of(ip))
        return ip;
    return ip & ~(uint64_t)(TRACE_CELL_BYTES - 1);
}

uint64_t trace_asked(uint64_t ip)
{
    if (!trace_ring_make_space())
        return exit_of(ip);
    trace_check_mark(); /* a packet may have been begun */
    return ip & ~(uint64_t)(TRACE_CELL_BYTES - 1);
}
