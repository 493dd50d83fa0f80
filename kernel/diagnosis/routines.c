/*
 * routines.c - counts routines of the kernel at their begins and ends. Interface: routines.h.
 *
 * Switching on starts a new epoch, in which each thread resets its table of an earlier one. A routine that is
 * older than its thread's table is dropped at its end.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/smp_call.h>
#include <kernel/cpu/span.h>
#include <kernel/diagnosis/routine_rows.h>
#include <kernel/kernel.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/trace/control.h>
#include <trace/ring/routine_copy.h>

bool routines_on;
uint64_t routines_since, routines_epoch;

/* ---- A thread's table ---- */

/* Counting begins now, or, if the thread runs, when it began to run, but not before tables were switched
 * on. */
static void begin_life(struct routine_table *table, struct thread *thread)
{
    const struct cpu *cpu = this_cpu();
    const bool runs = thread == cpu->current && cpu->switched_at > routines_since;
    table->thread = thread;
    table->head.pid = thread->block->pid;
    table->head.tid = thread->tid;
    table->head.threads = 1;
    table->head.born = runs ? cpu->switched_at : routines_since;
    table->head.name = virt_to_phys(thread->block->name);
    table->head.open = virt_to_phys(&thread->routines);
    table->served_since = 0;
    routines_begin_program(table, thread);
}

__attribute__((noinline, cold)) struct routine_table *routines_make(struct thread *thread)
{
    struct routine_table *table = thread->routine_table;
    thread->routines.depth = 0;
    spin_lock(&routines_lock);
    if (!routines_since) {
        spin_unlock(&routines_lock);
        return NULL;
    }
    if (table) {
        routines_begin_change(table);
        routines_clear(table);
        begin_life(table, thread);
        routines_end_change(table);
    } else if ((table = routines_new(TRACE_ROUTINES_THREAD, thread->space))) {
        begin_life(table, thread);
        routines_link(table);
    }
    spin_unlock(&routines_lock);
    return thread->routine_table = table;
}

__attribute__((noinline)) void routines_update_slowly(struct thread *thread, struct routine_rows *rows,
                                                      uint64_t key, uint64_t since, uint64_t elapsed,
                                                      uint64_t own)
{
    struct trace_routines_row *row = rows->cache[routine_slot(key)];
    if (since < thread->routine_table->head.born)
        return;
    if (row->routine != key)
        row = routines_find_row(rows, key);
    const uint64_t times = row->begun + 1;
    row->begun = times;
    __atomic_thread_fence(__ATOMIC_RELEASE); /* as in routine_count() */
    row->total += elapsed;
    row->own += own;
    if (elapsed < row->min)
        row->min = elapsed;
    if (elapsed > row->max)
        row->max = elapsed;
    row->limit =
        row->max < 1ull << (TRACE_TABLE_BUCKETS - 1) ? row->max : (1ull << (TRACE_TABLE_BUCKETS - 1)) - 1;
    row->times[trace_table_bucket(elapsed)]++;
    __atomic_store_n(&row->ended, times, __ATOMIC_RELEASE);
}

/* ---- Begins and ends ---- */

/* Ends the innermost routine, if any. */
static inline void end_innermost(struct thread *thread, uint64_t now)
{
    const uint32_t depth = thread->routines.depth;
    struct routine_table *table = thread->routine_table;
    if (depth && table)
        routine_end(thread, &table->rows, &thread->routines, depth - 1, now);
}

void routines_begin(struct thread *self, bool from_kernel, enum trace_routine_kind kind, uint64_t argument,
                    uint64_t now)
{
    const uint32_t depth = from_kernel ? self->routines.depth : 0;
    if (depth < OPEN_ROUTINES_MAX - 1)
        routine_begin(&self->routines, depth, trace_routine_key(kind, argument), now);
}

void routines_end(struct thread *self, uint64_t now)
{
    end_innermost(self, now);
}

void routines_end_as(struct thread *self, enum trace_routine_kind kind, uint64_t argument, uint64_t now)
{
    const uint32_t depth = self->routines.depth;
    if (!depth)
        return;
    self->traced &= ~TRACED_FAULT;
    self->routines.at[depth - 1].key = trace_routine_key(kind, argument);
    end_innermost(self, now);
}

/* ---- The switch ---- */

static void begin_idle_out(struct thread *idle)
{
    const struct routine_table *table =
        routines_are_current(idle->routine_table) ? NULL : routines_make(idle);
    if (table)
        routine_begin(&idle->routines, 0, trace_routine_key(TRACE_ROUTINE_OUT, THREAD_RUNNING),
                      table->head.born);
}

/* On each CPU: starts its thread's table at the later of switch-on and begin of its run, and its idle
 * thread's, so the idle threads' lives are the CPUs' times. */
static void begin_here(void *unused)
{
    (void)unused;
    struct cpu *cpu = this_cpu();
    struct thread *thread = cpu->current;
    if (!routines_are_current(thread->routine_table))
        routines_make(thread);
    if (thread != cpu->idle)
        begin_idle_out(cpu->idle);
}

void routines_init_cpu(struct cpu *cpu)
{
    (void)cpu;
    if (routines_on)
        begin_here(NULL);
}

static void agree(enum routines_level level)
{
    __atomic_store_n(&routines_level, level, __ATOMIC_RELAXED);
    __atomic_store_n(&routines_on, level != ROUTINES_OFF, __ATOMIC_RELAXED);
    __atomic_store_n(&trace_info_page.routines, level, __ATOMIC_RELAXED);
    trace_sites_agree();
}

/* Until `routines_since` is set, no table is made. Frees kept ones, which have rows of an earlier epoch. */
static void stop_making(uint64_t epoch)
{
    spin_lock(&routines_lock);
    routines_since = 0;
    __atomic_store_n(&routines_epoch, epoch, __ATOMIC_RELAXED);
    __atomic_store_n(&routines_list.epoch, epoch, __ATOMIC_RELAXED);
    routines_free_kept();
    spin_unlock(&routines_lock);
}

/* trace_lock held. Tables are made once all sites are on. */
static void switch_on(enum routines_level level)
{
    stop_making(routines_epoch + 1);
    __atomic_store_n(&routines_list.until, 0, __ATOMIC_RELAXED);
    agree(level);
    spin_lock(&routines_lock);
    routines_since = arch_clock();
    spin_unlock(&routines_lock);
    routines_beat(routines_since);
}

/* Without trace_lock: a CPU that spins for it would not respond. Meanwhile another caller may have switched
 * counting off, or on again. */
static void begin_everywhere(void)
{
    const uint64_t others = atomic_load_explicit(&sched_online_cpus, memory_order_relaxed) & ~this_cpu()->bit;
    if (others)
        smp_call(others, begin_here, NULL);
    begin_here(NULL);
}

/* trace_lock held. While sites are switched, routines may be counted or not; none begins after `until`. */
static void switch_off(void)
{
    stop_making(routines_epoch);
    agree(ROUTINES_OFF);
    __atomic_store_n(&routines_list.until, arch_clock(), __ATOMIC_RELAXED);
}

void routines_switch(enum routines_level level)
{
    spin_lock(&trace_lock);
    const bool begins = level != ROUTINES_OFF && level != routines_level;
    if (begins)
        switch_on(level);
    else if (level == ROUTINES_OFF && routines_on)
        switch_off();
    spin_unlock(&trace_lock);
    if (begins)
        begin_everywhere();
}

void routines_beat(uint64_t now)
{
    __atomic_store_n(&routines_list.latest, now, __ATOMIC_RELAXED);
}

void routines_boot(void)
{
    routines_list.routines = virt_to_phys(&trace_routine_list);
    trace_info_page.routines_list = virt_to_phys(&routines_list);
}
