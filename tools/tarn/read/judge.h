/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * judge.h - finds what is wrong with a trace as a whole.
 *
 * trace_open has already noted files that are not streams, two files for one CPU, and CPUs without a file.
 * This adds clocks that disagree, which show as violated causality, because the kernel logs each of these
 * before the next can happen:
 *
 *     - The four ends of an IPC call share an id. If the receive is earlier than the call, the caller's
 *       clock is ahead, by at least that time.
 *     - A new thread is woken before it runs.
 *     - A thread leaves one CPU before it runs on another. If it runs on both at once, one of the two clocks
 *       is ahead.
 *
 * It also reports a pull that ended early: a loss of unknown size, after the earliest end of a stream.
 */
#ifndef TARN_JUDGE_H
#define TARN_JUDGE_H

#include <tools/tarn/read/decode.h>

/* for callers that must not read it all: half from the start, half from the end */
#define JUDGE_BYTES (32ull << 20)

/* Reports to REPORTER. Reads at most BYTES to compare clocks. */
void trace_judge(const struct trace *trace, uint64_t bytes, struct reporter *reporter);

/* Whether the clock counts the instructions of several CPUs together, as that of a deterministic machine
 * does: it advances for a CPU that is busy while others execute, too. */
bool trace_shares_clock(const struct trace *trace);

/* Returns the earliest end of a stream (ticks). Up to it, every stream has reported its losses, even if the
 * pull ended early. */
uint64_t trace_known_end(const struct trace *trace);

#endif
