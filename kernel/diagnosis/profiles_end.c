/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profiles_end.c - what becomes of a profile when its thread or process ends. Interface: profiles.h.
 *
 * A thread's rows are added to those of its process's ended threads, a process's to those of its creator's
 * ended children, or, if that has ended, to `orphans`. The first profile that comes is not added but moved.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/profile_rows.h>
#include <kernel/ipc/cap.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>

static struct routine_profile *orphans; /* under profiles_lock */

enum { OF_THREADS, OF_CHILDREN }; /* in space->profiles */

/* profiles_lock held. Adds `from` to `*to`, or makes it `*to`, of another kind. */
static void hand_on(struct routine_profile **to, struct routine_profile *from, enum trace_profile_of of,
                    struct space *space)
{
    if (!profile_is_current(from)) {
        profile_unlink(from);
        profile_free(from);
    } else if (*to) {
        profile_unlink(from);
        profile_begin_change(*to);
        if (!profile_is_current(*to))
            profile_clear(*to);
        profile_add(*to, from);
        profile_end_change(*to);
        profile_keep(from);
    } else {
        *to = from;
        profile_begin_change(from);
        from->head.of = of;
        profile_give(from, space);
        from->head.pid = space ? space->pid : 0;
        from->head.tid = 0;
        from->head.name = space ? virt_to_phys(space->name) : 0;
        profile_end_change(from);
    }
}

static uint64_t time_out(struct routine_profile *profile)
{
    uint64_t time = 0;
    for (uint32_t i = 0; i < profile->head.count; i++) {
        const struct trace_profile_row *row = profile_row(profile, i);
        if (trace_routine_kind(row->key) == TRACE_ROUTINE_OUT)
            time += row->exclusive;
    }
    return time;
}

/* Ends the life of the thread, which was switched away from at cpu->switched_at and has OUT open since then.
 * If profiles are off, it ended when they were switched off. */
static void end_life(struct thread *thread, struct routine_profile *profile)
{
    struct open_routines *routines = &thread->routines;
    const uint64_t ends = arch_clock();
    uint64_t now = profiles_counted_until(ends);
    const bool is_off = now < ends;
    profile_begin_change(profile); /* until it is handed on */
    if (!is_off && routines->depth &&
        trace_routine_kind(routines->at[routines->depth - 1].key) == TRACE_ROUTINE_OUT)
        now = routines->at[--routines->depth].since;
    const struct open_routines open = *routines;
    profile_close_open(thread, profile, now);
    profile->head.life = now - profile->head.born;
    profile->head.ran =
        is_off ? profile->head.life - time_out(profile) : thread->run_ticks - profile->ran_before;
    profile_end_program(profile, &open, now);
    profile->thread = NULL;
    profile->head.open = 0;
}

void profiles_end_thread(struct thread *thread)
{
    struct routine_profile *profile = thread->profile;
    spin_lock(&profiles_lock);
    thread->profile = NULL;
    end_life(thread, profile);
    hand_on(&thread->space->profiles[OF_THREADS], profile, TRACE_PROFILE_ENDED, thread->space);
    __atomic_store_n(&thread->space->has_profiles, true, __ATOMIC_RELAXED);
    spin_unlock(&profiles_lock);
}

/* profiles_lock held. An heir that has ended hands nothing on any more. */
static void inherit(struct space *space, struct routine_profile *profile)
{
    struct space *heir = space->heir;
    if (heir && heir->has_profiles)
        hand_on(&heir->profiles[OF_CHILDREN], profile, TRACE_PROFILE_CHILDREN, heir);
    else
        hand_on(&orphans, profile, TRACE_PROFILE_ORPHANS, NULL);
}

void profiles_end_space(struct space *space)
{
    spin_lock(&profiles_lock);
    for (unsigned i = 0; i < 2; i++) {
        struct routine_profile *profile = space->profiles[i];
        space->profiles[i] = NULL;
        if (profile)
            inherit(space, profile);
    }
    struct space *heir = space->heir;
    space->heir = NULL;
    space->has_profiles = false;
    spin_unlock(&profiles_lock);
    if (heir)
        space_put(heir);
}

/* The space will call profiles_end_space(): it is not dying yet, and `dying` changes under its lock. */
static bool expect_end(struct space *space)
{
    spin_lock(&space->lock);
    const bool may = !space->dying;
    if (may)
        __atomic_store_n(&space->has_profiles, true, __ATOMIC_RELAXED);
    spin_unlock(&space->lock);
    return may;
}

static int set_heir(struct space *space, struct space *heir)
{
    if (space == heir)
        return -E_BAD_ARGUMENT;
    if (!expect_end(space) || !expect_end(heir))
        return -E_DEAD;
    spin_lock(&profiles_lock);
    const bool may = !space->heir && space->has_profiles && heir->has_profiles; /* else one has ended */
    if (may) {
        space_get(heir);
        space->heir = heir;
    }
    spin_unlock(&profiles_lock);
    return may ? 0 : -E_DEAD;
}

int64_t sys_profile_inherit(cap_t slot, cap_t heir_slot)
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
