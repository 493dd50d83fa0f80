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
#include <kernel/ipc/cap.h>
#include <kernel/ipc/ipc.h>
#include <kernel/kernel.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/trace/control.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
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

/* Makes or resets the thread's table. The thread is current here, or does not run. NULL: no memory, or
 * routines are not counted yet. Afterwards nothing is open in the thread. */
static __attribute__((noinline, cold)) struct routine_table *make_table(struct thread *thread)
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

/* ---- Messages, by their labels ----
 *
 * A system call that sends a call counts as that call, by label. A server's work from receipt to reply is
 * counted separately, in its thread.
 */

/* The thread serves a message from the time at which it has received it. */
static inline void begin_serving(const struct thread *self, struct routine_table *table, uint32_t number,
                                 int64_t result, uint64_t now)
{
    if ((number == SYS_ipc_receive || number == SYS_ipc_reply_receive) && result == 0 &&
        self->reply_target.caller) {
        table->served_since = now;
        table->served_label = frame_label(&self->frame);
    }
}

/* Counts a served message, unless its reply was saved for later. It is nested in nothing, and has no
 * exclusive time. */
static inline void end_serving(struct thread *self, struct routine_table *table, uint32_t number,
                               uint64_t now)
{
    const uint64_t since = table->served_since;
    table->served_since = 0;
    if (number == SYS_ipc_reply || number == SYS_ipc_reply_receive)
        routine_count(self, &table->rows, trace_routine_key(TRACE_ROUTINE_SERVED, table->served_label), since,
                      now - since, 0);
}

static inline __attribute__((always_inline)) void enter_message(struct thread *self, uint32_t number,
                                                                uint64_t now)
{
    struct routine_table *table = self->routine_table;
    if (number == SYS_ipc_call)
        self->routines.at[0].key = trace_routine_key(TRACE_ROUTINE_CALL, frame_label(&self->frame));
    else if (number != SYS_ipc_send && table && table->served_since)
        end_serving(self, table, number, now);
}

/* ---- System calls and faults ---- */

/* The key of a system call is its number. */
_Static_assert(TRACE_ROUTINE_SYSCALL == 0, "trace_routine_key()");

void routines_enter_syscall(struct thread *self, uint32_t number, uint64_t now)
{
    routine_begin(&self->routines, 0, number, now);
    if (syscall_is_message(number))
        enter_message(self, number, now);
}

/* A call that was not sent is only a system call. */
void routines_leave_syscall(struct thread *thread, uint32_t number, int64_t result, bool waited, uint64_t now)
{
    struct routine_table *table = thread->routine_table;
    if (!waited)
        thread->routines.at[0].key = number;
    if (!table || !thread->routines.depth)
        return;
    begin_serving(thread, table, number, result, now);
    routine_end(thread, &table->rows, &thread->routines, 0, now); /* last: no register is saved for it */
}

/* The kind of a fault is known only at its end. */
void routines_resume_fault(struct thread *thread, bool counted, uint64_t now)
{
    struct routine_table *table = thread->routine_table;
    uint64_t *key = &thread->routines.at[0].key;
    if (!table || !thread->routines.depth)
        return;
    if (counted && trace_routine_kind(*key) == TRACE_ROUTINE_FAULT)
        *key = trace_routine_key(TRACE_ROUTINE_FAULT, thread->fault_kind);
    routine_end(thread, &table->rows, &thread->routines, 0, now);
}

/* If `next` has a table of this epoch, it left the CPU in this epoch, so its innermost routine is OUT. `prev`
 * may have been woken since the switch was logged. */
void routines_switched(struct cpu *cpu, struct thread *prev, struct thread *next)
{
    const uint64_t now = cpu->switched_at;
    const uint32_t depth = next->routines.depth;
    struct routine_table *table = next->routine_table;
    /* a thread that runs can begin one more */
    routine_begin(&prev->routines, routine_depth(&prev->routines),
                  trace_routine_key(TRACE_ROUTINE_OUT, cpu->switch_state), now);
    if (__builtin_expect(!routines_are_current(table), 0))
        make_table(next);
    else if (depth)
        routine_end(next, &table->rows, &next->routines, depth - 1, now);
}

/* ---- The switch ---- */

static void begin_idle_out(struct thread *idle)
{
    const struct routine_table *table = routines_are_current(idle->routine_table) ? NULL : make_table(idle);
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
        make_table(thread);
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
    /* Without trace_lock: a CPU that spins for it would not respond. Meanwhile another caller may have
     * switched counting off, or on again. */
    if (begins) {
        smp_call(atomic_load_explicit(&sched_online_cpus, memory_order_relaxed) & ~this_cpu()->bit,
                 begin_here, NULL);
        begin_here(NULL);
    }
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

/* ---- Ends of threads and processes ----
 *
 * A thread's rows are added to those of its process's ended threads, a process's to those of its creator's
 * ended children, or, if that has ended, to `orphans`. The first table is moved, not added.
 */

static struct routine_table *orphans; /* under routines_lock */

enum { OF_THREADS, OF_CHILDREN }; /* in space->routine_tables */

/* routines_lock held. Adds `from` to `*to`, or turns it into `*to`. */
static void hand_on(struct routine_table **to, struct routine_table *from, enum trace_routines_of of,
                    struct space *space)
{
    if (!routines_are_current(from)) {
        routines_unlink(from);
        routines_free(from);
    } else if (*to) {
        routines_unlink(from);
        routines_begin_change(*to);
        if (!routines_are_current(*to))
            routines_clear(*to);
        routines_add(*to, from);
        routines_end_change(*to);
        routines_keep(from);
    } else {
        *to = from;
        routines_begin_change(from);
        from->head.of = of;
        routines_give(from, space);
        from->head.pid = space ? space->pid : 0;
        from->head.tid = 0;
        from->head.name = space ? virt_to_phys(space->name) : 0;
        routines_end_change(from);
    }
}

/* Ends the thread's life. OUT is open since it was switched away from, at cpu->switched_at. If counting is
 * off, its life ended when counting did. */
static void end_life(struct thread *thread, struct routine_table *table)
{
    struct open_routines *routines = &thread->routines;
    const uint64_t ends = arch_clock();
    uint64_t now = routines_counted_until(ends);
    routines_begin_change(table); /* until it is handed on */
    if (now == ends && routines->depth &&
        trace_routine_kind(routines->at[routines->depth - 1].key) == TRACE_ROUTINE_OUT)
        now = routines->at[--routines->depth].since;
    table->head.life = now - table->head.born;
    routines_end_open(table, routines, now);
    table->thread = NULL;
    table->head.open = 0;
}

static void end_thread(struct thread *thread)
{
    struct routine_table *table = thread->routine_table;
    if (!table)
        return;
    spin_lock(&routines_lock);
    thread->routine_table = NULL;
    end_life(thread, table);
    hand_on(&thread->space->routine_tables[OF_THREADS], table, TRACE_ROUTINES_ENDED, thread->space);
    __atomic_store_n(&thread->space->has_routines, true, __ATOMIC_RELAXED);
    spin_unlock(&routines_lock);
}
THREAD_END(2_routines, end_thread);

/* routines_lock held. An heir that has ended hands nothing on any more. */
static void inherit(struct space *space, struct routine_table *table)
{
    struct space *heir = space->heir;
    if (heir && heir->has_routines)
        hand_on(&heir->routine_tables[OF_CHILDREN], table, TRACE_ROUTINES_CHILDREN, heir);
    else
        hand_on(&orphans, table, TRACE_ROUTINES_ORPHANS, NULL);
}

static void end_space(struct space *space)
{
    if (!__atomic_load_n(&space->has_routines, __ATOMIC_RELAXED))
        return;
    spin_lock(&routines_lock);
    for (unsigned i = 0; i < 2; i++) {
        struct routine_table *table = space->routine_tables[i];
        space->routine_tables[i] = NULL;
        if (table)
            inherit(space, table);
    }
    struct space *heir = space->heir;
    space->heir = NULL;
    space->has_routines = false;
    spin_unlock(&routines_lock);
    if (heir)
        space_put(heir);
}
SPACE_END(1_routines, end_space);

/* end_space() will be called: the space is not dying yet, and `dying` changes under its lock. */
static bool expect_end(struct space *space)
{
    spin_lock(&space->lock);
    const bool may = !space->dying;
    if (may)
        __atomic_store_n(&space->has_routines, true, __ATOMIC_RELAXED);
    spin_unlock(&space->lock);
    return may;
}

static int set_heir(struct space *space, struct space *heir)
{
    if (space == heir)
        return -E_BAD_ARGUMENT;
    if (!expect_end(space) || !expect_end(heir))
        return -E_DEAD;
    spin_lock(&routines_lock);
    const bool may = !space->heir && space->has_routines && heir->has_routines; /* else one has ended */
    if (may) {
        space_get(heir);
        space->heir = heir;
    }
    spin_unlock(&routines_lock);
    return may ? 0 : -E_DEAD;
}

int64_t sys_routines_inherit(cap_t slot, cap_t heir_slot)
{
    struct space *own = current_thread()->space;
    void *space, *heir;
    int error = cap_get(&own->caps, slot, CAP_SPACE, RIGHT_MANAGE, &space);
    if (error)
        return error;
    error = cap_get(&own->caps, heir_slot, CAP_SPACE, RIGHT_MANAGE, &heir);
    if (!error) {
        error = set_heir(space, heir);
        space_put(heir);
    }
    space_put(space);
    return error;
}
