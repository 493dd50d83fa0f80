/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/event/bench.c - measures the cost of an application's events, in the program; see schema.h.
 *
 * trace/cost/dummies.h explains the measurement. The dummies are compiled with TRACE_SCRATCH: the code of
 * real events, with info page and ring in memory of the program, where all classes are on. The kernel
 * restarts blocks by their address, whatever ring they log to; interrupts only make single samples longer.
 *
 * A block that finds its time limit passed would ask the kernel for space in the real ring. So the clock's
 * upper half must not change while an event is measured.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tarn/abi.h>
#include <tarn/error.h>
#include <tarn/runtime.h>
#include <tarn/syscall.h>
#include <tarn/trace_control.h>

#include <arch/counter.h>
#include <trace/cost/dummies.h>
#include <trace/event/schema.h>
#include <trace/ring/ring.h>

#define SCRATCH_BYTES \
    (USER_TRACE_SCRATCH_RING + TRACE_BUFFER_BYTES_MIN + TRACE_SLACK_BYTES - USER_TRACE_SCRATCH)
#define TIME_NEEDED (1u << 28) /* ticks: a sample takes thousands */

/* NULL: no memory. */
static struct trace_control *map_scratch(void)
{
    struct trace_info *info = (struct trace_info *)USER_TRACE_SCRATCH;
    if (mmap(info, SCRATCH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
        info)
        return NULL;
    memcpy(info, arch_trace_info(), sizeof *info);
    info->mask = ~0ull;
    memset(info->switches, 0xff, sizeof info->switches);
    memset(info->app_limit, 0, sizeof info->app_limit);
    *(uint64_t *)USER_TRACE_SCRATCH_LAST = USER_TRACE_SCRATCH_RING;
    return (struct trace_control *)(USER_TRACE_SCRATCH_RING - sizeof(struct trace_control));
}
_Static_assert(sizeof(struct trace_info) <= USER_TRACE_SCRATCH_LAST - USER_TRACE_SCRATCH,
               "both fit in the page");

static void wait_for_time(void)
{
    while ((uint32_t)arch_trace_clock() > UINT32_MAX - TIME_NEEDED)
        ;
}

static int64_t report(uint32_t id, const struct trace_figures *figures)
{
    int64_t error = sys_trace_control(SLOT_TRACE, TRACE_OP_SET_COST, id,
                                      figures->ticks[0] | (uint64_t)figures->ticks[1] << 32);
    if (!error && arch_counts_instructions())
        error = sys_trace_control(SLOT_TRACE, TRACE_OP_SET_COST, id | TRACE_COST_INSTRUCTIONS,
                                  figures->instructions[0] | (uint64_t)figures->instructions[1] << 32);
    return error;
}

int trace_bench_schema(const struct trace_schema *schema)
{
    struct trace_figures figures;
    int64_t error = 0;
    if (!schema->dummies)
        return -E_UNSUPPORTED;
    struct trace_control *scratch = map_scratch();
    if (!scratch)
        return -E_NO_MEMORY;
    for (const struct trace_dummy *dummy = schema->dummies; !error && dummy->log; dummy++) {
        wait_for_time();
        if (trace_measure(&figures, dummy->log, scratch))
            error = report(TRACE_ID(*schema->class_number, dummy->minor), &figures);
    }
    munmap((void *)USER_TRACE_SCRATCH, SCRATCH_BYTES);
    return (int)error;
}
