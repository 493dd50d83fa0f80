/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profiles_program.c - profiles of a program's own routines: counted by a macro and by
 * -finstrument-functions, and merged with the kernel's rows, which know in which routine of the program they
 * were entered.
 *
 * Booted with `profiles=1`.
 */
#include "start.h"
#include "tap.h"

#include <arch/trace.h>
#include <string.h>
#include <tarn/runtime.h>
#include <tarn/syscall.h>
#include <tests/guest/profiles_functions.h>
#include <user/tarnprof/routines.h>
#include <user/tarnprof/tarnprof.h>

#define CALLS  10u
#define ROUNDS 3u
#define SLEEPS 5u
#define MS     1000000ull

static void call_kernel(void)
{
    TARNPROF_ROUTINE("call_kernel");
    for (unsigned i = 0; i < CALLS; i++)
        sys_null();
}

static void sleep_often(void)
{
    TARNPROF_ROUTINE("sleep_often");
    for (unsigned i = 0; i < SLEEPS; i++)
        sys_thread_sleep(deadline_after(MS));
}

static void do_all(void)
{
    TARNPROF_ROUTINE("do_all");
    for (unsigned i = 0; i < ROUNDS; i++)
        call_kernel();
    sleep_often();
}

static void recurse(unsigned depth)
{
    TARNPROF_ROUTINE("recurse");
    if (depth)
        recurse(depth - 1);
}

/* The routine with that name, or function. */
static bool find(const char *name, const void *function, struct tarnprof_times *times)
{
    for (uint32_t number = 1; tarnprof_times(number, times); number++)
        if (name ? times->routine->name && !strcmp(times->routine->name, name)
                 : times->routine->function == function)
            return true;
    return false;
}

/* How often the kernel's routine was entered from the program's, by the calling thread. */
static uint64_t times_in(enum trace_routine_kind kind, uint64_t argument, uint32_t context)
{
    struct tarnprof profile = {0};
    uint64_t times = 0;
    while (tarnprof_next(&profile, TARNPROF_OWN) > 0) {
        const struct trace_profile_row *row = tarnprof_find(&profile, kind, argument, context);
        if (profile.head->of == TRACE_PROFILE_THREAD && profile.head->tid == arch_thread_block()->tid && row)
            times = row->ended;
    }
    tarnprof_free(&profile);
    return times;
}

static void test_macro(void)
{
    struct tarnprof_times all, kernel, sleeping;
    do_all();
    if (!find("do_all", NULL, &all) || !find("call_kernel", NULL, &kernel) ||
        !find("sleep_often", NULL, &sleeping)) {
        check(false, "the routines are known");
        return;
    }
    check(all.times == 1 && kernel.times == ROUNDS && sleeping.times == 1,
          "each call of a routine is counted");
    check(all.inclusive == all.raw + kernel.raw + sleeping.raw,
          "raw times add up to the outermost's, to the tick");
    check(kernel.inclusive == kernel.raw && kernel.least <= kernel.greatest,
          "a routine that calls none is only in itself");
    check(times_in(TRACE_ROUTINE_SYSCALL, SYS_null, kernel.routine->number) == ROUNDS * CALLS,
          "the kernel counts system calls in the routine that made them");
    check(times_in(TRACE_ROUTINE_SYSCALL, SYS_null, all.routine->number) == 0, "and not in its caller");
    check(times_in(TRACE_ROUTINE_OUT, THREAD_SLEEPING, sleeping.routine->number) == SLEEPS, "waits too");
    check(sleeping.out <= sleeping.raw && sleeping.kernel <= sleeping.raw - sleeping.out,
          "what the kernel and waits took is part of the raw time");
    check(sleeping.out > 0, "and known by routine");
    check(kernel.kernel > 0 && kernel.kernel + kernel.out < kernel.raw, "what is left is the routine's own");
}

static void test_recursion(void)
{
    struct tarnprof_times times;
    recurse(CALLS);
    check(find("recurse", NULL, &times) && times.times == CALLS + 1, "recursive calls are counted");
    check(times.inclusive == times.raw && times.inclusive == times.greatest, "their time is counted once");
}

static void *call_in_thread(void *unused)
{
    (void)unused;
    call_kernel();
    return NULL;
}

static void test_threads(void)
{
    struct tarnprof_times before, after;
    pthread_t thread;
    find("call_kernel", NULL, &before);
    start_thread(&thread, call_in_thread, NULL);
    pthread_join(thread, NULL);
    check(find("call_kernel", NULL, &after) && after.times == before.times + 1,
          "a thread's rows are kept when it ends");
}

static void test_functions(void)
{
    struct tarnprof_times times;
    for (unsigned i = 0; i < CALLS; i++)
        instrumented(i);
    check(find(NULL, (const void *)(uintptr_t)function_address(), &times) && times.times == CALLS,
          "functions are counted by their address");
    check(times_in(TRACE_ROUTINE_SYSCALL, SYS_null, times.routine->number) == CALLS, "and merged");
}

int main(void)
{
    test_macro();
    test_recursion();
    test_threads();
    test_functions();
    return finish_tests();
}
