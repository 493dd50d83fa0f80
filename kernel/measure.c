/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/measure.c - what a trace point costs in the kernel, for `make bench`: boot with measure=1.
 *
 * Under QEMU's -icount with one processor the clock ticks once per instruction, so a figure is the exact
 * number of instructions between two clock readings, less what the readings cost. user/bench/micro.c does the
 * same for programs and says more.
 */
#include <kernel/kernel.h>
#include <kernel/measure.h>
#include <trace/control/control.h>
#include <trace/user.h>

#define ROUNDS 100

/* The clock, put together here and now: the compiler must not finish it among the instructions that are
 * measured. */
static inline __attribute__((always_inline)) uint64_t read_clock(void)
{
    uint64_t now = arch_trace_clock();
    __asm__ volatile("" : "+r"(now)::"memory");
    return now;
}

/* One function each, so that a figure is that of a call site whose operands are in registers. */
static __attribute__((noinline)) uint64_t time_nothing(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t begin = read_clock();
    return arch_trace_clock() - begin;
}

static __attribute__((noinline)) uint64_t time_one_word(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t begin = read_clock();
    trace_user_stopwatch_start(a);
    return arch_trace_clock() - begin;
}

static __attribute__((noinline)) uint64_t time_four_words(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t begin = read_clock();
    trace_user_values(a, b, c, d);
    return arch_trace_clock() - begin;
}

static uint64_t least_of(uint64_t (*time)(uint64_t a, uint64_t b, uint64_t c, uint64_t d))
{
    uint64_t least = ~0ull;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t ticks = time(1, 2, 3, 4);
        least = ticks < least ? ticks : least;
    }
    return least;
}

static void report(const char *name, uint64_t ticks)
{
    log_line("bench: %s %llu instructions", name, (unsigned long long)ticks);
}

void measure_trace_points(void)
{
    char value[8];
    if (!boot_option("measure=", value, sizeof value))
        return;
    uint64_t overhead = least_of(time_nothing), mask = trace_info_page.mask;
    /* No other processor runs yet, so the mask may be written here; nothing but this is to be logged. */
    trace_info_page.mask = 0;
    report("trace.disabled.kernel", least_of(time_one_word) - overhead);
    trace_info_page.mask = 1ull << TRACE_CLASS_USER;
    report("trace.enabled1.kernel", least_of(time_one_word) - overhead);
    report("trace.enabled4.kernel", least_of(time_four_words) - overhead);
    trace_info_page.mask = mask;
}
