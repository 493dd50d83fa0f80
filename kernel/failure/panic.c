/*
 * panic.c - panics: stops the other CPUs, reports (report.c), and does what the boot option `panic=` says;
 * and NMIs from outside.
 *
 * The first CPU that panics owns the panic. Another one passes its reason to the owner and stops. Damaged
 * data may make the owner panic again: then it says so and continues with the next step. It takes no lock,
 * and every step ends by itself or by an NMI from outside. Tracing stops first, so the trace ends with the
 * events before the panic.
 */
#include <arch/clock.h>
#include <arch/debug.h>
#include <arch/machine.h>
#include <kernel/cpu/cpu.h>
#include <kernel/debug/debugger.h>
#include <kernel/diagnosis/routines.h>
#include <kernel/failure/panic.h>
#include <kernel/kernel.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/trace/control.h>
#include <trace/exception.h>

#define REASON_MAX 256
#define AGAIN_MAX  20u /* panics within a panic: more than there are steps */

/* ---- Options ---- */

enum action { ACTION_END, ACTION_DEBUGGER, ACTION_REBOOT, ACTION_HALT, ACTION_DUMP, ACTIONS };
static const char *const action_names[ACTIONS] = {"end", "debugger", "reboot", "halt", "dump"};

static enum action action = ACTION_END;

enum nmi_action { NMI_REPORT, NMI_DEBUGGER, NMI_PANIC, NMI_ACTIONS };
static const char *const nmi_action_names[NMI_ACTIONS] = {"report", "debugger", "panic"};
static enum nmi_action nmi_action = NMI_REPORT;

void panic_boot_options(void)
{
    action = (enum action)boot_choice("panic=", action_names, ACTIONS);
    nmi_action = (enum nmi_action)boot_choice("nmi=", nmi_action_names, NMI_ACTIONS);
}

/* ---- The owner ---- */

#define UNKNOWN_CPU (CPUS_MAX + 1)

static _Atomic uint32_t owner; /* 1 + number of the CPU; UNKNOWN_CPU; 0: no panic */
static struct cpu *self;       /* the owner's; NULL: too early to know */
static struct kernel_regs *regs;
static char reason[REASON_MAX];

static struct cpu *known_cpu(void)
{
    struct cpu *cpu = arch_cpu_pointer();
    uint64_t offset = (uint64_t)cpu - (uint64_t)cpus;
    return offset < sizeof cpus && offset % sizeof cpus[0] == 0 ? cpu : NULL;
}

static uint32_t mark_of(const struct cpu *cpu)
{
    return cpu ? cpu->index + 1 : UNKNOWN_CPU;
}

bool panic_is_on(void)
{
    return atomic_load(&owner) != 0;
}

bool panic_is_here(void)
{
    return atomic_load(&owner) == mark_of(known_cpu());
}

/* ---- Steps ---- */

static void *next_step[5];    /* for __builtin_setjmp */
static const char *step_name; /* the step that a panic may leave; NULL: none */
static uint32_t panics_again;
static bool is_ending;
static bool test_faults;

void panic_test_faults(void)
{
    test_faults = true;
}

static void meet_fault(void)
{
    volatile uint64_t *volatile nowhere = (uint64_t *)8;
    *nowhere += 1;
}

/* Returns false if the step panicked and was left. */
static bool do_step(const char *name, void (*step)(void))
{
    if (__builtin_setjmp(next_step))
        return false;
    step_name = name;
    if (test_faults)
        meet_fault();
    step();
    step_name = NULL;
    return true;
}

static void end(void) __attribute__((noreturn));

static void __attribute__((noreturn)) panic_again(const char *text)
{
    const char *name = step_name;
    step_name = NULL;
    if (panics_again++ > AGAIN_MAX)
        arch_stop_forever();
    report_say("PANIC in this panic, at %s: %s", name ? name : "its beginning", text);
    if (name)
        __builtin_longjmp(next_step, 1);
    if (is_ending)
        arch_stop_forever();
    end();
}

/* ---- The other CPUs ---- */

/* For the debugger, stops them where they can be stopped; else for good. An active session ends first. */
static void take_machine(void)
{
    if (!self)
        return;
    if (action == ACTION_DEBUGGER) {
        debugger_hold(regs);
    } else {
        debugger_wait(regs);
        debugger_end_others(self);
    }
}

/* ---- The end ---- */

static void __attribute__((noreturn)) halt(void)
{
    report_say("halted");
    debugger_end_others(self);
    step_name = NULL; /* an NMI has no effect from now on */
    arch_stop_forever();
}

static void __attribute__((noreturn)) end_in_debugger(void)
{
    if (!self || !self->online) {
        report_say("too early for the debugger");
        halt();
    }
    if (!debugger_is_active()) /* the step that stops the others failed */
        debugger_hold(regs);
    step_name = NULL; /* the debugger handles faults of its commands */
    debugger_of_panic(regs, reason);
    report_say("a kernel cannot continue after a panic");
    halt();
}

static void __attribute__((noreturn)) end_in_dump(void)
{
    report_say("stopped for a dump of memory by the host");
    if (!arch_stop_for_dump(reason))
        report_say("this machine has no way to notify its host");
    halt();
}

static void act(void)
{
    switch (action) {
    case ACTION_DEBUGGER:
        end_in_debugger();
    case ACTION_REBOOT:
        report_say("boots again");
        arch_reboot();
    case ACTION_HALT:
        halt();
    case ACTION_DUMP:
        end_in_dump();
    default:
        arch_shutdown(PANIC_STATUS);
    }
}

static void end(void)
{
    is_ending = true;
    test_faults = false;
    if (!do_step("its end", act))
        do_step("halting", halt);
    arch_stop_forever();
}

/* ---- Panic ---- */

static void mark_store(void)
{
    routines_beat(arch_clock());
    trace_store_end(TRACE_STORE_PANIC, reason);
}

static unsigned part; /* static: it survives the jump out of a step */

static void __attribute__((noreturn)) run(void)
{
    trace_stop();
    report_begin(self, regs);
    do_step("stopping the others", take_machine);
    report_title("PANIC on cpu %u: %s", self ? self->index : 0, reason);
    do_step("marking the trace", mark_store);
    for (part = 0; part < REPORT_PARTS; part++)
        do_step(report_parts[part].name, report_parts[part].print);
    end();
}

static void __attribute__((noreturn))
join(const struct cpu *cpu, struct kernel_regs *own_regs, const char *text)
{
    if (cpu) {
        report_join(cpu->index, text);
        debugger_note_end(own_regs);
    }
    arch_stop_forever();
}

static void __attribute__((noreturn))
begin(struct kernel_regs *own_regs, const char *format, va_list arguments)
{
    char text[REASON_MAX];
    struct cpu *cpu = known_cpu();
    uint32_t first = 0;
    format_text_list(text, sizeof text, format, arguments);
    if (cpu)
        debugger_fail(text);
    if (!atomic_compare_exchange_strong(&owner, &first, mark_of(cpu))) {
        if (first == mark_of(cpu))
            panic_again(text);
        join(cpu, own_regs, text);
    }
    self = cpu;
    regs = own_regs;
    memcpy(reason, text, sizeof reason);
    run();
}

void panic_trap(struct kernel_regs *trap, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    begin(trap, format, arguments);
    va_end(arguments); /* not reached */
}

struct message {
    const char *format;
    va_list arguments;
};

static void begin_with(struct kernel_regs *caller, void *argument)
{
    struct message *message = argument;
    begin(caller, message->format, message->arguments);
}

void panic(const char *format, ...)
{
    struct message message = {.format = format};
    va_start(message.arguments, format);
    arch_with_caller(__builtin_frame_address(0), begin_with, &message);
    __builtin_unreachable();
}

/* ---- An NMI from outside: a user or a tool suspects that the machine hangs ----
 *
 * It reaches all CPUs at about the same time. By default they report where they are, one after the other,
 * and continue. Only the console's lock is taken, with a limited wait.
 */

#define ARRIVAL_MS 500u /* vCPUs may stand still for long */

/* Whether this CPU reports first for this NMI. A second report by a CPU begins the next NMI's. */
static bool is_first(const struct cpu *cpu)
{
    static uint64_t reported; /* CPU bits; written by the CPU that reports */
    bool first = !reported || reported & cpu->bit;
    reported = first ? cpu->bit : reported | cpu->bit;
    return first;
}

static void print_nmi_report(const struct kernel_regs *interrupted)
{
    struct cpu *cpu = this_cpu();
    report_begin(cpu, interrupted);
    report_title("NMI on cpu %u", cpu->index);
    for (unsigned i = REPORT_CURRENT; i <= REPORT_USER_CALLS; i++)
        report_parts[i].print();
    if (is_first(cpu))
        report_parts[REPORT_ALL_EVENTS].print();
}

static void report_nmi(const struct kernel_regs *trap)
{
    const struct thread *thread = this_cpu()->current;
    const bool is_logged = !cpu_is_switching(this_cpu());
    if (is_logged)
        trace_exception_entry(arch_trap_vector(trap), thread ? thread->tid : 0, arch_trap_ip(trap), 0);
    if (report_take_turn()) {
        bool locked = log_begin_urgent();
        print_nmi_report(trap);
        log_end_urgent(locked);
        report_end_turn();
    }
    if (is_logged)
        trace_exception_exit(arch_trap_vector(trap), 0);
}

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
static void enter_debugger(struct kernel_regs *trap)
{
    if (atomic_fetch_or(&arrived, this_cpu()->bit))
        return;
    wait_for_others();
    debugger_enter_trap(trap, "NMI");
    atomic_store(&arrived, 0);
}

void handle_nmi(struct kernel_regs *trap)
{
    if (panic_is_here() && step_name) /* the panic seems to hang: continue with the next step */
        panic_again("NMI");
    else if (panic_is_on() || debugger_is_active())
        return;
    else if (nmi_action == NMI_PANIC)
        panic_trap(trap, "NMI");
    else if (nmi_action == NMI_DEBUGGER)
        enter_debugger(trap);
    else
        report_nmi(trap);
}
