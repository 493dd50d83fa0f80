/* stack.h - lwIP on a device: start, time, and what must happen after each round of work. */
#pragma once

#include <lwip/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>

/* Bits of the server's notification. */
#define NET_BIT_DEVICE 1u
#define NET_BIT_TIMER  2u

bool start_stack(cap_t notification); /* false: no device */
void handle_bits(uint64_t bits);
/* Called after every request or notification: runs due timers and tells the device of queued frames. */
void finish_round(void);
/* Called for a new connection: raises its segment size as far as the path to its peer allows. */
void tune_connection(struct tcp_pcb *pcb);
bool is_own_address(uint32_t ip);       /* or none, or loopback */
void read_statistics(uint64_t word[4]); /* the words of NET_STATISTICS's reply */

/* timer.c */
bool start_timer(cap_t notification);  /* receives NET_BIT_TIMER when lwIP's next timer is due */
void arm_timer(uint32_t milliseconds); /* from now */
