/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile.c - the sampling profiler. Interface, and what can be sampled: profile.h.
 *
 * Nothing here waits or brings a page in, so a call chain ends at a missing page of the stack. Where CPUs
 * count instructions, readers of the trace can weight samples by them.
 */
#include <arch/clock.h>
#include <arch/counter.h>
#include <arch/debug.h>
#include <arch/user.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/smp_call.h>
#include <kernel/diagnosis/entry_paths.h>
#include <kernel/diagnosis/profile.h>
#include <kernel/kernel.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/trace/restart.h>
#include <tarn/error.h>
#include <trace/profile.h>

#define CHAIN_MAX 64u

uint64_t profile_period;

/* ---- Timing ---- */

/* Xorshift; each CPU has its own seed. */
static uint64_t next_random(struct profile *profile)
{
    uint64_t x = profile->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return profile->random = x;
}

static uint64_t draw(struct profile *profile)
{
    uint64_t jitter = profile_period / 100 * PROFILE_JITTER_PERCENT;
    return profile_period - jitter + next_random(profile) % (2 * jitter + 1);
}

static void account(struct profile *profile, uint64_t now)
{
    uint32_t counter = arch_instructions();
    profile->busy += now - profile->since;
    profile->instructions += counter - profile->counter;
    profile->since = now;
    profile->counter = counter;
}

static void count_from_here(struct profile *profile, uint64_t now)
{
    profile->since = now;
    profile->counter = arch_instructions();
}

/* ---- Call chains ---- */

struct where {
    uint64_t chain[1 + CHAIN_MAX]; /* the first is the interrupted instruction */
    uint32_t count, kernel_count;
};

static bool read_user_stack(void *context, uint64_t address, uint64_t *word)
{
    (void)context;
    return arch_copy_from_user(word, (const void *)address, sizeof *word) == 0;
}

/* Inserts what may be the interrupted function's caller; readers of the trace can tell. */
static void put_caller(struct where *where, uint32_t at, uint64_t address)
{
    if (!address || where->count <= at || where->count == 1 + CHAIN_MAX)
        return;
    for (uint32_t i = where->count++; i > at + 1; i--)
        where->chain[i] = where->chain[i - 1];
    where->chain[at + 1] = address;
}

/* Appends the program's call chain; none if another program's tables are loaded, in a switch. */
static void put_user(struct where *where)
{
    struct cpu *cpu = this_cpu();
    const struct thread *thread = cpu->current;
    if (!thread->space || __atomic_load_n(&cpu->space, __ATOMIC_RELAXED) != thread->space)
        return;
    uint64_t fault_address = cpu->fault_address; /* this may have interrupted a copy */
    uint32_t fault_access = cpu->fault_access;
    bool present_only = cpu->copies_present_only;
    uint32_t at = where->count;
    cpu->copies_present_only = true;
    where->count +=
        arch_frame_calls(&thread->frame, read_user_stack, NULL, where->chain + at, 1 + CHAIN_MAX - at);
    put_caller(where, at, arch_frame_caller(&thread->frame, read_user_stack, NULL));
    cpu->fault_address = fault_address;
    cpu->fault_access = fault_access;
    cpu->copies_present_only = present_only;
}

static void log_sample(struct profile *profile, const struct where *where, uint64_t late)
{
    const struct thread *thread = current_thread();
    bool counts = arch_counts_instructions(), kernel = where->kernel_count != 0;
    bool called = thread->space && frame_is_syscall(&thread->frame);
    uint16_t mode = !kernel ? TRACE_PROFILE_USER : called ? TRACE_PROFILE_SYSCALL : TRACE_PROFILE_KERNEL;
    trace_profile_sample(where->chain[0], profile->busy, counts ? profile->instructions : 0, late,
                         thread->tid, thread->block->pid, mode,
                         (uint16_t)(kernel ? where->kernel_count - 1 : 0), where->count - 1,
                         where->chain + 1);
    profile->busy = profile->instructions = 0;
}

/* ---- The timer ---- */

void profile_timer(uint64_t now)
{
    struct cpu *cpu = this_cpu();
    uint64_t due = cpu->timer_queue.sample;
    if (cpu->current == cpu->idle || !profile_period) {
        timer_set_sample(TIMER_NEVER);
        return;
    }
    account(&cpu->profile, now);
    if (TRACE_ON_PROFILE()) {
        struct where where = {.count = 0};
        put_user(&where);
        if (where.count)
            log_sample(&cpu->profile, &where, now - due);
    }
    timer_set_sample(now + draw(&cpu->profile));
}

/* `where` has the kernel's part of the chain. */
static void sample_kernel(struct cpu *cpu, struct where *where, uint64_t now)
{
    account(&cpu->profile, now);
    where->kernel_count = where->count;
    put_user(where);
    log_sample(&cpu->profile, where, now - cpu->timer_queue.sample);
}

void profile_kernel(const struct kernel_regs *regs)
{
    struct cpu *cpu = this_cpu();
    uint64_t now = arch_clock();
    cpu->profile.came = true;
    if (now < cpu->timer_queue.sample)
        return;
    /* A switch was logged but is not done: if the sample began a packet, its context would name the old
     * thread. Or the sample has no place, while a packet is begun. It is taken when the window closes. */
    if (cpu->switch_logged_at == cpu->switched_at || trace_is_changing_packets())
        return;
    if (TRACE_ON_PROFILE()) {
        struct where where = {.count = 0};
        where.count = arch_trap_calls(regs, cpu_read_stack, cpu, where.chain, CHAIN_MAX / 2);
        put_caller(&where, 0, arch_trap_caller(regs, cpu_read_stack, cpu));
        sample_kernel(cpu, &where, now);
    }
    timer_set_sample(now + draw(&cpu->profile));
}

/* ---- Sleep ---- */

/* A sample that is due belongs to the kernel path that leads here. */
void profile_sleep(void)
{
    struct cpu *cpu = this_cpu();
    struct profile *profile = &cpu->profile;
    uint64_t now = arch_clock(), due = cpu->timer_queue.sample;
    if (due == TIMER_NEVER)
        return;
    if (now < due) {
        account(profile, now);
        profile->left = due - now;
    } else {
        struct where where = {.count = 0};
        where.count = arch_backtrace(where.chain, CHAIN_MAX / 2);
        if (TRACE_ON_PROFILE() && where.count)
            sample_kernel(cpu, &where, now);
        profile->left = draw(profile);
    }
    timer_set_sample(TIMER_NEVER);
    cpu->timer_queue.programmed = TIMER_NEVER; /* the hardware timer is set for the old deadline */
    timer_program();
}

void profile_wake(void)
{
    struct profile *profile = &this_cpu()->profile;
    uint64_t now = arch_clock();
    count_from_here(profile, now);
    timer_set_sample(now + profile->left);
    timer_program();
}

/* ---- Windows ---- */

void profile_open_window(void)
{
    struct profile *profile = &this_cpu()->profile;
    profile->came = false;
    profile->window = true;
    arch_window_open();
}

/* The interrupted kernel may have changed the timer, so it is set to expire now. */
void profile_close_window(void)
{
    struct cpu *cpu = this_cpu();
    if (!cpu->profile.window)
        return;
    arch_window_close();
    cpu->profile.window = false;
    if (!cpu->profile.came)
        return;
    uint64_t now = arch_clock();
    cpu->timer_queue.programmed = now;
    arch_timer_set(now);
}

/* ---- Settings ---- */

static void start_here(void *nothing)
{
    struct cpu *cpu = this_cpu();
    struct profile *profile = &cpu->profile;
    uint64_t now = arch_clock();
    profile->busy = profile->instructions = 0;
    count_from_here(profile, now);
    profile->left = profile_period ? draw(profile) : 0;
    bool awake = cpu->current != cpu->idle;
    timer_set_sample(profile_period && awake ? now + profile->left : TIMER_NEVER);
    timer_program();
}

void profile_init_cpu(struct cpu *cpu)
{
    cpu->profile.random = (cpu->index + 1) * 0x9e3779b97f4a7c15ull ^ arch_clock() << 20;
    count_from_here(&cpu->profile, arch_clock());
    if (profile_period) /* it runs its idle thread, but does not sleep yet */
        timer_set_sample(arch_clock() + draw(&cpu->profile));
}

static void log_setting(void)
{
    trace_profile_setting(profile_period, PROFILE_JITTER_PERCENT, arch_counts_instructions());
}

void profile_statedump(void)
{
    if (profile_period)
        log_setting();
}

static bool is_possible(uint64_t period_ns)
{
    return period_ns == 0 || (period_ns >= PROFILE_PERIOD_MIN_NS && period_ns <= PROFILE_PERIOD_MAX_NS);
}

/* If two calls race, every CPU uses the period that was stored last. */
int64_t profile_set(uint64_t period_ns)
{
    if (!is_possible(period_ns))
        return -E_BAD_ARGUMENT;
    profile_close_window();
    __atomic_store_n(&profile_period, period_ns ? timer_ticks(period_ns) : 0, __ATOMIC_SEQ_CST);
    update_entry_paths();
    log_setting();
    uint64_t others = atomic_load_explicit(&sched_online_cpus, memory_order_relaxed) & ~this_cpu()->bit;
    if (others)
        smp_call(others, start_here, NULL);
    start_here(NULL);
    return 0;
}

void profile_boot(void)
{
    uint64_t us;
    if (!boot_number("profile=", &us))
        return;
    if (us > PROFILE_PERIOD_MAX_NS || !is_possible(us * 1000)) {
        log_line("profile=%lu: a period is 0, or %lu to %lu us", us, PROFILE_PERIOD_MIN_NS / 1000,
                 PROFILE_PERIOD_MAX_NS / 1000);
        return;
    }
    profile_period = timer_ticks(us * 1000);
    update_entry_paths();
    log_setting();
}
