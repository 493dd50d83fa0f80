/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/watchdog.c - who is silent, and why. Interface: watchdog.h.
 *
 * One processor is looked into at a time, by one observer, at the observer's beats: begin(), then
 * go_on_with() until the silent one has beaten again (it clears its own suspicion), or has answered ANSWERS
 * times without, or does not even answer: then raise_alarm(). Others that are silent too wait for their turn;
 * an observer that falls silent itself loses the case. All words that others read are atomic, and no lock is
 * taken.
 */
#include <arch/clock.h>
#include <arch/debug.h>
#include <kernel/cpu.h>
#include <kernel/debug/debugger.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/thread.h>
#include <kernel/timer.h>
#include <kernel/watchdog.h>
#include <stdatomic.h>
#include <trace/control/control.h>
#include <trace/timer.h>

#define SECONDS_DEFAULT 10u
#define ANSWERS         3u /* without a timer interrupt behind any of them: it hangs */
#define GRACES          8u /* in the limit; a grace passes behind each answer */
#define PATIENCES       4u /* limits until who does not answer is reported without */
#define CHAIN_MAX       16
#define TAIL_EVENTS     16
#define TEXT_MAX        3072

static uint64_t limit;                          /* ticks of silence; 0: off */
static enum { REPORT, DEBUGGER, PANIC } action; /* behind the report */

enum suspicion { NONE, SUSPECTED, REPORTED };

static struct watch {
    _Atomic uint64_t beat_at;   /* ticks, of its last beat; 0: none yet */
    _Atomic uint32_t suspicion; /* raised by observers, cleared by the processor itself */
    _Atomic bool asked;         /* to answer; cleared when it does */
    uint64_t since;             /* its own: it has looked around without a gap since then, ticks */
    uint32_t sessions;          /* its own: debugger_sessions() then */
} __attribute__((aligned(128))) watches[CPUS_MAX];

/* Who is looked into. observer: 1 + index, 0 nobody. The rest is the observer's. */
static struct {
    _Atomic uint32_t observer;
    uint32_t target, answers;
    uint64_t asked_at;
} the_case;

/* Where the target is, by its own word. It writes, then clears `asked`; the observer reads what it finds
 * cleared. */
static struct {
    uint64_t answered_at; /* ticks */
    uint64_t ip;
    size_t length;
    char text[TEXT_MAX]; /* lines: who runs there, registers, call chain */
} sighting;

/* ---- boot options ------------------------------------------------------------------------------------- */

static bool is_word(const char *text, const char *word)
{
    return strlen(text) == strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

void watchdog_init(void)
{
    char text[16];
    uint64_t seconds = SECONDS_DEFAULT;
    if (boot_option("watchdog=", text, sizeof text)) {
        seconds = 0;
        for (const char *p = text; *p >= '0' && *p <= '9'; p++)
            seconds = seconds * 10 + (uint64_t)(*p - '0');
    }
    limit = seconds < TIMER_NEVER / clock_hz / PATIENCES ? seconds * clock_hz : 0;
    if (boot_option("watchdog.action=", text, sizeof text))
        action = is_word(text, "debugger") ? DEBUGGER : is_word(text, "panic") ? PANIC : REPORT;
}

/* ---- on the silent processor -------------------------------------------------------------------------- */

/* A line into the sighting, as far as it fits. */
static void __attribute__((format(printf, 1, 2))) put_line(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = TEXT_MAX - sighting.length;
    int length = format_text_list(sighting.text + sighting.length, room, format, arguments);
    va_end(arguments);
    sighting.length += (size_t)length < room ? (size_t)length : room - 1;
}

static void put_chain(struct cpu *cpu, const struct kernel_regs *regs)
{
    char symbol[80];
    uint64_t chain[CHAIN_MAX];
    uint32_t depth = arch_trap_calls(regs, debug_read_kernel_word, cpu, chain, CHAIN_MAX);
    for (uint32_t i = 0; i < depth; i++) {
        (i ? debugger_return_symbol : debugger_symbol)(symbol, sizeof symbol, chain[i]);
        put_line("  %016lx %s\n", chain[i], symbol);
    }
}

static void note_sighting(struct cpu *cpu, const struct kernel_regs *regs)
{
    const struct thread_block *block = cpu->current->block;
    bool of_user = arch_trap_of_user(regs);
    sighting.length = 0;
    put_line("cpu %u: %s mode, interrupts %s, current %s tid %u pid %u\n", cpu->index,
             of_user ? "user" : "kernel", arch_trap_was_interruptible(regs) ? "on" : "off", block->name,
             block->tid, block->pid);
    arch_print_trap(regs, put_line);
    if (!of_user)
        put_chain(cpu, regs);
    sighting.ip = arch_trap_ip(regs);
    sighting.answered_at = arch_clock();
}

bool watchdog_answer(const struct kernel_regs *regs)
{
    struct cpu *cpu = this_cpu();
    struct watch *mine = &watches[cpu->index];
    if (!atomic_load_explicit(&mine->asked, memory_order_acquire)) /* pairs with ask() */
        return false;
    if (the_case.target == cpu->index)
        note_sighting(cpu, regs);
    atomic_store_explicit(&mine->asked, false, memory_order_release);
    return true;
}

/* ---- silence ------------------------------------------------------------------------------------------ */

/* Clocks of two processors may differ a little. */
static uint64_t elapsed(uint64_t since, uint64_t now)
{
    return now > since ? now - since : 0;
}

/* As far as this processor can tell. */
static bool is_silent(const struct watch *watch, uint64_t now)
{
    uint64_t beat_at = atomic_load_explicit(&watch->beat_at, memory_order_relaxed);
    uint64_t since = watches[this_cpu()->index].since;
    return elapsed(beat_at > since ? beat_at : since, now) > limit;
}

/* For this processor, perhaps for all: whoever was silent meanwhile may have had no time. */
static bool time_stood_still(struct watch *mine, uint64_t gap)
{
    uint32_t sessions = debugger_sessions();
    bool stood = gap > limit / 2 || sessions != mine->sessions || debugger_is_active();
    mine->sessions = sessions;
    return stood;
}

/* ---- the report --------------------------------------------------------------------------------------- */

static uint64_t milliseconds_of(uint64_t ticks)
{
    return timer_nanoseconds(ticks) / 1000000;
}

static void print_sighting(void)
{
    char line[160];
    for (const char *at = sighting.text; *at;) {
        size_t size = 0;
        while (at[size] && at[size] != '\n' && size < sizeof line - 1)
            size++;
        memcpy(line, at, size);
        line[size] = 0;
        log_line("%s", line);
        at += size + (at[size] == '\n');
    }
}

static void report(uint32_t target, const char *what, bool answered)
{
    bool locked = log_begin_urgent();
    log_line("watchdog: %s, noticed by cpu %u", what, this_cpu()->index);
    if (answered)
        print_sighting();
    else
        log_line("cpu %u does not answer an interrupt that nothing masks", target);
    trace_dump_newest(1ull << target, TAIL_EVENTS, log_line);
    log_end_urgent(locked);
}

static void act(const char *what)
{
    if (action == DEBUGGER)
        debugger_enter(what);
    else if (action == PANIC)
        panic("watchdog: %s", what);
}

/* ---- a case ------------------------------------------------------------------------------------------- */

static void close_case(void)
{
    uint32_t me = this_cpu()->index + 1;
    atomic_compare_exchange_strong(&the_case.observer, &me, 0);
}

static void raise_alarm(uint64_t now)
{
    static char what[80]; /* the debugger shows it during its session */
    bool answered = the_case.answers > 0;
    uint32_t target = the_case.target, suspected = SUSPECTED;
    struct watch *watch = &watches[target];
    uint64_t silence = milliseconds_of(now - atomic_load(&watch->beat_at));
    if (!atomic_compare_exchange_strong(&watch->suspicion, &suspected, REPORTED)) {
        close_case();
        return;
    }
    trace_timer_silent(target, (uint32_t)silence, answered ? sighting.ip : 0);
    format_text(what, sizeof what, "cpu %u took no timer interrupt for %lu.%lu s", target, silence / 1000,
                silence % 1000 / 100);
    report(target, what, answered);
    close_case();
    act(what);
}

static void ask(uint64_t now)
{
    struct cpu *target = &cpus[the_case.target];
    the_case.asked_at = now;
    atomic_store(&watches[target->index].asked, true);
    arch_break_in(target);
}

/* Takes the case if nobody has it, or somebody who is silent. */
static void begin(uint32_t target, uint64_t now)
{
    struct watch *watch = &watches[target];
    uint32_t observer = atomic_load(&the_case.observer), trusting = NONE;
    if (observer && !is_silent(&watches[observer - 1], now))
        return;
    if (!atomic_compare_exchange_strong(&the_case.observer, &observer, this_cpu()->index + 1))
        return;
    atomic_compare_exchange_strong(&watch->suspicion, &trusting, SUSPECTED); /* or the last observer's */
    the_case.target = target;
    the_case.answers = 0;
    ask(now);
}

static void go_on_with(uint64_t now)
{
    struct watch *watch = &watches[the_case.target];
    if (atomic_load(&watch->suspicion) != SUSPECTED) {
        close_case();
    } else if (atomic_load_explicit(&watch->asked, memory_order_acquire)) { /* pairs with watchdog_answer */
        if (now - the_case.asked_at > limit * PATIENCES)
            raise_alarm(now);
    } else if (elapsed(sighting.answered_at, now) > limit / GRACES) {
        if (++the_case.answers == ANSWERS)
            raise_alarm(now);
        else
            ask(now);
    }
}

/* ---- hanging on purpose ------------------------------------------------------------------------------- */

static struct {
    _Atomic uint64_t cpus; /* that shall hang at their next beat */
    uint64_t milliseconds; /* for so long; written before */
} hangs;

/* Not inlined: its name is what back-traces show. */
static void __attribute__((noinline)) hang(uint64_t milliseconds)
{
    for (uint64_t begin = arch_clock(), ticks = clock_hz / 1000 * milliseconds; arch_clock() - begin < ticks;)
        arch_relax();
}

void watchdog_hang(uint64_t cpus, uint64_t milliseconds)
{
    if (!cpus)
        hang(milliseconds);
    hangs.milliseconds = milliseconds;
    atomic_fetch_or(&hangs.cpus, cpus);
}

/* ---- every processor, a few times a second ------------------------------------------------------------ */

static uint32_t next_online(uint32_t cpu)
{
    uint64_t online = atomic_load(&sched_online_cpus), behind = cpu == 63 ? 0 : online & ~0ull << (cpu + 1);
    return (uint32_t)__builtin_ctzll(behind ? behind : online);
}

/* As far as the next one that beats, or is late but not yet silent; what was reported is passed over. Of
 * several the one is taken that is silent the longest: who hangs drags others along, who wait for it with
 * interrupts off. */
static void look_around(uint64_t now)
{
    uint32_t me = this_cpu()->index, oldest = me;
    uint64_t oldest_beat = 0;
    for (uint32_t i = next_online(me); i != me; i = next_online(i)) {
        const struct watch *watch = &watches[i];
        uint64_t beat = atomic_load_explicit(&watch->beat_at, memory_order_relaxed);
        if (!beat) /* it has not begun */
            continue;
        if (!is_silent(watch, now))
            break;
        if (atomic_load(&watch->suspicion) != REPORTED && (oldest == me || beat < oldest_beat)) {
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

static void watch_others(struct watch *mine, uint64_t gap, uint64_t now)
{
    bool has_case = atomic_load_explicit(&the_case.observer, memory_order_relaxed) == this_cpu()->index + 1;
    if (time_stood_still(mine, gap)) {
        mine->since = now;
        if (has_case)
            close_case();
    } else if (has_case) {
        go_on_with(now);
    } else {
        look_around(now);
    }
}

void watchdog_beat(uint64_t now)
{
    struct cpu *cpu = this_cpu();
    struct watch *mine = &watches[cpu->index];
    uint64_t gap = elapsed(atomic_load_explicit(&mine->beat_at, memory_order_relaxed), now);
    atomic_store_explicit(&mine->beat_at, now, memory_order_relaxed);
    if (atomic_load_explicit(&mine->suspicion, memory_order_relaxed) != NONE)
        note_return(mine, gap);
    if (limit)
        watch_others(mine, gap, now);
    if (atomic_load_explicit(&hangs.cpus, memory_order_relaxed) & cpu->bit) {
        atomic_fetch_and(&hangs.cpus, ~cpu->bit);
        hang(hangs.milliseconds);
    }
}
