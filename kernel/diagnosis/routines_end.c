/*
 * routines_end.c - hands tables on when their thread or process ends. Interface: routines.h.
 *
 * A thread's rows are added to those of its process's ended threads, a process's to those of its creator's
 * ended children, or, if that has ended, to `orphans`. The first table is moved, not added.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/routine_rows.h>
#include <kernel/ipc/cap.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>

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

void routines_end_thread(struct thread *thread)
{
    struct routine_table *table = thread->routine_table;
    spin_lock(&routines_lock);
    thread->routine_table = NULL;
    end_life(thread, table);
    hand_on(&thread->space->routine_tables[OF_THREADS], table, TRACE_ROUTINES_ENDED, thread->space);
    __atomic_store_n(&thread->space->has_routines, true, __ATOMIC_RELAXED);
    spin_unlock(&routines_lock);
}

/* routines_lock held. An heir that has ended hands nothing on any more. */
static void inherit(struct space *space, struct routine_table *table)
{
    struct space *heir = space->heir;
    if (heir && heir->has_routines)
        hand_on(&heir->routine_tables[OF_CHILDREN], table, TRACE_ROUTINES_CHILDREN, heir);
    else
        hand_on(&orphans, table, TRACE_ROUTINES_ORPHANS, NULL);
}

void routines_end_space(struct space *space)
{
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

/* The space will call routines_end_space(): it is not dying yet, and `dying` changes under its lock. */
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
    int error = cap_get(own, slot, CAP_SPACE, RIGHT_MANAGE, &space);
    if (error)
        return error;
    error = cap_get(own, heir_slot, CAP_SPACE, RIGHT_MANAGE, &heir);
    if (!error) {
        error = set_heir(space, heir);
        space_put(heir);
    }
    space_put(space);
    return error;
}
