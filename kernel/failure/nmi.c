/*
 * nmi.c - an NMI from outside: a user or a tool suspects that the machine hangs.
 *
 * It reaches all CPUs at about the same time. By default they report where they are, one after the other,
 * and continue; the boot option `nmi=` selects the debugger or a panic. Only the console's lock is taken,
 * with a limited wait.
 */
#include <arch/clock.h>
#include <arch/cpu.h>
#include <arch/debug.h>
#include <kernel/cpu/cpu.h>
#include <kernel/debug/debugger.h>
#include <kernel/failure/panic.h>
#include <kernel/failure/report.h>
#include <kernel/kernel.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <trace/exception.h>

#define ARRIVAL_MS 500u /* vCPUs may stand still for long */

enum nmi_action { NMI_REPORT, NMI_DEBUGGER, NMI_PANIC, NMI_ACTIONS };
static const char *const action_names[NMI_ACTIONS] = {"report", "debugger", "panic"};
static enum nmi_action action = NMI_REPORT;

void nmi_boot_options(void)
{
    action = (enum nmi_action)boot_choice("nmi=", action_names, NMI_ACTIONS);
}

/* ---- Report ---- */

/* Whether this CPU reports first for this NMI. A second report by a CPU begins the next NMI's. */
static bool is_first(const struct cpu *cpu)
{
    static uint64_t reported; /* CPU bits; written by the CPU that reports */
    bool first = !reported || reported & cpu->bit;
    reported = first ? cpu->bit : reported | cpu->bit;
    return first;
}

static void print_report(const struct kernel_regs *regs)
{
    struct cpu *cpu = this_cpu();
    report_begin(cpu, regs);
    report_title("NMI on cpu %u", cpu->index);
    for (enum report_part part = REPORT_CURRENT; part <= REPORT_USER_CALLS; part++)
        report_print(part);
    if (is_first(cpu))
        report_print(REPORT_ALL_EVENTS);
}

static void report(const struct kernel_regs *regs)
{
    const struct thread *interrupted = this_cpu()->current;
    const bool is_logged = !cpu_is_switching(this_cpu());
    if (is_logged)
        trace_exception_entry(arch_trap_vector(regs), interrupted ? interrupted->tid : 0, arch_trap_ip(regs),
                              0);
    if (report_take_turn()) {
        bool locked = log_begin_urgent();
        print_report(regs);
        log_end_urgent(locked);
        report_end_turn();
    }
    if (is_logged)
        trace_exception_exit(arch_trap_vector(regs), 0);
}

/* ---- Debugger ---- */

static _Atomic uint64_t arrived; /* CPUs that have taken this NMI */

/* Some machines fail if the NMI and the session's interrupt hit a CPU at the same time (arch_break_in), so
 * wait until all have taken the NMI. */
static void wait_for_others(void)
{
    uint64_t begin = arch_clock(), others = atomic_load(&sched_online_cpus);
    while ((atomic_load(&arrived) & others) != others && arch_clock() - begin < timer_ticks_ms(ARRIVAL_MS))
        arch_relax();
}

/* The first CPU starts the session, which stops the others. */
static void enter_debugger(struct kernel_regs *regs)
{
    if (atomic_fetch_or(&arrived, this_cpu()->bit))
        return;
    wait_for_others();
    debugger_enter_trap(regs, "NMI");
    atomic_store(&arrived, 0);
}

void handle_nmi(struct kernel_regs *regs)
{
    if (panic_is_on())
        panic_interrupt();
    else if (debugger_is_active())
        return; /* a session is active already */
    else if (action == NMI_PANIC)
        panic_trap(regs, "NMI");
    else if (action == NMI_DEBUGGER)
        enter_debugger(regs);
    else
        report(regs);
}
