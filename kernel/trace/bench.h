/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/trace/bench.h - costs of logging events; see bench.c.
 *
 * trace_lock: trace_bench and trace_set_cost take it, trace_bench_write needs it.
 */
#ifndef KERNEL_TRACE_BENCH_H
#define KERNEL_TRACE_BENCH_H

#include <stdint.h>
#include <trace/format/text.h>

/* Measures the event ID (TRACE_ID). 0, or -E_NOT_FOUND: there is none, or this kernel does not log it. */
int64_t trace_bench(uint64_t id);
/* TRACE_OP_SET_COST: a program's measurement of an event of its own. */
int64_t trace_set_cost(uint64_t what, uint64_t figures);
/* Writes the results as a part of the metadata. */
void trace_bench_write(struct trace_text *text);
/* registry.c: adds them to the metadata, in place of earlier ones. -E_TOO_LARGE: no space. */
int64_t trace_add_costs(void);

#endif
