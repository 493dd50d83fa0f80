/* report.c - the parts of a report. Interface: panic.h. */
#include <arch/clock.h>
#include <arch/debug.h>
#include <kernel/cpu/cpu.h>
#include <kernel/debug/debugger.h>
#include <kernel/failure/panic.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/trace/control.h>

#define JOINED_MAX   96
#define EVENTS_SHOWN 40 /* of this CPU, and of all */

static struct {
    struct cpu *cpu;
    const struct kernel_regs *regs;
} report;

static char joined[CPUS_MAX][JOINED_MAX];

/* ---- Lines ---- */

static void say(const char *format, va_list arguments)
{
    static char line[LOG_LINE_MAX];
    panic_console_put(line, log_format(line, format, arguments));
}

void report_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

void report_title(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    panic_console_put("\n", 1);
    say(format, arguments);
    va_end(arguments);
}

/* ---- The parts ---- */

static const struct thread *current_of(const struct cpu *cpu)
{
    return cpu ? cpu->current : NULL;
}

static void print_current(void)
{
    const struct thread *thread = current_of(report.cpu);
    if (!thread)
        report_say("no thread runs there yet\n");
    else if (!thread->space)
        report_say("current: %.16s\n", thread->block->name);
    else
        report_say("current: %.16s(%u) of %.16s[%u], priority %u\n", thread->block->name, thread->tid,
                   thread->space->name, thread->space->pid, thread->priority);
}

static void print_registers(void)
{
    arch_print_trap(report.regs, report_say);
}

static void print_kernel_calls(void)
{
    if (report.cpu && !arch_trap_of_user(report.regs))
        debugger_print_kernel_calls(report.cpu, report.regs, report_say);
}

static void print_user_calls(void)
{
    const struct thread *thread = current_of(report.cpu);
    if (thread && thread->space)
        debugger_print_user_calls(thread, arch_trap_of_user(report.regs) ? report.regs : NULL, report_say);
}

static void print_other(const struct cpu *cpu)
{
    const struct kernel_regs *regs = debugger_stopped_at(cpu->index);
    const struct thread *thread = cpu->current;
    char place[160] = "?";
    if (regs)
        debugger_symbol(place, sizeof place, arch_trap_of_user(regs) && thread ? thread->space : NULL,
                        arch_trap_ip(regs), false);
    report_say("cpu %u %s in %.16s at %s%s%s\n", cpu->index, regs ? "stopped" : "does not answer,",
               thread ? thread->block->name : "?", place, joined[cpu->index][0] ? "; it panicked too: " : "",
               joined[cpu->index]);
}

static void print_others(void)
{
    for (uint32_t i = 0; report.cpu && i < cpu_count; i++)
        if (i != report.cpu->index && cpus[i].online)
            print_other(&cpus[i]);
}

static void print_own_events(void)
{
    if (report.cpu)
        trace_dump_newest(report.cpu->bit, EVENTS_SHOWN, report_say);
}

static void print_all_events(void)
{
    if (report.cpu)
        trace_dump_newest(TRACE_ALL_CPUS, EVENTS_SHOWN, report_say);
}

const struct report_part report_parts[REPORT_PARTS] = {
    [REPORT_CURRENT] = {"the current thread", print_current},
    [REPORT_REGISTERS] = {"registers", print_registers},
    [REPORT_KERNEL_CALLS] = {"the kernel's call chain", print_kernel_calls},
    [REPORT_USER_CALLS] = {"the program's call chain", print_user_calls},
    [REPORT_OTHERS] = {"the other CPUs", print_others},
    [REPORT_OWN_EVENTS] = {"this CPU's last events", print_own_events},
    [REPORT_ALL_EVENTS] = {"the last events", print_all_events},
};

#define TURN_MS 10000u /* per CPU; vCPUs may stand still for long */

static _Atomic uint32_t reporter; /* 1 + number of the CPU that reports */

bool report_take_turn(void)
{
    uint64_t begin = arch_clock();
    uint32_t mark = this_cpu()->index + 1, before = 0;
    for (;;) {
        uint32_t other = 0;
        if (atomic_compare_exchange_strong(&reporter, &other, mark))
            return true;
        if (other != before) /* another CPU's turn began */
            begin = arch_clock();
        before = other;
        if (other == mark || panic_is_on() || arch_clock() - begin > timer_ticks_ms(TURN_MS))
            return false;
        arch_relax();
    }
}

void report_end_turn(void)
{
    atomic_store(&reporter, 0);
}

void report_begin(struct cpu *cpu, const struct kernel_regs *regs)
{
    report.cpu = cpu;
    report.regs = regs;
}

void report_join(uint32_t cpu, const char *text)
{
    format_text(joined[cpu], JOINED_MAX, "%s", text);
}
