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
#include <trace/ring/profile_copy.h>

bool profiles_on, profiles_alone;
enum profiles_level profiles_level;
uint64_t profiles_since, profiles_epoch;

/* ---- A thread's profile ---- */

/* Counting begins now, or, if the thread runs, when it began to run, but not before profiles were switched
 * on. */
static void begin_life(struct routine_profile *profile, struct thread *thread)
{
    const struct cpu *cpu = this_cpu();
    const bool runs = thread == cpu->current && cpu->switched_at > profiles_since;
    profile->thread = thread;
    profile->head.pid = thread->block->pid;
    profile->head.tid = thread->tid;
    profile->head.threads = 1;
    profile->head.born = runs ? cpu->switched_at : profiles_since;
    profile->ran_before = thread->run_ticks;
    if (thread == cpu->current)
        profile->ran_before += profile->head.born - cpu->switched_at;
    profile->head.name = virt_to_phys(thread->block->name);
    profile->head.open = virt_to_phys(&thread->routines);
    profile->served_since = 0;
    profile_begin_program(profile, thread);
}

__attribute__((noinline, cold)) struct routine_profile *profile_make(struct thread *thread)
{
    struct routine_profile *profile = thread->profile;
    thread->routines.depth = 0;
    spin_lock(&profiles_lock);
    if (!profiles_since) {
        spin_unlock(&profiles_lock);
        return NULL;
    }
    if (profile) {
        profile_begin_change(profile);
        profile_clear(profile);
        begin_life(profile, thread);
        profile_end_change(profile);
    } else if ((profile = profile_new(TRACE_PROFILE_THREAD, thread->space))) {
        begin_life(profile, thread);
        profile_link(profile);
    }
    spin_unlock(&profiles_lock);
    return thread->profile = profile;
}

__attribute__((noinline)) void profile_update_slowly(struct thread *thread, struct profile_rows *rows,
                                                     uint64_t key, uint64_t since, uint64_t elapsed,
                                                     uint64_t own)
{
    struct trace_profile_row *row = rows->cache[profile_slot(key)];
    if (since < thread->profile->head.born)
        return;
    if (row->key != key)
        row = profile_find_row(rows, key);
    const uint64_t times = row->begun + 1;
    row->begun = times;
    __atomic_thread_fence(__ATOMIC_RELEASE); /* as in profile_count() */
    row->inclusive += elapsed;
    row->exclusive += own;
    if (elapsed < row->least)
        row->least = elapsed;
    if (elapsed > row->greatest)
        row->greatest = elapsed;
    row->limit = row->greatest < 1ull << (TRACE_TABLE_BUCKETS - 1) ? row->greatest
                                                                   : (1ull << (TRACE_TABLE_BUCKETS - 1)) - 1;
    row->times[trace_table_bucket(elapsed)]++;
    __atomic_store_n(&row->ended, times, __ATOMIC_RELEASE);
}

/* ---- Begins and ends ---- */

/* Ends the innermost one, if there is any. */
static inline void end_innermost(struct thread *thread, uint64_t now)
{
    const uint32_t depth = thread->routines.depth;
    struct routine_profile *profile = thread->profile;
    if (depth && profile)
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

/* ---- The switch ---- */

static void begin_idle_out(struct thread *idle)
{
    const struct routine_profile *profile = profile_is_current(idle->profile) ? NULL : profile_make(idle);
    if (profile)
        routine_begin(&idle->routines, 0, trace_routine_key(TRACE_ROUTINE_OUT, THREAD_RUNNING),
                      profile->head.born);
}

/* On each CPU: counting of its thread begins when profiles were switched on, or when it began to run; that of
 * its idle thread, too, so the idle threads' lives are the CPUs' times. */
static void begin_here(void *unused)
{
    (void)unused;
    struct cpu *cpu = this_cpu();
    struct thread *thread = cpu->current;
    if (!profile_is_current(thread->profile))
        profile_make(thread);
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

/* No profile is made from here on until `profiles_since` is set. Those that are kept have rows of before. */
static void stop_making(uint64_t epoch)
{
    spin_lock(&profiles_lock);
    profiles_since = 0;
    __atomic_store_n(&profiles_epoch, epoch, __ATOMIC_RELAXED);
    __atomic_store_n(&profile_list.epoch, epoch, __ATOMIC_RELAXED);
    profiles_free_kept();
    spin_unlock(&profiles_lock);
}

/* trace_lock held. Profiles are made once all sites are on. */
static void switch_on(enum profiles_level level)
{
    stop_making(profiles_epoch + 1);
    __atomic_store_n(&profile_list.until, 0, __ATOMIC_RELAXED);
    agree(level);
    spin_lock(&profiles_lock);
    profiles_since = arch_clock();
    spin_unlock(&profiles_lock);
    profiles_beat(profiles_since);
}

/* Without trace_lock: a CPU that spins for it would not respond. By then another caller may have switched
 * them off, or on once more. */
static void begin_everywhere(void)
{
    const uint64_t others = atomic_load_explicit(&sched_online_cpus, memory_order_relaxed) & ~this_cpu()->bit;
    if (others)
        smp_call(others, begin_here, NULL);
    begin_here(NULL);
}

/* trace_lock held. What happens while the sites are switched may be counted, or not; nothing begins later
 * than `until`. */
static void switch_off(void)
{
    stop_making(profiles_epoch);
    agree(PROFILES_OFF);
    __atomic_store_n(&profile_list.until, arch_clock(), __ATOMIC_RELAXED);
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
    profile_list.routines = virt_to_phys(&trace_routine_list);
    trace_info_page.profile_list = virt_to_phys(&profile_list);
}
