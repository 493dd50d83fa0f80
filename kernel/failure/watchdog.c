/*
 * watchdog.c - finds CPUs that take no timer interrupts, and the reason. Interface: watchdog.h.
 *
 * One suspect is investigated at a time, by one observer, in the observer's heartbeats: begin(), then
 * continue_case() until the suspect takes a timer interrupt (and clears its suspicion), or progress
 * checks show that it executes without taking one (progress_check_step). Then an NMI stops it
 * (debugger_inspect) until the observer has reported it (end_case()). Without progress for long, the
 * observer says so and gives up. Other silent CPUs wait for their turn. An observer that stops checking loses
 * the case. All words that other CPUs read are atomic; no lock is taken.
 *
 * A CPU that spins for another one with interrupts off observes, too: all may be waiting for the hung one. It
 * is silent nevertheless, see waits_for_hung().
 */
#include <arch/clock.h>
#include <arch/debug.h>
#include <kernel/cpu/cpu.h>
#include <kernel/debug/debugger.h>
#include <kernel/failure/panic.h>
#include <kernel/failure/watchdog.h>
#include <kernel/kernel.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/sched/timer.h>
#include <kernel/trace/control.h>
#include <stdatomic.h>
#include <trace/timer.h>

#define SECONDS_DEFAULT 10u
/* A suspect gets a grace of limit / GRACES after each sign of progress. */
#define GRACES          8u
#define PATIENCES       4u /* limits after which a suspect without progress is reported as such, ... */
/* ... but not before this: on a busy host a progress check takes seconds. */
#define PATIENCE_MIN_MS 10000u
#define CHECKS_A_SECOND 4u /* of a CPU that spins: as many as others have heartbeats */

static uint64_t limit;                          /* ticks of silence; 0: off */
static uint64_t patience;                       /* ticks without progress or reply */
static _Atomic uint64_t run_ends;               /* ticks: when the run must be over; 0: never */
static enum { REPORT, DEBUGGER, PANIC } action; /* after the report */

enum suspicion { NONE, SUSPECTED, REPORTED };

static struct watch {
    _Atomic uint64_t beat_at;    /* ticks: last heartbeat; 0: none yet */
    _Atomic uint64_t checked_at; /* ticks: when it last checked others, in a heartbeat or while spinning */
    _Atomic uint32_t suspicion;  /* set by observers, cleared by the CPU itself */
    uint64_t since;              /* its own, ticks: it has observed without a gap since then */
    uint32_t sessions;           /* its own: debugger_sessions() at that time */
} __attribute__((aligned(128))) watches[CPUS_MAX];

/* The suspect. observer: 1 + index; 0: none. The rest belongs to the observer; times in ticks, 0: not yet. */
static struct {
    _Atomic uint32_t observer;
    uint32_t target;
    struct progress_check check;
    uint64_t asked_at;
} the_case;

/* ---- Boot options ---- */

/* Ticks; 0: so long that it is never over. */
static uint64_t read_seconds(const char *name, uint64_t seconds)
{
    boot_number(name, &seconds);
    return seconds < TIMER_NEVER / clock_hz / PATIENCES ? seconds * clock_hz : 0;
}

/* ---- Silence ---- */

static uint64_t elapsed(uint64_t since, uint64_t now)
{
    return now > since ? now - since : 0;
}

/* Counts only time in which this CPU observed without a gap. */
static uint64_t silence_since(uint64_t time, uint64_t now)
{
    uint64_t since = watches[this_cpu()->index].since;
    return elapsed(time > since ? time : since, now);
}

static uint64_t silence(const struct watch *watch, uint64_t now)
{
    return silence_since(atomic_load_explicit(&watch->beat_at, memory_order_relaxed), now);
}

static bool is_observing(const struct watch *watch, uint64_t now)
{
    return silence_since(atomic_load_explicit(&watch->checked_at, memory_order_relaxed), now) <= limit;
}

static bool is_spinning(const struct watch *watch, uint64_t now)
{
    uint64_t checked_at = atomic_load_explicit(&watch->checked_at, memory_order_relaxed);
    return checked_at > atomic_load_explicit(&watch->beat_at, memory_order_relaxed) &&
           is_observing(watch, now);
}

/* Time stood still for this CPU, perhaps for all: others may have had no time. */
static bool time_stood_still(struct watch *mine, uint64_t gap)
{
    uint32_t sessions = debugger_sessions();
    bool stood = gap > limit / 2 || sessions != mine->sessions || debugger_is_active();
    mine->sessions = sessions;
    return stood;
}

/* ---- The report ---- */

static uint64_t milliseconds_of(uint64_t ticks)
{
    return timer_nanoseconds(ticks) / 1000000;
}

/* regs NULL: unknown where the target is. */
static void report(struct cpu *target, const char *what, const struct kernel_regs *regs)
{
    if (!report_take_turn())
        return;
    bool locked = log_begin_urgent();
    report_begin(target, regs);
    report_title("watchdog: %s, noticed by cpu %u", what, this_cpu()->index);
    if (!regs)
        report_say("cpu %u does not answer: its host does not run it, or nothing can interrupt it",
                   target->index);
    for (unsigned part = REPORT_CURRENT; part <= REPORT_OWN_EVENTS; part++)
        if (part != REPORT_OTHERS && (regs || part == REPORT_CURRENT || part == REPORT_OWN_EVENTS))
            report_parts[part].print();
    log_end_urgent(locked);
    report_end_turn();
}

/* ---- Hanging on purpose ---- */

static struct {
    _Atomic uint64_t cpus;      /* CPUs that hang at their next heartbeat */
    _Atomic uint64_t unnoticed; /* CPUs that hang until none is left here, or a debugger session ends */
    uint64_t milliseconds;      /* how long; written before `cpus` */
} hangs;

static void end_hang(const struct cpu *target)
{
    atomic_fetch_and(&hangs.unnoticed, ~target->bit);
}

/* Not inlined, so that its name appears in call chains. */
static void __attribute__((noinline)) hang(uint64_t milliseconds)
{
    uint64_t begin = arch_clock(), ticks = timer_ticks_ms(milliseconds);
    uint32_t sessions = debugger_sessions();
    while (milliseconds == MACHINE_HANG_NOTICED
               ? atomic_load(&hangs.unnoticed) && debugger_sessions() == sessions
               : arch_clock() - begin < ticks)
        for (volatile uint32_t turns = 0; turns < 10000; turns++)
            ; /* no arch_relax: a real hang does not relax either */
    end_hang(this_cpu());
}

void watchdog_hang(uint64_t cpus, uint64_t milliseconds)
{
    if (milliseconds == MACHINE_HANG_NOTICED)
        atomic_fetch_or(&hangs.unnoticed, cpus ? cpus : this_cpu()->bit);
    if (!cpus)
        hang(milliseconds);
    hangs.milliseconds = milliseconds;
    atomic_fetch_or(&hangs.cpus, cpus);
}

/* ---- The case ---- */

static void close_case(void)
{
    uint32_t me = this_cpu()->index + 1;
    debugger_release(&cpus[the_case.target]);
    atomic_compare_exchange_strong(&the_case.observer, &me, 0);
}

/* Reports the suspect, unless it takes timer interrupts again. regs NULL: it may not be hung, so nothing else
 * is done. */
static void end_case(const struct kernel_regs *regs, uint64_t now)
{
    static char what[80]; /* shown by the debugger during its session */
    struct cpu *target = &cpus[the_case.target];
    struct watch *watch = &watches[target->index];
    uint32_t suspected = SUSPECTED;
    const uint64_t silence = milliseconds_of(elapsed(atomic_load(&watch->beat_at), now));
    const bool is_silent = atomic_compare_exchange_strong(&watch->suspicion, &suspected, REPORTED);
    if (is_silent) {
        trace_timer_silent(target->index, (uint32_t)silence, regs ? arch_trap_ip(regs) : 0);
        format_text(what, sizeof what, "cpu %u took no timer interrupt for %lu.%lu s", target->index,
                    silence / 1000, silence % 1000 / 100);
        report(target, what, regs);
    }
    close_case();
    if (is_silent && regs && action == DEBUGGER)
        debugger_enter(what);
    else if (is_silent && regs && action == PANIC)
        panic("watchdog: %s", what);
    if (is_silent)
        end_hang(target);
}

/* First, does the suspect execute? Then, where is it? */
static void continue_case(uint64_t now)
{
    struct progress_check *check = &the_case.check;
    struct cpu *target = &cpus[the_case.target];
    const struct kernel_regs *regs = the_case.asked_at ? debugger_stopped_at(target->index) : NULL;
    if (atomic_load(&watches[target->index].suspicion) != SUSPECTED) {
        close_case();
    } else if (the_case.asked_at) {
        if (regs || now - the_case.asked_at > patience)
            end_case(regs, now);
    } else if (progress_check_step(check, target, now, limit / GRACES)) {
        the_case.asked_at = now;
        debugger_inspect(target);
    } else if (!check->noted_at && now - check->requested_at > patience) {
        end_case(NULL, now);
    }
}

/* Takes the case, unless it has an observer that still checks. */
static void begin(uint32_t target, uint64_t now)
{
    struct watch *watch = &watches[target];
    uint32_t observer = atomic_load(&the_case.observer), trusting = NONE;
    if (observer && is_observing(&watches[observer - 1], now))
        return;
    if (!atomic_compare_exchange_strong(&the_case.observer, &observer, this_cpu()->index + 1))
        return;
    atomic_compare_exchange_strong(&watch->suspicion, &trusting,
                                   SUSPECTED); /* or the last observer's suspicion */
    debugger_release(&cpus[the_case.target]);  /* for which it may have stopped */
    the_case.target = target;
    the_case.check = (struct progress_check){0};
    the_case.asked_at = 0;
    continue_case(now);
}

/* ---- In every CPU's heartbeat ---- */

static uint32_t next_online(uint32_t cpu)
{
    uint64_t online = atomic_load(&sched_online_cpus), behind = cpu == 63 ? 0 : online & ~0ull << (cpu + 1);
    return (uint32_t)__builtin_ctzll(behind ? behind : online);
}

/* Whether this CPU's silence may be due to a hung CPU for which it waits with interrupts off. If there is
 * none, such CPUs wait for each other, and are reported. */
static bool waits_for_hung(const struct watch *watch, uint64_t now)
{
    if (!is_spinning(watch, now))
        return false;
    /* the CPU that it waits for may not count as silent yet */
    if (silence(watch, now) <= 2 * limit)
        return true;
    for (uint64_t left = atomic_load(&sched_online_cpus); left; left &= left - 1) {
        const struct watch *other = &watches[__builtin_ctzll(left)];
        if (silence(other, now) > limit && !is_spinning(other, now))
            return true;
    }
    return false;
}

/* Checks the following CPUs up to one that is not silent. Skips reported ones, and takes the one that has
 * been silent longest. */
static void find_suspect(uint64_t now)
{
    uint32_t me = this_cpu()->index, oldest = me;
    uint64_t oldest_beat = 0;
    for (uint32_t i = next_online(me); i != me; i = next_online(i)) {
        const struct watch *watch = &watches[i];
        uint64_t beat = atomic_load_explicit(&watch->beat_at, memory_order_relaxed);
        if (!beat) /* it has not started */
            continue;
        if (silence(watch, now) <= limit)
            break;
        if (atomic_load(&watch->suspicion) != REPORTED && !waits_for_hung(watch, now) &&
            (oldest == me || beat < oldest_beat)) {
            oldest = i;
            oldest_beat = beat;
        }
    }
    if (oldest != me)
        begin(oldest, now);
}

static void note_return(struct watch *mine, uint64_t silence)
{
    uint32_t suspicion = atomic_exchange(&mine->suspicion, NONE);
    uint64_t milliseconds = milliseconds_of(silence);
    trace_timer_awake((uint32_t)milliseconds, suspicion == REPORTED);
    if (suspicion == REPORTED)
        log_line("watchdog: cpu %u takes timer interrupts again, after %lu.%lu s", this_cpu()->index,
                 milliseconds / 1000, milliseconds % 1000 / 100);
}

static void watch_others(struct watch *mine, uint64_t now)
{
    uint64_t gap = elapsed(atomic_load_explicit(&mine->checked_at, memory_order_relaxed), now);
    atomic_store_explicit(&mine->checked_at, now, memory_order_relaxed);
    bool has_case = atomic_load_explicit(&the_case.observer, memory_order_relaxed) == this_cpu()->index + 1;
    if (time_stood_still(mine, gap)) {
        mine->since = now;
        if (has_case)
            close_case();
    } else if (has_case) {
        continue_case(now);
    } else {
        find_suspect(now);
    }
}

void watchdog_beat(uint64_t now)
{
    struct cpu *cpu = this_cpu();
    struct watch *mine = &watches[cpu->index];
    uint64_t silent = elapsed(atomic_load_explicit(&mine->beat_at, memory_order_relaxed), now);
    atomic_store_explicit(&mine->beat_at, now, memory_order_relaxed);
    if (atomic_load_explicit(&mine->suspicion, memory_order_relaxed) != NONE)
        note_return(mine, silent);
    if (limit)
        watch_others(mine, now);
    const uint64_t end = atomic_load_explicit(&run_ends, memory_order_relaxed);
    if (end && now > end && atomic_exchange(&run_ends, 0))
        panic("watchdog: the run is not over in time");
    if (atomic_load_explicit(&hangs.cpus, memory_order_relaxed) & cpu->bit) {
        atomic_fetch_and(&hangs.cpus, ~cpu->bit);
        hang(hangs.milliseconds);
    }
}

static void check_while_spinning(void)
{
    struct watch *mine = &watches[this_cpu()->index];
    uint64_t now = arch_clock();
    if (limit && atomic_load_explicit(&mine->beat_at, memory_order_relaxed) &&
        elapsed(atomic_load_explicit(&mine->checked_at, memory_order_relaxed), now) >
            clock_hz / CHECKS_A_SECOND)
        watch_others(mine, now);
}

void watchdog_init(void)
{
    static const char *const actions[] = {"report", "debugger", "panic"};
    uint64_t run = read_seconds("watchdog.run=", 0);
    run_ends = run ? arch_clock() + run : 0;
    limit = read_seconds("watchdog=", SECONDS_DEFAULT);
    patience = limit * PATIENCES;
    if (patience < timer_ticks_ms(PATIENCE_MIN_MS))
        patience = timer_ticks_ms(PATIENCE_MIN_MS);
    action = boot_choice("watchdog.action=", actions, sizeof actions / sizeof actions[0]);
    cpu_spins = check_while_spinning;
}
