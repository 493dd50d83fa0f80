/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/clock.h - time: one clock that all processors agree on, one deadline timer per processor.
 */
#ifndef ARCH_CLOCK_H
#define ARCH_CLOCK_H

#include <stdint.h>

static inline uint64_t arch_clock(void); /* ticks since some start; never runs backwards on any processor */
uint64_t arch_clock_init(void);          /* finds the rate; ticks per second. Boot processor, once */
int64_t arch_wall_clock(void);           /* seconds since 1970 from the machine's clock chip */
void arch_timer_init(void);              /* on each processor */
/* An interrupt (handle_timer) at `deadline` ticks or soon after; replaces the last one. Past: at once. */
void arch_timer_set(uint64_t deadline);

struct arch_date {
    int64_t year, month, day, hour, minute, second;
};
int64_t arch_date_seconds(const struct arch_date *date); /* since 1970; for arch_wall_clock (arch/date.c) */

#include <port/clock.h>
#endif
