/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profiles.c - counts routines: begins and ends of what the kernel does. Interface: profiles.h.
 *
 * Switching on makes a new epoch. A profile of an earlier one counts for nothing, and is used again by its
 * thread. What a thread has open from before is older than its profile, and is dropped at its end.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/smp_call.h>
#include <kernel/diagnosis/entry_paths.h>
#include <kernel/diagnosis/profile_rows.h>
#include <kernel/kernel.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/trace/control.h>
#include <tarn/syscall_kernel.h>
#include <trace/sched.h>

bool profiles_on, profiles_alone;
enum profiles_level profiles_level;
uint64_t profiles_since, profiles_until, profiles_epoch;

/* ---- A thread's profile ---- */

/* Counting of the thread begins at `born`, when it had run for `ran_before`. */
static void begin_life(struct routine_profile *profile, struct thread *thread, uint64_t born,
                       uint64_t ran_before)
{
    profile->thread = thread;
    profile->head.pid = thread->block->pid;
    profile->head.tid = thread->tid;
    profile->head.threads = 1;
    profile->head.born = born;
    profile->ran_before = ran_before;
    profile->head.name = virt_to_phys(thread->block->name);
    profile->head.open = virt_to_phys(&thread->routines);
    profile->served_since = 0;
    thread->routines.depth = 0;
    profile_begin_program(profile, thread);
}

/* NULL: no memory, or profiles are not on yet. */
static __attribute__((noinline, cold)) struct routine_profile *make_profile(struct thread *thread,
                                                                            uint64_t born,
                                                                            uint64_t ran_before)
{
    struct routine_profile *profile = thread->profile;
    const uint64_t since = __atomic_load_n(&profiles_since, __ATOMIC_RELAXED);
    if (!since)
        return NULL;
    if (profile) {
        spin_lock(&profiles_lock);
        profile_begin_change(profile);
        profile_clear(profile);
        begin_life(profile, thread, born, ran_before);
        profile_end_change(profile);
        spin_unlock(&profiles_lock);
        return profile;
    }
    profile = profile_new(TRACE_PROFILE_THREAD, thread->space);
    if (!profile)
        return NULL;
    begin_life(profile, thread, born, ran_before);
    spin_lock(&profiles_lock);
    profile_link(profile);
    spin_unlock(&profiles_lock);
    return thread->profile = profile;
}

static bool is_current(const struct routine_profile *profile)
{
    return profile && profile->head.epoch == __atomic_load_n(&profiles_epoch, __ATOMIC_RELAXED);
}

/* That of a thread that runs on this CPU. NULL: none. */
static inline struct routine_profile *profile_of(struct thread *thread, uint64_t now)
{
    struct routine_profile *profile = thread->profile;
    if (__builtin_expect(profile != NULL, 1))
        return profile;
    return make_profile(thread, now, thread->run_ticks + now - this_cpu()->switched_at);
}

__attribute__((noinline)) void profile_update_slowly(struct thread *thread, struct profile_rows *rows,
                                                     const struct open_routine *open, uint64_t elapsed)
{
    if (open->since < thread->profile->head.born)
        return;
    struct trace_profile_row *row =
        profile_find_row(rows, open->key | rows->program->context << TRACE_PROFILE_CONTEXT_SHIFT);
    const uint64_t times = row->begun + 1, bucket = 63 - (uint64_t)__builtin_clzll(elapsed | 1);
    row->begun = times;
    __atomic_thread_fence(__ATOMIC_RELEASE); /* as in routine_end() */
    row->inclusive += elapsed;
    row->exclusive += elapsed - open->nested;
    if (elapsed < row->least)
        row->least = elapsed;
    if (elapsed > row->greatest)
        row->greatest = elapsed;
    row->limit = row->greatest < 1ull << (TRACE_PROFILE_BUCKETS - 1)
                     ? row->greatest
                     : (1ull << (TRACE_PROFILE_BUCKETS - 1)) - 1;
    row->times[bucket < TRACE_PROFILE_BUCKETS ? bucket : TRACE_PROFILE_BUCKETS - 1]++;
    __atomic_store_n(&row->ended, times, __ATOMIC_RELEASE);
}

/* ---- Begins and ends ---- */

/* Ends the innermost one, if there is any. */
static inline void end_innermost(struct thread *thread, uint64_t now)
{
    const uint32_t depth = thread->routines.depth;
    struct routine_profile *profile;
    if (depth && (profile = profile_of(thread, now)))
        routine_end(thread, &profile->rows, &thread->routines, depth - 1, now);
}

void profiles_begin(struct thread *self, bool from_kernel, enum trace_routine_kind kind, uint64_t argument,
                    uint64_t now)
{
    const uint32_t depth = from_kernel ? self->routines.depth : 0;
    if (depth < OPEN_ROUTINES_MAX - 1)
        routine_begin(&self->routines, depth, trace_routine_key(kind, argument), now);
}

void profiles_end(struct thread *self, uint64_t now)
{
    end_innermost(self, now);
}

void profiles_end_as(struct thread *self, enum trace_routine_kind kind, uint64_t argument, uint64_t now)
{
    const uint32_t depth = self->routines.depth;
    if (!depth)
        return;
    self->traced &= ~TRACED_FAULT;
    self->routines.at[depth - 1].key = trace_routine_key(kind, argument);
    end_innermost(self, now);
}

void profiles_begin_interrupt(enum trace_routine_kind kind, uint64_t argument, uint64_t now)
{
    profiles_begin(this_cpu()->current, false, kind, argument, now);
}

void profiles_end_interrupt(uint64_t now)
{
    end_innermost(this_cpu()->current, now);
}

/* ---- System calls and messages ---- */

/* The thread serves a message from the time at which it has received it. */
static inline void begin_serving(struct thread *self, uint32_t number, int64_t result, uint64_t now)
{
    if (self->profile && (number == SYS_ipc_receive || number == SYS_ipc_reply_receive) && result == 0 &&
        self->reply_target.caller) {
        self->profile->served_since = now;
        self->profile->served_label = frame_label(&self->frame);
    }
}

/* Counts what was served; what is saved to be replied to later is not counted. It is nested in nothing, and
 * has no time of its own. */
static void end_serving(struct thread *self, struct routine_profile *profile, uint32_t number, uint64_t now)
{
    struct open_routines served; /* depth 1: it is not time of the kernel */
    served.at[0].nested = 0;
    routine_begin(&served, 1, trace_routine_key(TRACE_ROUTINE_SERVED, profile->served_label),
                  profile->served_since);
    served.at[1].nested = now - profile->served_since;
    profile->served_since = 0;
    if (number == SYS_ipc_reply || number == SYS_ipc_reply_receive)
        routine_end(self, &profile->rows, &served, 1, now);
}

static inline bool is_message(uint32_t number)
{
    return number - SYS_ipc_call <= SYS_ipc_reply_to - SYS_ipc_call;
}

/* A call is counted by its label instead of as a system call. */
static __attribute__((noinline)) void enter_message(struct thread *self, uint32_t number, uint64_t now)
{
    if (number == SYS_ipc_call)
        self->routines.at[0].key = trace_routine_key(TRACE_ROUTINE_CALL, frame_label(&self->frame));
    else if (number != SYS_ipc_send && self->profile && self->profile->served_since)
        end_serving(self, self->profile, number, now);
}

void profiles_enter_syscall(struct thread *self, uint32_t number, uint64_t now)
{
    routine_begin(&self->routines, 0, number, now); /* its key: the kind is 0 */
    if (__builtin_expect(is_message(number), 0))
        enter_message(self, number, now);
}
_Static_assert(TRACE_ROUTINE_SYSCALL == 0, "profiles_enter_syscall()");

/* A call that was not sent is only a system call. */
void profiles_restart_syscall(struct thread *self, uint64_t now)
{
    if (self->routines.depth)
        self->routines.at[0].key = self->traced & TRACED_NUMBER;
    end_innermost(self, now);
}

/* Of a message, or without a profile. */
static __attribute__((noinline)) int64_t leave_slowly(struct thread *self, int64_t result, uint64_t now)
{
    const uint32_t number = self->traced & TRACED_NUMBER;
    profiles_restart_syscall(self, now);
    begin_serving(self, number, result, now);
    self->traced = 0;
    return result;
}

int64_t profiles_leave_syscall(struct thread *self, int64_t result, uint64_t now)
{
    struct routine_profile *profile = self->profile;
    if (__builtin_expect(is_message(self->traced & TRACED_NUMBER), 0) || __builtin_expect(!profile, 0))
        return leave_slowly(self, result, now);
    self->traced = 0;
    routine_end(self, &profile->rows, &self->routines, 0, now);
    return result;
}

void profiles_resume(struct thread *thread, uint32_t traced, uint64_t now)
{
    struct open_routines *routines = &thread->routines;
    if (!routines->depth || !thread->profile)
        return;
    if (traced & TRACED_FAULT && trace_routine_kind(routines->at[0].key) == TRACE_ROUTINE_FAULT)
        routines->at[0].key = trace_routine_key(TRACE_ROUTINE_FAULT, thread->fault_kind);
    routine_end(thread, &thread->profile->rows, routines, 0, now);
    if (traced & TRACED_SYSCALL && is_message(traced & TRACED_NUMBER))
        begin_serving(thread, traced & TRACED_NUMBER, frame_result(&thread->frame), now);
}

/* ---- Switches ---- */

static inline void begin_out(struct thread *thread, uint32_t state, uint64_t now)
{
    const uint32_t depth = thread->routines.depth;
    routine_begin(&thread->routines, depth < OPEN_ROUTINES_MAX ? depth : OPEN_ROUTINES_MAX - 1,
                  trace_routine_key(TRACE_ROUTINE_OUT, state), now);
}

/* At cpu->switched_at. A thread with a profile of this epoch was switched away from in it, so the innermost
 * that it is in is OUT. */
static inline __attribute__((always_inline)) void switched(const struct cpu *cpu, struct thread *prev,
                                                           struct thread *next, uint32_t state)
{
    const uint64_t now = cpu->switched_at;
    const uint32_t depth = next->routines.depth;
    begin_out(prev, state, now);
    if (__builtin_expect(!is_current(next->profile), 0))
        make_profile(next, now, next->run_ticks);
    else if (depth)
        routine_end(next, &next->profile->rows, &next->routines, depth - 1, now);
}

/* Apart, so that profiles_switched() calls nothing that needs its registers kept. */
static __attribute__((noinline, cold)) void switched_and_logged(struct cpu *cpu, struct thread *prev,
                                                                struct thread *next)
{
    const uint32_t state = profiles_take_logged_switch(cpu, prev, next);
    switched(cpu, prev, next, state);
}

void profiles_switched(struct cpu *cpu, struct thread *prev, struct thread *next)
{
    if (TRACE_ON_SCHED_SWITCH())
        switched_and_logged(cpu, prev, next);
    else
        switched(cpu, prev, next, atomic_load_explicit(&prev->state, memory_order_relaxed));
}

/* ---- The switch ---- */

static void begin_idle_out(struct thread *idle)
{
    if (!is_current(idle->profile) && make_profile(idle, profiles_since, idle->run_ticks))
        begin_out(idle, THREAD_RUNNING, profiles_since);
}

/* On each CPU: counting of its thread begins when profiles were switched on, or when it began to run; that of
 * its idle thread, too, so the idle threads' lives are the CPUs' times. */
static void begin_here(void *unused)
{
    (void)unused;
    struct cpu *cpu = this_cpu();
    struct thread *thread = cpu->current;
    const uint64_t born = cpu->switched_at > profiles_since ? cpu->switched_at : profiles_since;
    if (!profiles_since) /* just switched on once more */
        return;
    if (!is_current(thread->profile))
        make_profile(thread, born, thread->run_ticks + born - cpu->switched_at);
    if (thread != cpu->idle)
        begin_idle_out(cpu->idle);
}

void profiles_init_cpu(struct cpu *cpu)
{
    (void)cpu;
    if (profiles_on)
        begin_here(NULL);
}

static void agree(enum profiles_level level)
{
    __atomic_store_n(&profiles_level, level, __ATOMIC_RELAXED);
    __atomic_store_n(&profiles_on, level != PROFILES_OFF, __ATOMIC_RELAXED);
    __atomic_store_n(&trace_info_page.profiles, level, __ATOMIC_RELAXED);
    trace_sites_agree();
    update_entry_paths();
}

/* trace_lock held. */
static void switch_on(enum profiles_level level)
{
    __atomic_store_n(&profiles_since, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&profiles_epoch, profiles_epoch + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&profile_list.epoch, profiles_epoch, __ATOMIC_RELAXED);
    __atomic_store_n(&profile_list.until, 0, __ATOMIC_RELAXED);
    agree(level);
    __atomic_store_n(&profiles_since, arch_clock(), __ATOMIC_RELAXED);
    profiles_beat(profiles_since);
}

/* Without trace_lock: a CPU that spins for it would not respond. */
static void begin_everywhere(void)
{
    const uint64_t others = atomic_load_explicit(&sched_online_cpus, memory_order_relaxed) & ~this_cpu()->bit;
    if (others)
        smp_call(others, begin_here, NULL);
    begin_here(NULL);
}

/* trace_lock held. What happens while the sites are switched may be counted, or not. */
static void switch_off(void)
{
    __atomic_store_n(&profiles_until, arch_clock(), __ATOMIC_RELAXED);
    __atomic_store_n(&profile_list.until, profiles_until, __ATOMIC_RELAXED);
    agree(PROFILES_OFF);
}

void profiles_switch(enum profiles_level level)
{
    spin_lock(&trace_lock);
    const bool begins = level != PROFILES_OFF && level != profiles_level;
    if (begins)
        switch_on(level);
    else if (level == PROFILES_OFF && profiles_on)
        switch_off();
    spin_unlock(&trace_lock);
    if (begins)
        begin_everywhere();
}

void profiles_beat(uint64_t now)
{
    __atomic_store_n(&profile_list.latest, now, __ATOMIC_RELAXED);
}

void profiles_boot(void)
{
    uint64_t number;
    profile_list.routines = virt_to_phys(&trace_routine_list);
    trace_info_page.profile_list = virt_to_phys(&profile_list);
    if (boot_number("profiles=", &number) && number)
        profiles_switch(number >= PROFILES_ALL ? PROFILES_ALL : PROFILES_KERNEL);
}
