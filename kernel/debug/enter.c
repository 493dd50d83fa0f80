/*
 * enter.c - stops all CPUs for a session, and lets them continue.
 *
 * A session belongs to the CPU in `owner`. It stops the others in steps:
 *
 *   - It sets their bits in `wanted` and sends an IPI. A CPU with interrupts on stops when it leaves the
 *     kernel.
 *   - A CPU that has not stopped within ASK_MS gets an NMI, if it executes instructions.
 *   - A CPU that its host does not run stops when it runs again. After STOP_MS the session begins without
 *     it; the progress checks continue while it waits for keys, because the host may be busy or stopped.
 *
 * A stopped CPU parks in a trap with all registers in memory, sets its bit in `stopped`, and waits until
 * its bit in `wanted` is clear. A CPU that meets a breakpoint meanwhile parks, too, and starts its own
 * session afterwards. A panic owns the other CPUs in the same way before it has a session (`holds`) and
 * after it: they never continue.
 *
 * The watchdog stops single CPUs without a session (`inspected`), and the end of the machine stops CPUs for
 * good (`ending`), both at once by an NMI.
 */
#include <arch/clock.h>
#include <arch/debug.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/smp_call.h>
#include <kernel/debug/debug.h>
#include <kernel/debug/debugger.h>
#include <kernel/kernel.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/timer.h>
#include <kernel/space/space.h>
#include <stdatomic.h>

#define ASK_MS   2000u
#define GRACE_MS 100u   /* after a sign of progress */
#define STOP_MS  10000u /* without progress */
#define GAP_MS   100u   /* of a turn; in a longer one the host did not run this CPU */
#define END_MS   200u   /* for CPUs that stop for good */

static _Atomic uint32_t owner; /* 1 + number of the CPU that has the session; 0: none */
static _Atomic uint32_t sessions;
static _Atomic uint64_t wanted;    /* CPUs that are to stop; written by the owner */
static _Atomic uint64_t inspected; /* CPUs that are to stop for the watchdog */
static _Atomic uint64_t stopped;   /* CPUs that have stopped */
static _Atomic uint64_t ending;    /* CPUs that are to stop for good */
static _Atomic uint64_t ended;     /* CPUs that will never run again */
static _Atomic uint64_t forced;    /* CPUs to which an NMI is on its way; the CPU clears its bit */

static bool holds; /* the owner has no session, so no command is to blame for faults */

static struct {
    struct kernel_regs *regs;
    const char *reason; /* from debugger_enter, on its way through the trap */
    bool by_force;
} stops[CPUS_MAX]; /* each written by its CPU */

static const char asked_to_stop[] = "asked to stop"; /* a reason that starts no session */

/* ---- Parking ---- */

void debugger_note_end(struct kernel_regs *regs)
{
    struct cpu *cpu = this_cpu();
    if (!((atomic_load(&stopped) | atomic_load(&ended)) & cpu->bit))
        stops[cpu->index].regs = regs;
    atomic_fetch_or(&ended, cpu->bit);
}

static void end_if_asked(const struct cpu *cpu, struct kernel_regs *regs)
{
    if (!(atomic_load(&ending) & cpu->bit))
        return;
    debugger_note_end(regs);
    arch_stop_forever();
}

/* `answers`: stopped between two instructions of its own code, so it handles TLB shootdowns; CPUs that wait
 * for shootdowns need no NMI. */
static void park(struct cpu *cpu, struct kernel_regs *regs, bool answers)
{
    stops[cpu->index].regs = regs;
    stops[cpu->index].by_force = !answers;
    /* Sequentially consistent: after the store of regs, before the load of `wanted`. */
    atomic_fetch_or(&stopped, cpu->bit);
    while ((atomic_load(&wanted) | atomic_load(&inspected)) & cpu->bit) {
        if (answers)
            smp_poll();
        end_if_asked(cpu, regs);
        arch_relax();
    }
    atomic_fetch_and(&stopped, ~cpu->bit);
}

bool debugger_stop(struct kernel_regs *regs)
{
    struct cpu *cpu = this_cpu();
    end_if_asked(cpu, regs);
    if (!(atomic_fetch_and(&forced, ~cpu->bit) & cpu->bit))
        return false;
    if (!(atomic_load(&stopped) & cpu->bit)) /* else it was parked already */
        park(cpu, regs, false);
    return true;
}

void debugger_poll(void)
{
    struct cpu *cpu = this_cpu();
    if (!(atomic_load(&wanted) & cpu->bit))
        return;
    stops[cpu->index].reason = asked_to_stop;
    arch_breakpoint();
}

/* ---- Progress checks: interrupt the target, see that it executes, wait, repeat ---- */

static void request(struct progress_check *check, struct cpu *target, uint64_t now)
{
    check->requested_at = now;
    check->noted_at = 0;
    arch_request_progress(target);
}

bool progress_check_step(struct progress_check *check, struct cpu *target, uint64_t now, uint64_t grace)
{
    if (check->count == ARCH_PROGRESS_CHECKS)
        return true;
    if (!check->requested_at)
        request(check, target, now);
    else if (!check->noted_at)
        check->noted_at = arch_has_run(target) ? now : 0;
    else if (now - check->noted_at > grace && ++check->count < ARCH_PROGRESS_CHECKS)
        request(check, target, now);
    return check->count == ARCH_PROGRESS_CHECKS;
}

/* ---- Stopping the other CPUs ---- */

/* CPUs that did not stop when asked and have not passed their progress checks; the owner's. */
static uint64_t unchecked;
static struct progress_check checks[CPUS_MAX];

static bool have_stopped(uint64_t targets)
{
    return (atomic_load(&stopped) & targets) == targets;
}

static void force(struct cpu *target)
{
    unchecked &= ~target->bit;
    atomic_fetch_or(&forced, target->bit);
    arch_break_in(target);
}

static uint32_t progress(void)
{
    uint32_t sum = (uint32_t)__builtin_popcountll(atomic_load(&stopped));
    for (uint32_t i = 0; i < cpu_count; i++)
        sum += checks[i].count;
    return sum;
}

void debug_force_stops(void)
{
    unchecked &= ~atomic_load(&stopped);
    for (uint64_t left = unchecked; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        if (progress_check_step(&checks[i], &cpus[i], arch_clock(), timer_ticks_ms(GRACE_MS)))
            force(&cpus[i]);
    }
}

/* Waits until they have stopped, or for `limit` without progress. */
static void wait_for(uint64_t targets, uint32_t limit)
{
    uint64_t last = arch_clock(), waited = 0;
    uint32_t seen = progress();
    while (!have_stopped(targets) && waited <= timer_ticks_ms(limit)) {
        uint64_t now = arch_clock(), turn = now - last;
        waited += turn < timer_ticks_ms(GAP_MS) ? turn : timer_ticks_ms(GAP_MS);
        last = now;
        debug_force_stops();
        if (progress() != seen)
            waited = 0;
        seen = progress();
        smp_poll();
        arch_relax();
    }
}

static void stop_others(struct cpu *self)
{
    uint64_t targets = atomic_load(&sched_online_cpus) & ~self->bit & ~atomic_load(&ended);
    atomic_store(&wanted, targets);
    for (uint64_t left = targets; left; left &= left - 1)
        arch_send_ipi(&cpus[__builtin_ctzll(left)], IPI_CALL);
    wait_for(targets, ASK_MS);
    targets &= ~atomic_load(&stopped);
    memset(checks, 0, sizeof checks);
    unchecked = targets;
    for (uint64_t left = targets; holds && left; left &= left - 1)
        force(&cpus[__builtin_ctzll(left)]); /* a panic need not let them continue */
    wait_for(targets, STOP_MS);
}

static void release_cpus(void)
{
    unchecked = 0;
    atomic_store(&wanted, 0);
    uint64_t begin = arch_clock();
    while (atomic_load(&stopped) & ~atomic_load(&inspected) && arch_clock() - begin < timer_ticks_ms(STOP_MS))
        arch_relax();
}

/* ---- Without a session ---- */

void debugger_inspect(struct cpu *target)
{
    atomic_fetch_or(&inspected, target->bit);
    force(target);
}

void debugger_release(struct cpu *target)
{
    atomic_fetch_and(&inspected, ~target->bit);
}

/* Without a clock, counts turns. */
static bool has_passed(uint64_t begin, uint32_t *turns)
{
    arch_relax();
    return clock_hz ? arch_clock() - begin > timer_ticks_ms(END_MS) : ++*turns > 1000 * END_MS;
}

/* Waits first for a line that another CPU is printing. */
void debugger_end_others(const struct cpu *self)
{
    const uint64_t others = self ? atomic_load(&sched_online_cpus) & ~self->bit : 0;
    uint64_t begin = arch_clock();
    uint32_t turns = 0;
    while (others && console_is_busy() && !has_passed(begin, &turns))
        ;
    atomic_fetch_or(&ending, others);
    for (uint64_t left = others; left; left &= left - 1)
        arch_break_in(&cpus[__builtin_ctzll(left)]);
    begin = arch_clock();
    while (others & ~atomic_load(&ended) && !has_passed(begin, &turns))
        ;
}

/* ---- Sessions ---- */

static void run_session(struct cpu *self, struct kernel_regs *regs, const char *reason)
{
    stops[self->index].regs = regs;
    stop_others(self);
    debug_session(reason, "resumes the system");
    atomic_fetch_add(&sessions, 1); /* while all are stopped, so that later measurements do not count it */
    release_cpus();
    atomic_store(&owner, 0);
    /* The next heartbeat handles other input, because that takes locks. */
}

static bool owns_session(const struct cpu *cpu)
{
    return atomic_load(&owner) == cpu->index + 1 && !holds;
}

static bool claim(const struct cpu *self)
{
    uint32_t nobody = 0;
    return atomic_compare_exchange_strong(&owner, &nobody, self->index + 1);
}

void debugger_trap(struct kernel_regs *regs)
{
    struct cpu *self = this_cpu();
    const char *reason = stops[self->index].reason;
    stops[self->index].reason = NULL;
    if (owns_session(self))
        debugger_fault(arch_trap_ip(regs), 0);
    for (;;) {
        if (atomic_load(&wanted) & self->bit)
            park(self, regs, true);
        if (reason == asked_to_stop)
            return;
        if (claim(self))
            break;
        arch_relax();
    }
    run_session(self, regs, reason ? reason : "breakpoint");
}

void debugger_enter(const char *reason)
{
    struct cpu *self = this_cpu();
    debugger_fail(reason);
    stops[self->index].reason = reason;
    arch_breakpoint();
}

void debugger_enter_trap(struct kernel_regs *regs, const char *reason)
{
    stops[this_cpu()->index].reason = reason;
    debugger_trap(regs);
}

void debugger_fault(uint64_t ip, uint64_t address)
{
    if (!owns_session(this_cpu()))
        return;
    debug_print("fault at %s, address %#lx: command ended\n", debug_name_of(NULL, ip), address);
    debug_end_command();
}

void debugger_fail(const char *reason)
{
    if (!owns_session(this_cpu()))
        return;
    debug_print("%s: command ended\n", reason);
    debug_end_command();
}

void debugger_boot(void)
{
    char text[8];
    if (boot_option("debug=", text, sizeof text) && text[0] == '1')
        debugger_enter("boot option debug=1");
}

/* ---- Panics ---- */

void debugger_wait(struct kernel_regs *regs)
{
    struct cpu *self = this_cpu();
    while (atomic_load(&owner)) {
        if (atomic_load(&wanted) & self->bit)
            park(self, regs, true);
        arch_relax();
    }
}

void debugger_hold(struct kernel_regs *regs)
{
    struct cpu *self = this_cpu();
    do
        debugger_wait(regs);
    while (!claim(self));
    holds = true;
    stops[self->index].regs = regs;
    stop_others(self);
}

void debugger_of_panic(struct kernel_regs *regs, const char *reason)
{
    stops[this_cpu()->index].regs = regs;
    holds = false;
    debug_session(reason, "halts the machine");
    holds = true;
}

/* ---- State, for other files ---- */

bool debugger_is_active(void)
{
    return atomic_load(&owner) != 0;
}

uint32_t debugger_sessions(void)
{
    return atomic_load(&sessions);
}

enum stop_state debug_stop_state(uint32_t cpu)
{
    uint64_t bit = 1ull << cpu;
    if (atomic_load(&owner) == cpu + 1)
        return STOP_SESSION;
    if (atomic_load(&ended) & bit)
        return STOP_ENDED;
    if (!(atomic_load(&stopped) & bit))
        return STOP_RUNNING;
    return stops[cpu].by_force ? STOP_FORCED : STOP_ASKED;
}

const struct kernel_regs *debugger_stopped_at(uint32_t cpu)
{
    return debug_stop_state(cpu) == STOP_RUNNING ? NULL : stops[cpu].regs;
}
