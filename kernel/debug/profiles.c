/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profiles.c - command profiles: profiles of routines, as far as they are counted; what is open is shown
 * beside.
 */
#include <kernel/debug/debug.h>
#include <kernel/diagnosis/profile_rows.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/trace/control.h>
#include <trace/print/app_schema.h>
#include <trace/print/routines.h>

#define PROFILES_MAX 100000u /* the list may be damaged */
#define ROWS_SHOWN   16u

static const char *const kinds[] = {"thread", "ended", "children", "orphans"};

static const struct trace_event_info *find_info(uint32_t id)
{
    return trace_find_event(trace_app_schemas(), id);
}

static uint64_t in_us(uint64_t ticks)
{
    const uint64_t hz = trace_info_page.clock_hz;
    return hz ? ticks / hz * 1000000 + ticks % hz * 1000000 / hz : 0;
}

static struct routine_profile *next_profile(struct routine_profile *previous, uint32_t *count)
{
    struct list *link = previous ? previous->all.next : profiles_list.next;
    *count = previous ? *count + 1 : 0;
    return link == &profiles_list || *count > PROFILES_MAX ? NULL
                                                           : list_object(link, struct routine_profile, all);
}

static uint32_t rows_of(const struct routine_profile *profile)
{
    return profile->head.count < PROFILE_ROWS_MAX ? profile->head.count : PROFILE_ROWS_MAX;
}

/* Time that is counted; of a kind of routine, or of all others. */
static uint64_t time_in(struct routine_profile *profile, enum trace_routine_kind kind, bool in_it)
{
    uint64_t time = 0;
    for (uint32_t i = 0; i < rows_of(profile); i++)
        if ((trace_routine_kind(profile_row(profile, i)->key) == kind) == in_it)
            time += profile_row(profile, i)->exclusive;
    return time;
}

static const char *name_of(const struct routine_profile *profile)
{
    return profile->thread ? profile->thread->block->name : profile->space ? profile->space->name : "";
}

static const char *routine_of(uint64_t key)
{
    static char name[TRACE_ROUTINE_NAME_BYTES];
    return trace_routine_name(key, find_info, name);
}

/* ---- All ---- */

static void put_profile(struct routine_profile *profile)
{
    const struct thread *thread = profile->thread;
    debug_print("%5u %4u %-16.16s %-8s %4u %12lu %12lu %s\n", profile->head.tid, profile->head.pid,
                name_of(profile), kinds[profile->head.of % 4], profile->head.count,
                in_us(time_in(profile, TRACE_ROUTINE_OUT, false)),
                in_us(time_in(profile, TRACE_ROUTINE_OUT, true)),
                thread && thread->routines.depth
                    ? routine_of(thread->routines.at[(thread->routines.depth - 1) % OPEN_ROUTINES_MAX].key)
                    : "");
}

static void put_profiles(void)
{
    uint32_t count;
    debug_print("  tid  pid name             of       rows  in kernel us       out us is in\n");
    for (struct routine_profile *profile = next_profile(NULL, &count); profile;
         profile = next_profile(profile, &count))
        if (profile->head.epoch == profiles_epoch)
            put_profile(profile);
}

/* ---- One ---- */

/* The row with the most time of those behind `last` in this order; NULL: no more. */
static struct trace_profile_row *next_largest(struct routine_profile *profile,
                                              const struct trace_profile_row *last)
{
    struct trace_profile_row *found = NULL;
    for (uint32_t i = 0; i < rows_of(profile); i++) {
        struct trace_profile_row *row = profile_row(profile, i);
        const bool is_behind =
            !last || row->exclusive < last->exclusive || (row->exclusive == last->exclusive && row > last);
        if (is_behind && (row->ended || row->exclusive) && (!found || row->exclusive > found->exclusive))
            found = row;
    }
    return found;
}

static void put_rows(struct routine_profile *profile)
{
    const struct trace_profile_row *row = NULL;
    uint32_t shown = 0;
    debug_print("      own us      count     total us       max us  routine\n");
    while (shown++ < ROWS_SHOWN && (row = next_largest(profile, row)))
        debug_print("%12lu %10lu %12lu %12lu  %s%s\n", in_us(row->exclusive), row->ended,
                    in_us(row->inclusive), in_us(row->greatest), routine_of(row->key),
                    row->begun == row->ended ? "" : " (is updated)");
}

static void put_open(const struct thread *thread)
{
    for (uint32_t i = 0; thread && i < thread->routines.depth && i < OPEN_ROUTINES_MAX; i++)
        debug_print("it is in %s\n", routine_of(thread->routines.at[i].key));
}

void debug_profiles(const struct debug_words *words)
{
    uint32_t count;
    if (!profiles_epoch) {
        debug_print("profiles are off\n");
        return;
    }
    if (words->count == 1) {
        put_profiles();
        return;
    }
    const uint64_t tid = debug_number(words->word[1]);
    struct routine_profile *profile = next_profile(NULL, &count);
    while (profile && (!tid || profile->head.tid != tid || profile->head.epoch != profiles_epoch))
        profile = next_profile(profile, &count);
    if (!profile) {
        debug_print("thread %lu has no profile\n", tid);
        return;
    }
    put_rows(profile);
    put_open(profile->thread);
}
