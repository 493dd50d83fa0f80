/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_bench.h - `trace bench`: what logging each event costs; see trace_bench.c. */
#ifndef TRACE_BENCH_H
#define TRACE_BENCH_H

/* Measures the system's events, and, if `program` has words before its NULL, those of that program. Returns
 * the exit status. */
int bench_events(char **program);

#endif
