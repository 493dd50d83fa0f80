/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/net/stack.h - lwIP on a device: start, time, and what must happen after each round of work.
 */
#ifndef NET_STACK_H
#define NET_STACK_H

#include <lwip/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>

/* Bits of the server's notification. */
#define NET_BIT_DEVICE 1u
#define NET_BIT_TIMER  2u

bool start_stack(cap_t notification); /* false: no device */
void handle_bits(uint64_t bits);
/* After every request or notification: due timers run, the device hears of what was queued. */
void settle_stack(void);
/* A connection stands: lets its segments be as large as the way to its peer bears. */
void tune_connection(struct tcp_pcb *pcb);
void read_interface(uint64_t word[4]);  /* as NET_INTERFACE answers */
void read_statistics(uint64_t word[4]); /* as NET_STATISTICS answers */

#endif
