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
#include <kernel/cpu/span.h>
#include <kernel/diagnosis/profile.h>
#include <kernel/kernel.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/trace/control.h>
#include <tarn/error.h>
#include <trace/profile.h>
#include <trace/ring/ring.h>

#define CHAIN_MAX 120u /* as much as an event holds */

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

static uint64_t draw_period(struct profile *profile)
{
    uint64_t jitter = profile_period / 100 * PROFILE_JITTER_PERCENT;
    return profile_period - jitter + next_random(profile) % (2 * jitter + 1);
}

static void count_from_here(struct cpu *cpu, uint64_t now)
{
    struct profile *profile = &cpu->profile;
    profile->since = now;
    profile->counter = arch_instructions();
}

static void account(struct cpu *cpu, uint64_t now)
{
    struct profile *profile = &cpu->profile;
    const struct profile last = *profile;
    count_from_here(cpu, now);
    profile->busy += now - last.since;
    profile->instructions += profile->counter - last.counter;
}

/* ---- Call chains ---- */

struct where {
    /* chain[0] is the interrupted instruction. The last entry is not logged: it shows that there are more. */
    uint64_t chain[1 + CHAIN_MAX + 1];
    uint32_t count, kernel_count;
    bool is_cut; /* outermost calls are missing */
};

/* Chains begin with a frame at 0. */
static bool read_user_stack(void *context, uint64_t address, uint64_t *word)
{
    struct where *where = context;
    const bool is_read = arch_copy_from_user(word, (const void *)address, sizeof *word) == 0;
    where->is_cut |= !is_read && address >= FRAME_SIZE;
    return is_read;
}

/* Inserts the possible caller of the interrupted function; readers of the trace can tell whether it is. */
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
    where->is_cut = thread->space && __atomic_load_n(&cpu->space, __ATOMIC_RELAXED) != thread->space;
    if (!thread->space || where->is_cut)
        return;
    uint64_t fault_address = cpu->fault_address; /* this may have interrupted a copy */
    uint32_t fault_access = cpu->fault_access;
    bool present_only = cpu->copies_present_only;
    uint32_t at = where->count;
    cpu->copies_present_only = true;
    where->count +=
        arch_frame_calls(&thread->frame, read_user_stack, where, where->chain + at, 2 + CHAIN_MAX - at);
    if (where->count > 1 + CHAIN_MAX) {
        where->count = 1 + CHAIN_MAX;
        where->is_cut = true;
    }
    put_caller(where, at, arch_frame_caller(&thread->frame, read_user_stack, where));
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
    trace_profile_sample(where->chain[0], profile->busy, counts ? profile->instructions : 0, late, 0,
                         thread->tid, thread->block->pid, mode,
                         (uint16_t)(kernel ? where->kernel_count - 1 : 0), (uint16_t)(where->count - 1),
                         where->is_cut, where->chain + 1);
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
    account(cpu, now);
    if (TRACE_ON_PROFILE()) {
        struct where where = {.count = 0};
        put_user(&where);
        if (where.count)
            log_sample(&cpu->profile, &where, now - due);
    }
    timer_set_sample(now + draw_period(&cpu->profile));
}

/* `where` has the kernel's part of the chain. After account(). */
static void sample_kernel(struct cpu *cpu, struct where *where, uint64_t now)
{
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
    /* A sample during a switch or the begin of a packet, where events would be lost, is taken when the window
     * closes. */
    if (cpu_is_switching(cpu) || trace_ring_is_busy())
        return;
    account(cpu, now);
    if (TRACE_ON_PROFILE()) {
        struct where where = {.count = 0};
        where.count = arch_trap_calls(regs, cpu_read_stack, cpu, where.chain, CHAIN_MAX / 2);
        put_caller(&where, 0, arch_trap_caller(regs, cpu_read_stack, cpu));
        sample_kernel(cpu, &where, now);
    }
    timer_set_sample(now + draw_period(&cpu->profile));
}

/* ---- Sleep ---- */

/* A sample that is due belongs to the kernel path that leads here. */
void profile_sleep(void)
{
    struct cpu *cpu = this_cpu();
    struct profile *profile = &cpu->profile;
    uint64_t now = arch_clock(), due = cpu->timer_queue.sample;
    if (!profile_period || due == TIMER_NEVER)
        return;
    account(cpu, now);
    if (now < due) {
        profile->left = due - now;
    } else {
        struct where where = {.count = 0};
        where.count = arch_backtrace(where.chain, CHAIN_MAX / 2);
        if (TRACE_ON_PROFILE() && where.count)
            sample_kernel(cpu, &where, now);
        profile->left = draw_period(profile);
    }
    timer_set_sample(TIMER_NEVER);
    cpu->timer_queue.programmed = TIMER_NEVER; /* the hardware timer is set for the old deadline */
    timer_program();
}

void profile_wake(void)
{
    struct cpu *cpu = this_cpu();
    uint64_t now = arch_clock();
    if (!profile_period)
        return;
    count_from_here(cpu, now);
    timer_set_sample(now + cpu->profile.left);
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

static void start_cpu(struct cpu *cpu, uint64_t now)
{
    struct profile *profile = &cpu->profile;
    profile->busy = profile->instructions = 0;
    count_from_here(cpu, now);
    profile->left = profile_period ? draw_period(profile) : 0;
}

static void start_here(void *nothing)
{
    struct cpu *cpu = this_cpu();
    struct profile *profile = &cpu->profile;
    uint64_t now = arch_clock();
    start_cpu(cpu, now);
    bool awake = cpu->current != cpu->idle;
    timer_set_sample(profile_period && awake ? now + profile->left : TIMER_NEVER);
    timer_program();
}

void profile_init_cpu(struct cpu *cpu)
{
    cpu->profile.random = (cpu->index + 1) * 0x9e3779b97f4a7c15ull ^ arch_clock() << 20;
    const uint64_t now = arch_clock();
    start_cpu(cpu, now);
    if (profile_period) /* it runs its idle thread, but does not sleep yet */
        timer_set_sample(now + cpu->profile.left);
}

static void log_setting(void)
{
    trace_profile_setting(profile_period, PROFILE_JITTER_PERCENT, arch_counts_instructions(), "ticks");
}

void profile_statedump(void)
{
    if (profile_period)
        log_setting();
}

/* trace_lock held. */
static void watch(bool on)
{
    profile_watches = on;
    trace_sites_agree();
}

/* If two calls race, every CPU uses the period that was stored last. */
int64_t profile_set(uint64_t period)
{
    if (period && (period < PROFILE_PERIOD_MIN_NS || period > PROFILE_PERIOD_MAX_NS))
        return -E_BAD_ARGUMENT;
    profile_close_window();
    spin_lock(&trace_lock); /* logged in the order of changes */
    if (period)
        watch(true);
    __atomic_store_n(&profile_period, period ? timer_ticks(period) : 0, __ATOMIC_SEQ_CST);
    log_setting();
    spin_unlock(&trace_lock);
    uint64_t others = atomic_load_explicit(&sched_online_cpus, memory_order_relaxed) & ~this_cpu()->bit;
    smp_call(others, start_here, NULL);
    start_here(NULL);
    /* every CPU has been outside of windows since the period was set */
    spin_lock(&trace_lock);
    if (!profile_period)
        watch(false);
    spin_unlock(&trace_lock);
    return 0;
}
