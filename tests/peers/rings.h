/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/peers/rings.h - Tarn's logging path in a process of Linux: rings, and a trace directory of them.
 *
 * A ring for each CPU of the machine, in memory that the process shares with nobody. Every thread may log,
 * with no preparation. Reading is for times at which no thread logs.
 *
 * Two disciplines (trace/ring/README.md): restart.h with the blocks as restartable sequences of Linux,
 * rseq(2), and cas.h. ask.c is what the first needs besides.
 */
#ifndef TESTS_PEERS_RINGS_H
#define TESTS_PEERS_RINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/ring/read.h>

/* NULL, or why there are no rings. The memory around the rings is not mapped. Called again: new, empty ones.
 */
const char *host_rings_open(uint64_t buffer_bytes, uint64_t buffer_count, enum trace_mode mode);
uint32_t host_cpus(void);
/* Events since the begin, as the indices say, with heartbeats. */
uint64_t host_events(void);
uint64_t host_discarded(void); /* events */
uint64_t host_torn(void);      /* words */
/* Ticks per second, measured once. */
uint64_t host_clock_hz(void);

/* Closes the open packets, and makes a trace directory of all rings. False: a packet is not whole, or cannot
 * be written. */
bool host_rings_write(const char *directory);

#endif
