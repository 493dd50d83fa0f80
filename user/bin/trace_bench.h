/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_bench.h - `trace bench`: what logging each event costs; see trace_bench.c. */
#ifndef TRACE_BENCH_H
#define TRACE_BENCH_H

int bench_events(void); /* the exit status */

#endif
