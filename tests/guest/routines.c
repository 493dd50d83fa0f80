/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * routines.c - tables of routines: exclusive times add up to the threads' and the CPUs' times to the tick,
 * and a thread's and a process's table goes to its process and its parent. That each kind of routine is
 * counted as the trace says is tested by tests/host/routines_equal.
 *
 * Booted with `trace.routines=on`.
 */
#include "routine_tables.h"
#include "start.h"

#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <tarn/error.h>
#include <tarn/runtime.h>
#include <trace/fault.h>
#include <trace/ring/read.h>

#define CALLS     10u
#define MS        1000000ull
#define ATTEMPTS  50
#define SWITCHES  100u
#define READS     300u
#define ROWS_MANY 2000u /* more than a table has */

static uint64_t times_of(enum trace_routine_kind kind, uint64_t argument)
{
    return row_of(kind, argument, 0).ended;
}

static uint64_t own_times(enum trace_routine_kind kind, uint64_t argument)
{
    return read_own(TRACE_ROUTINES_THREAD) ? times_of(kind, argument) : UINT64_MAX;
}

/* ---- sums -------------------------------------------------------------------------------------------------
 */

static uint64_t time_out(void)
{
    return trace_routines_time(table.rows, table.head->rows, TRACE_ROUTINE_OUT);
}

/* What the scheduler counts, and what the switches count, were measured apart. A thread that runs on another
 * CPU may be switched away from while it is read. */
static void test_thread_sums(unsigned least)
{
    unsigned routines = 0, right = 0, sound = 0;
    table.serial = 0;
    while (next(SLOT_TRACE)) {
        routines++;
        right += table.head->life - time_out() == table.head->ran;
        sound += adds_up();
        if (table.head->life - time_out() != table.head->ran)
            printf("# %s/%u of %u: life %llu, out %llu, ran %llu\n", table.head->name,
                   (unsigned)table.head->tid, (unsigned)table.head->of, (unsigned long long)table.head->life,
                   (unsigned long long)time_out(), (unsigned long long)table.head->ran);
    }
    check(routines >= least, "all tables can be read: %u", routines);
    check(sound == routines, "exclusive times add up to each thread's life, and none is negative");
    check(right == routines,
          "without the time in which it did not run, to what the scheduler counts, to the tick");
}

/* Over all threads, ended ones included, what ran is what the CPUs had: from each idle thread's birth, which
 * is its CPU's start, to the moment at which the thread that ran there was read. Only on this CPU is that
 * another thread than the idle one. Fails if a CPU switches threads meanwhile. */
static bool read_cpu_sums(uint64_t *ran, uint64_t *had)
{
    uint64_t own_until = 0, idle_until = 0;
    const uint32_t cpu = arch_thread_block()->cpu;
    *ran = *had = 0;
    table.serial = 0;
    while (next(SLOT_TRACE)) {
        const struct trace_routines *head = table.head;
        const bool is_thread = head->of == TRACE_ROUTINES_THREAD;
        *ran += head->ran;
        if (is_thread && head->tid == 0)
            *had += head->life;
        char idle[16];
        snprintf(idle, sizeof idle, "idle/%u", (unsigned)cpu);
        if (is_thread && head->tid == 0 && !strncmp(head->name, idle, sizeof idle))
            idle_until = head->until;
        if (is_thread && head->tid == arch_thread_block()->tid)
            own_until = head->until;
    }
    *had += own_until - idle_until;
    return arch_thread_block()->cpu == cpu;
}

static void test_cpu_sums(void)
{
    uint64_t ran = 0, had = 1;
    for (int attempt = 0; attempt < ATTEMPTS && ran != had; attempt++) {
        sys_thread_sleep(deadline_after(20 * MS)); /* until nothing else runs */
        if (!read_cpu_sums(&ran, &had))
            ran = had + 1;
    }
    check(ran == had, "over all threads and idle, times on CPUs add up to the CPUs' time, to the tick");
    if (ran != had)
        printf("# ran %llu, CPUs had %llu\n", (unsigned long long)ran, (unsigned long long)had);
}

/* ---- ends -------------------------------------------------------------------------------------------------
 */

/* A thread is joined shortly before it ends. */
static void wait_for_others(void)
{
    for (unsigned living = 2; living > 1;) {
        sys_thread_sleep(deadline_after(MS));
        living = 0;
        table.serial = 0;
        while (next(TARNPROF_OWN))
            living += table.head->of == TRACE_ROUTINES_THREAD;
    }
}

static void *call_null(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < CALLS; i++)
        sys_null();
    return NULL;
}

static void test_thread_end(void)
{
    pthread_t thread;
    wait_for_others();
    const uint64_t before = read_own(TRACE_ROUTINES_ENDED) ? times_of(TRACE_ROUTINE_SYSCALL, SYS_null) : 0,
                   threads = table.head ? table.head->threads : 0;
    start_thread(&thread, call_null, NULL);
    pthread_join(thread, NULL);
    wait_for_others();
    check(read_own(TRACE_ROUTINES_ENDED) && times_of(TRACE_ROUTINE_SYSCALL, SYS_null) - before == CALLS &&
              table.head->threads == threads + 1,
          "a thread's table is kept for its process when it ends");
}

static void test_process_end(void)
{
    char *const arguments[] = {"true", NULL};
    pid_t pid;
    int status = 1;
    const uint64_t threads = read_own(TRACE_ROUTINES_CHILDREN) ? table.head->threads : 0;
    check(posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, NULL) == 0 &&
              waitpid(pid, &status, 0) == pid && status == 0,
          "a child runs");
    check(read_own(TRACE_ROUTINES_CHILDREN) && table.head->threads == threads + 1 &&
              times_of(TRACE_ROUTINE_FAULT, TRACE_FAULT_ZERO) > 0,
          "a process's table is kept for its parent when it ends");
}

/* ---- the switch -------------------------------------------------------------------------------------------
 */

static void test_switch(void)
{
    check(switch_routines(3) == -E_BAD_ARGUMENT &&
              sys_trace_control(SLOT_TRACE, TRACE_OP_SET_ROUTINES, 1, 1) == -E_BAD_ARGUMENT,
          "only 0, 1 and 2 switch");
    check(switch_routines(0) == 0, "counting is switched off");
    const uint64_t off = own_times(TRACE_ROUTINE_SYSCALL, SYS_null);
    sys_null();
    check(own_times(TRACE_ROUTINE_SYSCALL, SYS_null) == off, "what happens then is not counted");
    check(switch_routines(1) == 0, "they are switched on again");
    sys_null();
    check(own_times(TRACE_ROUTINE_SYSCALL, SYS_null) == 1, "and begin anew");
    test_cpu_sums();
}

static atomic_bool stop;

static void *run_on(void *unused)
{
    while (!atomic_load(&stop))
        continue;
    return unused;
}

/* A thread that lives on has a table up to the moment at which they were switched off. */
static void test_end_while_off(void)
{
    pthread_t thread;
    wait_for_others();
    const bool had_any = read_own(TRACE_ROUTINES_ENDED);
    const uint64_t life = had_any ? table.head->life : 0, ran = had_any ? table.head->ran : 0,
                   threads = had_any ? table.head->threads : 0, since = arch_trace_clock();
    atomic_store(&stop, false);
    start_thread(&thread, run_on, NULL);
    sys_thread_sleep(deadline_after(5 * MS));
    switch_routines(0);
    const uint64_t counted = arch_trace_clock() - since;
    sys_thread_sleep(deadline_after(50 * MS));
    test_thread_sums(4);
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    wait_for_others();
    check(read_own(TRACE_ROUTINES_ENDED) && table.head->threads == threads + 1,
          "a thread that ends while routines are not counted hands on what was counted");
    check(table.head->life - life <= counted && table.head->life - life > MS / 2 && adds_up(),
          "up to the moment at which they were switched off: %llu of %llu ticks",
          (unsigned long long)(table.head->life - life), (unsigned long long)counted);
    check(table.head->life - time_out() == table.head->ran && table.head->ran - ran < counted,
          "its time on CPUs, too");
    check(switch_routines(1) == 0, "they are switched on again");
}

/* Takes the trace's lock again and again. */
static void *set_same_sizes(void *unused)
{
    const struct trace_info *info = arch_trace_info();
    (void)unused;
    while (!atomic_load(&stop))
        sys_trace_control(SLOT_TRACE, TRACE_OP_SET_GEOMETRY, trace_buffer_bytes(info), info->buffer_count);
    return NULL;
}

/* Each switch interrupts all CPUs, of which one spins for that lock. */
static void test_switch_under_load(void)
{
    pthread_t thread;
    bool done = true;
    atomic_store(&stop, false);
    check(pthread_create(&thread, NULL, set_same_sizes, NULL) == 0, "another thread controls the trace");
    for (unsigned i = 0; i < SWITCHES && done; i++)
        done = switch_routines(0) == 0 && switch_routines(1) == 0;
    atomic_store(&stop, true);
    check(done && pthread_join(thread, NULL) == 0, "meanwhile tables are switched");
}

static void *make_rows(void *unused)
{
    uint64_t *context = (uint64_t *)sys_routines_map(1); /* struct trace_program begins with it */
    (void)unused;
    for (uint64_t i = 1; (int64_t)context > 0 && (i <= ROWS_MANY || !atomic_load(&stop)); i++) {
        *(volatile uint64_t *)context = i * 0x9e3779b97f4a7c15ull;
        sys_null();
    }
    return NULL;
}

/* Also one that writes anything where the kernel looks for its routine. */
static void test_read_under_load(void)
{
    pthread_t thread;
    bool fits = true;
    atomic_store(&stop, false);
    check(pthread_create(&thread, NULL, make_rows, NULL) == 0, "another thread makes rows");
    for (unsigned i = 0; i < READS; i++)
        for (table.serial = 0; next(TARNPROF_OWN);)
            fits = fits &&
                   sizeof *table.head + table.head->rows * sizeof *table.rows <= TRACE_ROUTINES_BYTES_MAX;
    atomic_store(&stop, true);
    check(fits && pthread_join(thread, NULL) == 0, "meanwhile tables are read");
    bool counted = false;
    for (int attempt = 0; attempt < ATTEMPTS && !counted; attempt++) {
        sys_thread_sleep(deadline_after(5 * MS)); /* it ends a little later than it is joined */
        counted = read_own(TRACE_ROUTINES_ENDED) && times_of(TRACE_ROUTINE_OTHERS, 0) > 0;
    }
    check(counted, "what found no row is counted together");
}

static void test_refusals(void)
{
    char small[16];
    check(sys_routines_read(0, 0, small, sizeof small) == -E_TOO_LARGE,
          "a buffer that is too small is refused");
    check(sys_routines_read(0, 0, (void *)8, TRACE_ROUTINES_BYTES_MAX) < 0, "so is one that is not there");
    check(sys_routines_read(1, 0, small, sizeof small) < 0, "and a slot without a space or the trace");
    check(sys_routines_read(0, UINT64_MAX, small, sizeof small) == 0, "behind the last table there is none");
}

int main(void)
{
    test_thread_end();
    test_process_end();
    test_thread_sums(6);
    test_cpu_sums();
    test_refusals();
    test_switch();
    test_end_while_off();
    test_switch_under_load();
    test_read_under_load();
    tarnprof_free(&table);
    return finish_tests();
}
