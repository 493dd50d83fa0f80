/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profiles_instructions.c - profiles that count instructions beside the time: a CPU without a counter
 * refuses; else routines of kernel and programs have as many as they execute, which add up to those of each
 * thread, and over all threads to what the CPU's counter says, to the last one.
 *
 * Booted with `profiles=1` on one CPU.
 */
#include "start.h"
#include "tap.h"

#include <arch/counter.h>
#include <arch/trace.h>
#include <pthread.h>
#include <string.h>
#include <tarn/error.h>
#include <tarn/runtime.h>
#include <tarn/syscall.h>
#include <tarn/trace_control.h>
#include <tests/guest/own_profile.h>
#include <user/tarnprof/routines.h>
#include <user/tarnprof/tarnprof.h>

#define CALLS    10u
#define SLEEPS   5u
#define LOOP     100000u
#define MS       1000000ull
#define ATTEMPTS 50

static struct tarnprof profile;

static int64_t switch_profiles(uint64_t level, uint64_t instructions)
{
    return sys_trace_control(SLOT_TRACE, TRACE_OP_SET_PROFILES, level, instructions);
}

/* What was counted of a routine so far; zeros: nothing. */
static struct trace_profile_row own_row(uint64_t key)
{
    const struct trace_profile_row *row =
        read_own(&profile, TRACE_PROFILE_THREAD) ? tarnprof_find_instructions(&profile, key) : NULL;
    return row ? *row : (struct trace_profile_row){0};
}

static uint64_t in_buckets(const struct trace_profile_row *row)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < TRACE_PROFILE_BUCKETS; i++)
        sum += row->times[i];
    return sum;
}

/* ---- routines of the kernel ---- */

static void test_syscalls(void)
{
    const uint64_t key = trace_routine_key(TRACE_ROUTINE_SYSCALL, SYS_null);
    const uint64_t before = own_row(key).ended;
    for (unsigned i = 0; i < CALLS; i++)
        sys_null();
    const struct trace_profile_row row = own_row(key);
    const struct trace_profile_row *time = tarnprof_find(&profile, TRACE_ROUTINE_SYSCALL, SYS_null, 0);
    check(row.ended - before == CALLS && time && time->ended == row.ended,
          "a system call is counted in instructions as often as in time");
    check(row.exclusive == row.inclusive && row.least > 10 && row.greatest < 10000 &&
              row.least <= row.inclusive / row.ended && row.inclusive / row.ended <= row.greatest,
          "it has as many as such a call executes: %u to %u", (unsigned)row.least, (unsigned)row.greatest);
    check(in_buckets(&row) == row.ended, "and a histogram");
}

static volatile bool stops, has_burnt;

static void *burn(void *unused)
{
    while (!stops)
        has_burnt = true;
    return unused;
}

/* Another thread runs meanwhile, whose instructions are not this one's. */
static void test_waits(void)
{
    pthread_t other;
    start_thread(&other, burn, NULL);
    while (!has_burnt)
        sys_thread_sleep(deadline_after(MS));
    const uint64_t key = trace_routine_key(TRACE_ROUTINE_SYSCALL, SYS_thread_sleep);
    const struct trace_profile_row before = own_row(key);
    for (unsigned i = 0; i < SLEEPS; i++)
        sys_thread_sleep(deadline_after(5 * MS));
    const struct trace_profile_row after = own_row(key);
    const struct trace_profile_row *out =
        tarnprof_find_instructions(&profile, trace_routine_key(TRACE_ROUTINE_OUT, THREAD_SLEEPING));
    stops = true;
    pthread_join(other, NULL);
    check(after.ended - before.ended == SLEEPS && after.inclusive - before.inclusive < SLEEPS * 20000,
          "a call that waits does not count what others execute: %u",
          (unsigned)(after.inclusive - before.inclusive));
    check(out && out->ended >= SLEEPS && out->inclusive == 0 && out->exclusive == 0,
          "a thread that does not run executes nothing");
}

/* ---- routines of the program ---- */

static __attribute__((noinline)) void loop(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        __asm__ volatile("" : "+r"(i)); /* or it would be unrolled */
}

static __attribute__((noinline)) uint32_t count_loop(unsigned rounds)
{
    const uint32_t begin = arch_instructions();
    loop(rounds);
    return arch_instructions() - begin;
}

static __attribute__((noinline)) void short_routine(void)
{
    TARNPROF_ROUTINE("short");
    loop(LOOP);
}

static __attribute__((noinline)) void long_routine(void)
{
    TARNPROF_ROUTINE("long");
    loop(2 * LOOP);
    sys_null();
}

/* Of a routine in that of the program which has a name. */
static struct trace_profile_row row_in(const char *name, uint64_t key)
{
    struct trace_routine_names names = {0};
    const int error = tarnprof_read_names(&names);
    const uint64_t number = error ? 0 : tarnprof_find_name(&names, name, NULL);
    tarnprof_free_names(&names);
    return own_row(key | number << TRACE_PROFILE_CONTEXT_SHIFT);
}

static struct trace_profile_row program_row(const char *name)
{
    return row_in(name, trace_routine_key(TRACE_ROUTINE_PROGRAM, 0));
}

/* Interrupts in it are not its own. */
static void test_program(void)
{
    const uint32_t expected = count_loop(2 * LOOP) - count_loop(LOOP);
    for (unsigned i = 0; i < CALLS; i++) {
        short_routine();
        long_routine();
    }
    const struct trace_profile_row one = program_row("short"), other = program_row("long");
    const struct trace_profile_row call = row_in("long", trace_routine_key(TRACE_ROUTINE_SYSCALL, SYS_null));
    const uint64_t more = (other.exclusive - one.exclusive) / CALLS;
    check(one.ended == CALLS && other.ended == CALLS, "routines of a program count instructions");
    check(more >= expected - expected / 1000 && more < expected + 1000,
          "a loop that is twice as long executes %u instructions more; %u are expected", (unsigned)more,
          (unsigned)expected);
    check(call.ended == CALLS && call.exclusive > CALLS * 10,
          "the kernel's routines know in which one it was");
    check(other.inclusive - other.exclusive >= call.inclusive && other.least > 2 * LOOP,
          "the inclusive ones have what the kernel executes in it");
}

/* ---- sums ---- */

static uint64_t exclusive_of_all(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < profile.head->rows; i++)
        if (trace_key_is_of_instructions(profile.rows[i].key) &&
            trace_routine_kind(profile.rows[i].key) != TRACE_ROUTINE_SERVED)
            sum += profile.rows[i].exclusive;
    return sum;
}

struct reading {
    uint32_t counter; /* right before the system call that copied the own profile */
    uint64_t all;     /* of all profiles */
    uint64_t own;
};

/* An interrupt in the middle would be in one of the two only; a switch is one, too. */
static struct reading read_all(void)
{
    struct reading reading = {0};
    profile.serial = 0;
    for (;;) {
        const uint32_t counter = arch_instructions();
        if (tarnprof_next(&profile, SLOT_TRACE) <= 0)
            return reading;
        const uint64_t sum = exclusive_of_all();
        reading.all += sum;
        if (profile.head->of == TRACE_PROFILE_THREAD && profile.head->tid == arch_thread_block()->tid) {
            reading.counter = counter;
            reading.own = sum;
        }
    }
}

static void test_sums(void)
{
    struct reading before = {0}, after = {0};
    uint32_t counted = 0;
    bool is_equal = false;
    for (int attempt = 0; attempt < ATTEMPTS && !is_equal; attempt++) {
        before = read_all();
        loop(LOOP);
        sys_thread_sleep(deadline_after(3 * MS)); /* others run, and the idle thread */
        after = read_all();
        counted = after.counter - before.counter;
        is_equal = after.all - before.all == counted;
    }
    check(after.own - before.own > LOOP && after.all - before.all > after.own - before.own,
          "exclusive instructions are those of threads");
    check(is_equal, "over all threads and idle they add up to what the CPU's counter says, to the last one");
    if (!is_equal)
        printf("# threads %llu, counter %u\n", (unsigned long long)(after.all - before.all),
               (unsigned)counted);
}

static void *call_null(void *unused)
{
    for (unsigned i = 0; i < CALLS; i++)
        sys_null();
    short_routine();
    return unused;
}

static void test_end(void)
{
    pthread_t thread;
    const uint64_t key = trace_routine_key(TRACE_ROUTINE_SYSCALL, SYS_null);
    const struct trace_profile_row *row = NULL;
    start_thread(&thread, call_null, NULL);
    pthread_join(thread, NULL);
    for (int attempt = 0; attempt < ATTEMPTS && !(row && row->ended == CALLS); attempt++) {
        sys_thread_sleep(deadline_after(MS)); /* it ends a little later than it is joined */
        row = read_own(&profile, TRACE_PROFILE_ENDED) ? tarnprof_find_instructions(&profile, key) : NULL;
    }
    check(row && row->ended == CALLS && row->exclusive > CALLS * 10 && exclusive_of_all() > LOOP,
          "they are kept at a thread's end");
}

/* ---- the switch ---- */

static bool has_instructions(void)
{
    bool any = false;
    read_own(&profile, TRACE_PROFILE_THREAD);
    for (uint32_t i = 0; i < profile.head->rows; i++)
        any = any || trace_key_is_of_instructions(profile.rows[i].key);
    return any;
}

static void test_switch(void)
{
    check(switch_profiles(1, 2) == -E_BAD_ARGUMENT, "only 0 and 1 switch instructions");
    check(!has_instructions(), "they are off unless they are wanted");
    const int64_t error = switch_profiles(1, 1);
    check(error == (arch_counts_instructions() ? 0 : -E_UNSUPPORTED),
          "instructions are counted if the CPU has a counter: %d", (int)error);
    sys_null();
    check(has_instructions() == arch_counts_instructions(), "else profiles go on without them");
}

static void test_off(void)
{
    check(switch_profiles(1, 0) == 0, "instructions are switched off");
    sys_null();
    check(!has_instructions() && tarnprof_find(&profile, TRACE_ROUTINE_SYSCALL, SYS_null, 0),
          "times are counted anew, alone");
}

int main(void)
{
    test_switch();
    if (arch_counts_instructions()) {
        test_syscalls();
        test_waits();
        test_program();
        test_sums();
        test_end();
    }
    test_off();
    tarnprof_free(&profile);
    return finish_tests();
}
