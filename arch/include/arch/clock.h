/* arch/clock.h - time: one clock that all CPUs share, one deadline timer per CPU. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A source of the clock's rate: the true rate lies between `low` and `high`, both in Hz. */
struct arch_clock_source {
    const char *name;
    uint64_t low, high;
};

#define ARCH_CLOCK_NAMES_BYTES 48

struct arch_clock_rate {
    uint64_t hz;                        /* ticks per second; never 0 */
    uint32_t error_ppm;                 /* upper bound of the error of hz */
    bool is_certain;                    /* two sources agree, or the architecture fixes the rate */
    char names[ARCH_CLOCK_NAMES_BYTES]; /* the sources that hz is derived from, separated by blanks */
};

static inline uint64_t arch_clock(void);            /* ticks since some start; never decreases on any CPU */
void arch_clock_init(struct arch_clock_rate *rate); /* finds the rate; on the boot CPU, once */
/* For an arch_clock_init that measures the rate: sets the rate on which most sources agree
 * (arch/clock_agree.c). */
void arch_clock_agree(struct arch_clock_rate *rate, const struct arch_clock_source *sources, uint32_t count);
int64_t arch_wall_clock(void); /* seconds since 1970 from the machine's clock chip */
void arch_timer_init(void);    /* on each CPU */
/* Requests an interrupt (handle_timer) at `deadline` ticks or soon after, instead of the previous one. If it
 * has passed: at once. */
void arch_timer_set(uint64_t deadline);

struct arch_date {
    int64_t year, month, day, hour, minute, second;
};
int64_t arch_date_seconds(const struct arch_date *date); /* since 1970; for arch_wall_clock (arch/date.c) */

#include <port/clock.h>
