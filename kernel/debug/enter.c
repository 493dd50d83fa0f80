/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/debug/enter.c - stopping all CPUs, and letting them go on.
 *
 * A session belongs to the CPU in `owner`. It sets the bits of all others in `wanted`, asks them by an
 * IPI, which those take that have interrupts on, at the end of what they do in the kernel; and those that did
 * not come within ASK_MS by an interrupt that nothing masks, if they execute anything (proof.h). One that its
 * host does not run stops when it does; the session begins without it after STOP_MS, and goes on asking for
 * proof while it waits for keys, for a host may be busy or stand still itself. Each parks in a trap, with all
 * its registers in memory, sets its bit in `stopped`, and waits until its bit in `wanted` falls.
 *
 * Whoever meets a breakpoint meanwhile parks too, and begins a session of its own afterwards.
 *
 * A panic owns the others in the same way, before it has a session (`holds`) and after it: they never go on.
 */
#include <arch/clock.h>
#include <arch/debug.h>
#include <kernel/cpu.h>
#include <kernel/debug/debug.h>
#include <kernel/debug/debugger.h>
#include <kernel/kernel.h>
#include <kernel/proof.h>
#include <kernel/sched.h>
#include <kernel/space.h>
#include <kernel/timer.h>
#include <stdatomic.h>

#define ASK_MS   2000u
#define GRACE_MS 100u   /* behind a proof */
#define STOP_MS  10000u /* without progress */
#define GAP_MS   100u   /* of one turn of waiting; a longer one was the host's, for everybody */

static _Atomic uint32_t owner; /* 1 + number of the CPU that has the session; 0: none */
static _Atomic uint32_t sessions;
static _Atomic uint64_t wanted;  /* CPUs that shall stand still; written by the owner */
static _Atomic uint64_t stopped; /* those that do */
static _Atomic uint64_t ended;   /* those that will never run again */
static _Atomic uint64_t forced;  /* that an unmaskable interrupt is under way to; cleared when it arrives */

static bool holds; /* the owner's: it has no session; what it meets is no command's fault */
static _Atomic bool none_goes_on;

static struct {
    struct kernel_regs *regs;
    const char *reason; /* debugger_enter's, on its way through the trap */
    bool by_force;
} stops[CPUS_MAX]; /* each its CPU's */

static const char asked_to_stop[] = "asked to stop"; /* a reason that begins no session */

/* ---- Standing still ---- */

/* `answers`: the CPU is between two instructions of its own code, so that others who wait for its
 * translations to be forgotten need not be forced. */
static void park(struct cpu *cpu, struct kernel_regs *regs, bool answers)
{
    stops[cpu->index].regs = regs;
    stops[cpu->index].by_force = !answers;
    atomic_fetch_or(&stopped,
                    cpu->bit); /* sequentially consistent: regs before it, the look at wanted behind it */
    while (atomic_load(&wanted) & cpu->bit) {
        if (answers)
            tlb_handle_request();
        if (atomic_load(&none_goes_on))
            arch_stop_forever();
        arch_relax();
    }
    atomic_fetch_and(&stopped, ~cpu->bit);
}

bool debugger_stop(struct kernel_regs *regs)
{
    struct cpu *cpu = this_cpu();
    if (!(atomic_fetch_and(&forced, ~cpu->bit) & cpu->bit))
        return false;
    if (!(atomic_load(&stopped) & cpu->bit)) /* else it had parked when this came */
        park(cpu, regs, false);
    return true;
}

void debugger_note_end(struct kernel_regs *regs)
{
    struct cpu *cpu = this_cpu();
    if (!((atomic_load(&stopped) | atomic_load(&ended)) & cpu->bit))
        stops[cpu->index].regs = regs;
    atomic_fetch_or(&ended, cpu->bit);
}

void debugger_poll(void)
{
    struct cpu *cpu = this_cpu();
    if (!(atomic_load(&wanted) & cpu->bit))
        return;
    stops[cpu->index].reason = asked_to_stop;
    arch_breakpoint();
}

/* ---- Stopping the others ---- */

/* Those that have not stopped when asked and still owe the proof; the owner's. */
static uint64_t unproven;
static struct proof proofs[CPUS_MAX];

static uint64_t milliseconds(uint64_t count)
{
    return clock_hz / 1000 * count;
}

static bool have_stopped(uint64_t targets)
{
    return (atomic_load(&stopped) & targets) == targets;
}

static void force(struct cpu *target)
{
    unproven &= ~target->bit;
    atomic_fetch_or(&forced, target->bit);
    arch_break_in(target);
}

/* How much there is to be seen of progress. */
static uint32_t progress(void)
{
    uint32_t sum = (uint32_t)__builtin_popcountll(atomic_load(&stopped));
    for (uint32_t i = 0; i < cpu_count; i++)
        sum += proofs[i].count;
    return sum;
}

void debug_press_on(void)
{
    unproven &= ~atomic_load(&stopped);
    for (uint64_t left = unproven; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        if (proof_go_on(&proofs[i], &cpus[i], arch_clock(), milliseconds(GRACE_MS)))
            force(&cpus[i]);
    }
}

/* Until they have stopped, or there was no progress for so long. */
static void wait_for(uint64_t targets, uint32_t limit)
{
    uint64_t last = arch_clock(), waited = 0;
    uint32_t seen = progress();
    while (!have_stopped(targets) && waited <= milliseconds(limit)) {
        uint64_t now = arch_clock(), turn = now - last;
        waited += turn < milliseconds(GAP_MS) ? turn : milliseconds(GAP_MS);
        last = now;
        debug_press_on();
        if (progress() != seen)
            waited = 0;
        seen = progress();
        tlb_handle_request();
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
    memset(proofs, 0, sizeof proofs);
    unproven = targets;
    for (uint64_t left = targets; holds && left; left &= left - 1)
        force(&cpus[__builtin_ctzll(left)]); /* nobody's way back matters any more */
    wait_for(targets, STOP_MS);
}

static void let_go(void)
{
    unproven = 0;
    atomic_store(&wanted, 0);
    uint64_t begin = arch_clock();
    while (atomic_load(&stopped) && arch_clock() - begin < milliseconds(STOP_MS))
        arch_relax();
}

/* ---- Sessions ---- */

static void run_session(struct cpu *self, struct kernel_regs *regs, const char *reason)
{
    stops[self->index].regs = regs;
    stop_others(self);
    debug_session(reason, "lets the system go on");
    atomic_fetch_add(&sessions, 1); /* while all stand: who begins to watch behind it was not in it */
    let_go();
    atomic_store(&owner, 0);
    /* What was typed and is not for us the next heartbeat finds: it takes locks. */
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
    debug_fail_try();
    debug_print("fault at %s, address %#lx: command ended\n", debug_name_of(ip), address);
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

void debugger_end(void)
{
    atomic_store(&none_goes_on, true);
}

/* ---- What others may know ---- */

bool debugger_is_active(void)
{
    return atomic_load(&owner) != 0;
}

uint32_t debugger_sessions(void)
{
    return atomic_load(&sessions);
}

bool debugger_have_ended(uint64_t which)
{
    return (which & ~atomic_load(&ended)) == 0;
}

const struct kernel_regs *debugger_stopped_at(uint32_t cpu)
{
    return debug_regs(cpu);
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

const struct kernel_regs *debug_regs(uint32_t cpu)
{
    return debug_stop_state(cpu) == STOP_RUNNING ? NULL : stops[cpu].regs;
}
