/*
 * measure.c - measures trace points and tables in the kernel for `make bench`, if booted with measure=1.
 * trace/cost/cost.h describes the method; user/bench/micro.c measures programs.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/routine_rows.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/trace/control.h>
#include <trace/cost/cost.h>
#include <trace/user.h>

#define PAIRS 1000

static void report(const char *name, struct cost cost, const struct cost *nothing)
{
    const uint64_t tenths = cost_by_clock(&cost, nothing, 1);
    log_line("bench: %s %llu.%llu instructions", name, (unsigned long long)(tenths / 10),
             (unsigned long long)(tenths % 10));
}

static void set_mask(uint64_t mask)
{
    trace_info_page.mask = mask;
    trace_sites_agree();
}

/* Inlined, as where the kernel does it. */
static inline void count_pair(struct thread *thread)
{
    routine_begin(&thread->routines, 0, trace_routine_key(TRACE_ROUTINE_SYSCALL, 1), arch_clock());
    __asm__ volatile("" : : : "memory"); /* elsewhere, other code comes in between */
    routine_end(thread, &thread->routine_table->rows, &thread->routines, 0, arch_clock());
}

/* Begin and end of a routine of this thread, in a table of its own. In one page: arch/ppc64/counter.c. */
static __attribute__((noinline, aligned(1024))) void measure_routines(const struct cost *nothing)
{
    struct thread *thread = this_cpu()->current;
    struct routine_table *own = thread->routine_table, *table = routines_new(TRACE_ROUTINES_THREAD, NULL);
    const struct open_routines open = thread->routines;
    if (!table)
        return;
    thread->routine_table = table;
    report("routines.pair", COST_OF(PAIRS, count_pair(thread)), nothing);
    thread->routine_table = own;
    thread->routines = open;
    routines_free(table);
}

void measure_trace_points(void)
{
    char value[8];
    if (!boot_option("measure=", value, sizeof value))
        return;
    struct cost nothing = cost_of_nothing();
    uint64_t mask = trace_info_page.mask;
    /* No program runs yet, so the mask may be written. Only the measured events are logged. */
    set_mask(0);
    report("trace.disabled.kernel", cost_of_one_word(), &nothing);
    set_mask(1ull << TRACE_CLASS_USER);
    report("trace.enabled1.kernel", cost_of_one_word(), &nothing);
    report("trace.enabled4.kernel", cost_of_four_words(), &nothing);
    set_mask(0);
    measure_routines(&nothing);
    set_mask(mask);
}
