/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * intervals.c - `tarn intervals`: the time from one event to another that belongs to it.
 *
 * Two events belong together if they have equal values in chosen fields and, optionally, come from the same
 * thread, process or CPU. A second begin before the end means that the first one was not ended. Events
 * outside the range are not seen.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/analysis/intervals_tables.h>

static bool choose_preset(void *context, const struct command_option *option, const char *value,
                          struct fail *fail)
{
    struct intervals *intervals = context;

    intervals->preset = pair_preset(value);
    return intervals->preset != NULL || fail_set(fail, "not a preset; see tarn intervals --help");
}

static bool choose_any(void *context, const struct command_option *option, const char *value,
                       struct fail *fail)
{
    ((struct intervals *)context)->spec.same = "any";
    return true;
}

static const struct command_option options[] = {
    {CALL("preset", "NAME", choose_preset,
          PAIR_PRESETS "\nFurther options override parts of it. The default is stopwatch")},
    {TEXT("begin", "EVENT", struct intervals, spec.begin,
          "the event that begins an interval\nThe same event as --end gives the time between successive "
          "events")},
    {TEXT("end", "EVENT", struct intervals, spec.end, "the event that ends it")},
    {TEXT("match", "FIELDS", struct intervals, spec.match,
          "fields that must be equal in both events: id, or tid=next_tid where the names differ; several: "
          "a,b=c")},
    {TEXT("same", "WHO", struct intervals, spec.same,
          "both events come from the same thread, process or cpu, or from any (default: thread, or any with "
          "--match)")},
    {CALL("across", NULL, choose_any, "the same as --same any")},
    {TEXT("group", "FIELD", struct intervals, spec.group,
          "one row for each value of this field of the begin event")},
    {.name = NULL}};

/* ---- options ---- */

/* The end has the group if it has the field, or one that is matched with it. */
static bool find_group(struct intervals *intervals, const char *name, struct fail *fail)
{
    const struct field *field;

    if (name == NULL)
        return true;
    if (!pair_field(intervals->pair.begin, name, strlen(name), &field, fail))
        return false;
    if (field->kind != FIELD_INTEGER && field->kind != FIELD_ENUM)
        return fail_set(fail, "--group %s: only numbers and enumerations can be grouped", name);
    intervals->group_field = field;
    intervals->group_of_end = schema_find_field(intervals->pair.end, name);
    for (unsigned i = 0; i < intervals->pair.match_count; i++)
        if (intervals->pair.matches[i].begin == field)
            intervals->group_of_end = intervals->pair.matches[i].end;
    if (intervals->group_of_end != NULL && !pair_is_comparable(intervals->group_of_end))
        intervals->group_of_end = NULL;
    return true;
}

/* Fills in what the options leave open. */
static void use_preset(struct intervals *intervals)
{
    struct interval_spec *spec = &intervals->spec;

    if (intervals->preset == NULL && spec->begin == NULL && spec->end == NULL)
        intervals->preset = pair_preset("stopwatch");
    if (intervals->preset != NULL)
        interval_spec_fill(spec, intervals->preset);
}

static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *thread);

static bool open_intervals(struct analysis *analysis, struct fail *fail)
{
    struct intervals *intervals = (struct intervals *)analysis;
    const struct interval_spec *spec = &intervals->spec;

    use_preset(intervals);
    if (spec->begin == NULL || spec->end == NULL)
        return fail_set(fail, "an interval needs --begin and --end, or a --preset");
    if (!pair_resolve(&intervals->pair, &analysis->trace->schema, spec, fail) ||
        !find_group(intervals, spec->group, fail))
        return false;
    analysis_map(analysis, &intervals->open, sizeof(struct open_interval));
    analysis_map(analysis, &intervals->groups, sizeof(struct group))->limit = MAP_DISTRIBUTIONS_MAX;
    analysis_map(analysis, &intervals->threads, sizeof(struct distribution))->limit = MAP_DISTRIBUTIONS_MAX;
    analysis->observer.event = on_event;
    return true;
}

/* ---- events ---- */

/* A key's `whom`. */
static uint64_t whom_of(const struct intervals *intervals, const struct cursor *cursor,
                        const struct model_thread *thread)
{
    switch (intervals->pair.same) {
    case SAME_THREAD:
        return thread->number;
    case SAME_PROCESS:
        return thread->pid;
    case SAME_CPU:
        return cursor->stream->rank;
    default:
        return 0;
    }
}

struct group *intervals_group(struct intervals *intervals, uint64_t value, bool is_known)
{
    return map_at(&intervals->groups, value, is_known, 0);
}

static void count_not_begun(struct intervals *intervals, const struct event *event)
{
    if (intervals->group_field == NULL)
        intervals_group(intervals, 0, true)->not_begun++;
    else if (intervals->group_of_end == NULL)
        intervals_group(intervals, 0, false)->not_begun++;
    else
        intervals_group(intervals, pair_value(intervals->group_of_end, event), true)->not_begun++;
}

static void begin_interval(struct intervals *intervals, const struct cursor *cursor,
                           const struct model_thread *thread)
{
    struct open_interval *open;
    struct pair_key key;
    bool is_new;

    if (!analysis_wants(&intervals->analysis, thread))
        return;
    key = pair_key(&intervals->pair, &cursor->event, true, whom_of(intervals, cursor, thread));
    open = map_add(&intervals->open, key.first, key.others, key.whom, &is_new);
    if (open == NULL) {
        intervals->too_many++;
        return;
    }
    if (!is_new)
        intervals_group(intervals, open->group, true)->restarted++;
    open->begin = cursor->ticks;
    open->uncounted = thread->uncounted;
    open->thread = thread;
    open->group = intervals->group_field ? pair_value(intervals->group_field, &cursor->event) : 0;
}

/* The clocks of CPUs may differ slightly: then the duration is 0. */
static void end_interval(struct intervals *intervals, const struct cursor *cursor,
                         const struct model_thread *thread)
{
    struct pair_key key =
        pair_key(&intervals->pair, &cursor->event, false, whom_of(intervals, cursor, thread));
    const struct open_interval *open = map_find(&intervals->open, key.first, key.others, key.whom);
    struct group *group;
    uint64_t ticks;

    if (open == NULL) {
        if (analysis_wants(&intervals->analysis, thread))
            count_not_begun(intervals, &cursor->event);
        return;
    }
    ticks = cursor->ticks > open->begin ? cursor->ticks - open->begin : 0;
    if (open->thread == thread)
        ticks -= ticks < thread->uncounted - open->uncounted ? ticks : thread->uncounted - open->uncounted;
    group = intervals_group(intervals, open->group, true);
    distribution_add(&group->durations, &intervals->groups.arena, ticks);
    distribution_add(map_at(&intervals->threads, open->thread->number, 0, 0), &intervals->threads.arena,
                     ticks);
    longest_add(&intervals->longest, &(struct longest){.ticks = ticks,
                                                       .begin = open->begin,
                                                       .thread = open->thread,
                                                       .what = open->group,
                                                       .args = {cursor->ticks}});
    map_remove(&intervals->open, key.first, key.others, key.whom);
}

/* One event may end an interval and begin the next. */
static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *thread)
{
    struct intervals *intervals = ANALYSIS_OF(self, struct intervals);

    if (cursor->event.type == intervals->pair.end)
        end_interval(intervals, cursor, thread);
    if (cursor->event.type == intervals->pair.begin)
        begin_interval(intervals, cursor, thread);
}

const struct analysis_kind intervals_analysis = {
    .name = "intervals",
    .summary = "the time between paired events: stopwatches, requests, calls",
    .options = options,
    .tables = intervals_tables,
    .table_count = INTERVALS_TABLES,
    .totals = &intervals_totals,
    .size = sizeof(struct intervals),
    .open = open_intervals,
    .finish = intervals_fill,
};
