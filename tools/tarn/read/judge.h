/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/read/judge.h - what is wrong with a trace as a whole, and no packet tells.
 *
 * Files that are no streams, two files of one processor, processors without a file: trace_open has found
 * these. Clocks that disagree show by causality, as the kernel logs each of these before the next one can
 * happen:
 *
 *   - an IPC call's four ends, which have one id. If a call is received before it is made, the clock of the
 *     caller's processor is ahead, by that time at least;
 *   - a new thread is woken, and then runs;
 *   - a thread leaves one processor, and then runs on another. If it runs on both at once, one of the two
 *     clocks is ahead.
 *
 * And whether the pull ended early: a loss of unknown size, after the earliest end of a stream.
 */
#ifndef TARN_JUDGE_H
#define TARN_JUDGE_H

#include <tools/tarn/read/decode.h>

#define JUDGE_BYTES (32ull << 20) /* for who must not read it all: half at the begin, half at the end */

/* Tells REPORTER. Of longer traces only BYTES are looked at for clocks. */
void trace_judge(const struct trace *trace, uint64_t bytes, struct reporter *reporter);

#endif
