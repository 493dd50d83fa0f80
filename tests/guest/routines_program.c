/*
 * routines_program.c - tables of routines: a program's own, counted by a macro and by
 * -finstrument-functions, merged with the kernel's rows, and kept at the ends of threads and processes. What
 * a hostile program writes there hurts nobody. That each kind of routine is counted as the trace says:
 * tests/host/routines_equal.
 *
 * Booted with `trace.routines=on` and `trace.mask=off`. With an argument it is the hostile program, or one
 * that calls or names routines.
 */
#include "routine_tables.h"
#include "run.h"
#include "threads.h"

#include <tarn/ipc.h>
#include <tests/guest/routines_functions.h>
#include <trace/events.h>
#include <user/tarnprof/routines.h>

#define CALLS    10u
#define ROUNDS   3u
#define SLEEPS   5u
#define MS       1000000ull
#define DEEP     100u /* deeper than is counted */
#define MANY     1100u
#define ATTEMPTS 200u
#define READS    300u
#define ROWS     2000u /* more than a table has */

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

static uint32_t number_of(const char *name, const void *function)
{
    struct trace_routine_names names = {0};
    const int error = tarnprof_read_names(&names);
    const uint32_t number = error ? 0 : tarnprof_find_name(&names, name, function);
    tarnprof_free_names(&names);
    return number;
}

static struct trace_routines_row program_row(const char *name, const void *function)
{
    return row_of(TRACE_ROUTINE_PROGRAM, 0, number_of(name, function));
}

/* Of all rows with that context, or of those of the kernel in it. */
static uint64_t time_in(uint32_t context, bool with_program)
{
    uint64_t time = 0;
    for (uint32_t i = 0; i < table.head->rows; i++) {
        const enum trace_routine_kind kind = trace_routine_kind(table.rows[i].routine);
        if (trace_routine_context(table.rows[i].routine) == context && kind != TRACE_ROUTINE_SERVED &&
            (with_program || kind != TRACE_ROUTINE_PROGRAM))
            time += table.rows[i].own;
    }
    return time;
}

/* ---- routines ----------------------------------------------------------------------------------- */

static void test_macro(void)
{
    do_all();
    read_own(TRACE_ROUTINES_THREAD);
    const uint32_t all_number = number_of("do_all", NULL), kernel_number = number_of("call_kernel", NULL),
                   sleep_number = number_of("sleep_often", NULL);
    const struct trace_routines_row all = program_row("do_all", NULL),
                                    kernel = program_row("call_kernel", NULL),
                                    sleeping = program_row("sleep_often", NULL);
    check(all_number >= TRACE_CONTEXT_NAMED && kernel_number && sleep_number, "the routines have numbers");
    check(all.ended == 1 && kernel.ended == ROUNDS && sleeping.ended == 1,
          "each call of a routine is counted");
    check(all.total == time_in(all_number, true) + time_in(kernel_number, true) + time_in(sleep_number, true),
          "times of the routines, and of the kernel in them, add up to the outermost's, to the tick");
    check(kernel.total == time_in(kernel_number, true) && kernel.min <= kernel.max,
          "a routine that calls none is only in itself and in the kernel");
    check(row_of(TRACE_ROUTINE_SYSCALL, SYS_null, kernel_number).ended == ROUNDS * CALLS,
          "the kernel counts system calls in the routine that made them");
    check(row_of(TRACE_ROUTINE_SYSCALL, SYS_null, all_number).ended == 0, "and not in its caller");
    check(row_of(TRACE_ROUTINE_OUT, THREAD_SLEEPING, sleep_number).ended == SLEEPS, "waits too");
    check(kernel.own > 0 && time_in(kernel_number, false) > 0 && sleeping.own > 0,
          "each has time of its own");
    check(adds_up(), "all rows add up to the thread's life, to the tick");
}

/* The trace is off, so nothing but this counts the call. */
static void test_unsent(void)
{
    struct ipc_message message = ipc_label_only(1);
    read_own(TRACE_ROUTINES_THREAD);
    const uint64_t before = row_of(TRACE_ROUTINE_SYSCALL, SYS_ipc_call, 0).ended;
    check(ipc_call(1, &message) < 0 && read_own(TRACE_ROUTINES_THREAD) &&
              row_of(TRACE_ROUTINE_SYSCALL, SYS_ipc_call, 0).ended == before + 1,
          "a call that is not sent is counted as a system call");
}

static void test_recursion(void)
{
    recurse(CALLS);
    read_own(TRACE_ROUTINES_THREAD);
    const uint64_t refused = table.head ? table.head->refused : 0;
    struct trace_routines_row row = program_row("recurse", NULL);
    check(row.ended == CALLS + 1, "recursive calls are counted");
    check(row.total == time_in(number_of("recurse", NULL), true) && row.total == row.max,
          "their time is counted once");
    recurse(DEEP);
    read_own(TRACE_ROUTINES_THREAD);
    row = program_row("recurse", NULL);
    check(row.ended == CALLS + 1 + TRACE_PROGRAM_DEPTH &&
              table.head->refused == refused + DEEP + 1 - TRACE_PROGRAM_DEPTH,
          "those that are nested too deep are part of the others, and told of");
    check(adds_up(), "nevertheless all rows add up");
}

static void *call_in_thread(void *unused)
{
    call_kernel();
    return unused;
}

static void test_threads(void)
{
    struct trace_routines_row after = {0};
    result_of(call_in_thread, NULL);
    for (unsigned attempt = 0; attempt < ATTEMPTS && !after.ended; attempt++) { /* it ends a little later */
        sys_thread_sleep(deadline_after(MS));
        if (read_own(TRACE_ROUTINES_ENDED))
            after = program_row("call_kernel", NULL);
    }
    check(after.ended == 1 &&
              row_of(TRACE_ROUTINE_SYSCALL, SYS_null, number_of("call_kernel", NULL)).ended == CALLS,
          "a thread's routines are kept when it ends");
    check(after.ended && adds_up(), "and add up with the kernel's");
}

static void call_functions(void)
{
    for (unsigned i = 0; i < CALLS; i++)
        instrumented(i);
}

static void test_functions(void)
{
    const void *function = (const void *)(uintptr_t)function_address();
    call_functions();
    read_own(TRACE_ROUTINES_THREAD);
    check(program_row(NULL, function).ended == CALLS, "functions are counted by their address");
    check(row_of(TRACE_ROUTINE_SYSCALL, SYS_null, number_of(NULL, function)).ended == CALLS, "and merged");
}

static int run_child(const char *what)
{
    return run_program("/test/routines_program", what);
}

static void test_names(void)
{
    char name[TRACE_ROUTINE_NAME_BYTES];
    struct trace_routine_names names = {0};
    check(tarnprof_read_names(&names) == 0 && names.count > 3, "all names can be read");
    const struct trace_routine *routine =
        trace_routine_find(&names, tarnprof_find_name(&names, "do_all", NULL));
    check(routine && !strcmp(routine->program, "routines_program"), "with their program");
    check(!strcmp(trace_context_name(1, &names, trace_event_find, name), "open()") &&
              !strcmp(trace_context_name(TRACE_HEAP_FREE, &names, trace_event_find, name), "free()") &&
              !strcmp(trace_context_name(0x201, &names, trace_event_find, name), "serve fs_close") &&
              !strcmp(trace_context_name(4000, &names, trace_event_find, name), "routine 4000"),
          "common routines have names, too");
    tarnprof_free_names(&names);
    const uint32_t number = number_of("call_kernel", NULL);
    check(run_child("call") == 0 && read_own(TRACE_ROUTINES_CHILDREN) &&
              row_of(TRACE_ROUTINE_PROGRAM, 0, number).ended == 1 &&
              row_of(TRACE_ROUTINE_SYSCALL, SYS_null, number).ended == CALLS,
          "another process of the program has the same numbers, and its parent gets its rows");
    check(table.head && adds_up(), "which add up");
    check(all_return(-E_TOO_LARGE, sys_routine_names(0, name, 8), sys_routines_map(TRACE_PROGRAM_PAGES + 1),
                     sys_routines_map(0), sys_routines_read(0, 0, name, 16)) &&
              all_return(-E_BAD_ARGUMENT, sys_routine_name("", 0), switch_routines(3),
                         sys_trace_control(SLOT_TRACE, TRACE_OP_SET_ROUTINES, 1, 1)) &&
              sys_routine_name((char *)8, 0) < 0 && sys_routine_names(0, (void *)8, 4096) < 0 &&
              sys_routines_read(0, 0, (void *)8, TRACE_ROUTINES_BYTES_MAX) < 0 &&
              sys_routines_read(1, 0, name, 16) < 0,
          "what makes no sense is refused");
    check(sys_routines_read(0, UINT64_MAX, name, 16) == 0, "behind the last table there is none");
    check(run_child("names") == 0, "the number of names that a program may add is limited");
}

static int add_names(void)
{
    unsigned added = 0;
    for (unsigned i = 0; i < MANY; i++)
        added += sys_routine_name("", 0x1000 + i) > 0;
    return !(added > 500 && added < MANY && sys_routine_name("", 0x1000) > 0);
}

/* ---- hostile programs --------------------------------------------------------------------------- */

static void write_anything(struct trace_program *program)
{
    static uint64_t random = 1;
    uint64_t *words = (uint64_t *)program;
    const uint64_t epoch = program->epoch;
    for (unsigned i = 0; i < 8 * TARN_PAGE_SIZE / sizeof *words; i++)
        words[i] = random = random * 6364136223846793005ull + 1442695040888963407ull;
    program->epoch = program->rows_epoch = epoch;
    program->rows = UINT32_MAX;
    program->clock.context &= TRACE_ROUTINES_CONTEXT_MAX;
}

static int be_hostile(void)
{
    struct trace_program *program = (struct trace_program *)sys_routines_map(8);
    for (unsigned i = 0; i < READS && (int64_t)program > 0; i++) {
        write_anything(program);
        if (!read_own(TRACE_ROUTINES_THREAD) || !adds_up())
            return 1;
        for (uint32_t r = 0; r < table.head->rows; r++)
            if (table.rows[r].total > table.head->life || table.rows[r].ended > table.head->life)
                return 2;
    }
    write_anything(program);
    return (int64_t)program > 0 ? 0 : 3;
}

static void test_hostile(void)
{
    check(run_child("hostile") == 0, "nothing that a program writes makes its rows not add up");
    check(read_own(TRACE_ROUTINES_CHILDREN) && adds_up(), "nor those that its parent gets");
}

static atomic_bool stop;

static void *make_rows(void *unused)
{
    uint64_t *context = (uint64_t *)sys_routines_map(1); /* struct trace_program begins with it */
    for (uint64_t i = 1; (int64_t)context > 0 && (i <= ROWS || !atomic_load(&stop)); i++) {
        *(volatile uint64_t *)context = i * 0x9e3779b97f4a7c15ull;
        sys_null();
    }
    return unused;
}

/* Also one that writes anything where the kernel looks for its routine. */
static void test_read_under_load(void)
{
    pthread_t thread;
    bool fits = true, counted = false;
    atomic_store(&stop, false);
    start_thread(&thread, make_rows, NULL);
    for (unsigned i = 0; i < READS; i++)
        for (table.serial = 0; next(TARNPROF_OWN);)
            fits = fits &&
                   sizeof *table.head + table.head->rows * sizeof *table.rows <= TRACE_ROUTINES_BYTES_MAX;
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    check(fits, "tables are read while another thread makes rows");
    for (unsigned attempt = 0; attempt < ATTEMPTS && !counted; attempt++) {
        sys_thread_sleep(deadline_after(5 * MS)); /* it ends a little later than it is joined */
        counted = read_own(TRACE_ROUTINES_ENDED) && row_of(TRACE_ROUTINE_OTHERS, 0, 0).ended > 0;
    }
    check(counted, "what found no row is counted together");
}

/* ---- switching ---------------------------------------------------------------------------------- */

static void test_switch(void)
{
    const uint32_t number = number_of("recurse", NULL);
    check(!switch_routines(0), "counting is switched off");
    call_kernel();
    read_own(TRACE_ROUTINES_THREAD);
    const uint64_t off = program_row("call_kernel", NULL).ended;
    call_kernel();
    check(read_own(TRACE_ROUTINES_THREAD) && program_row("call_kernel", NULL).ended == off,
          "then routines are not counted");
    check(!switch_routines(1) && number_of("call_kernel", NULL) == 0, "on again, there are no names");
    call_kernel();
    check(read_own(TRACE_ROUTINES_THREAD) && program_row("call_kernel", NULL).ended == 1 &&
              number_of("call_kernel", NULL) == TRACE_CONTEXT_NAMED && number > TRACE_CONTEXT_NAMED,
          "routines are counted anew, with new numbers");
    check(adds_up(), "and add up");
}

static void test_thread_sums(void)
{
    unsigned tables = 0, right = 0;
    table.serial = 0;
    while (next(SLOT_TRACE)) {
        tables++;
        right += adds_up();
    }
    check(tables > 4 && right == tables, "times add up to each thread's life: %u of %u", right, tables);
}

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
    const struct trace_routines before = had_any ? *table.head : (struct trace_routines){0};
    const uint64_t out = had_any ? trace_routines_time(table.rows, before.rows, TRACE_ROUTINES_OUT) : 0,
                   since = arch_trace_clock();
    atomic_store(&stop, false);
    start_thread(&thread, run_on, NULL);
    sys_thread_sleep(deadline_after(5 * MS));
    switch_routines(0);
    const uint64_t counted = arch_trace_clock() - since;
    sys_thread_sleep(deadline_after(50 * MS));
    test_thread_sums();
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    wait_for_others();
    check(read_own(TRACE_ROUTINES_ENDED) && table.head->threads == before.threads + 1,
          "a thread that ends while routines are not counted hands on what was counted");
    const uint64_t life = table.head->life - before.life;
    check(life <= counted && life > MS / 2 && adds_up(),
          "up to the moment at which they were switched off: %lu of %lu ticks", life, counted);
    check(trace_routines_time(table.rows, table.head->rows, TRACE_ROUTINES_OUT) - out < counted,
          "its time out of the CPUs, too");
    switch_routines(1);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "call"))
        return call_kernel(), 0;
    if (!strcmp(what, "functions"))
        return call_functions(), 0;
    if (argc > 1)
        return !strcmp(what, "names") ? add_names() : be_hostile();
    test_macro();
    test_unsent();
    test_recursion();
    test_threads();
    test_functions();
    test_names();
    test_hostile();
    test_read_under_load();
    test_switch();
    test_end_while_off();
    tarnprof_free(&table);
    return finish_tests();
}
