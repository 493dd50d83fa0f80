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

static const struct interval_spec presets[] = {
    {"stopwatch", "user_stopwatch_start", "user_stopwatch_stop", "id", "process", "id",
     "stopwatches of programs, by id"},
    {"fs", "fs_request_begin", "fs_request_end", "request", "thread", "request",
     "requests in the file system server, by kind"},
    {"ipc", "ipc_call", "ipc_return", "call_id", "any", "endpoint", "calls, by endpoint"},
    {"ipc-wait", "ipc_call", "ipc_receive", "call_id", "any", "endpoint",
     "from a call until a server receives it"},
    {"ipc-serve", "ipc_receive", "ipc_reply", "call_id", "any", "endpoint",
     "from receiving a call to the reply"},
    {"libc", "libc_entry", "libc_exit", "call", "thread", "call", "C library calls, by name"},
    {"process", "process_create", "process_exit", "pid", "any", NULL, "lifetimes of processes"},
    {"thread", "sched_process_fork", "sched_process_exit", "child_tid=tid", "any", NULL,
     "lifetimes of threads"},
    {"shootdown", "tlb_shootdown_begin", "tlb_shootdown_end", NULL, "thread", NULL,
     "TLB shootdowns, as seen by the CPU that requests them"},
};
#define PRESETS (sizeof(presets) / sizeof(presets[0]))

static bool choose_preset(void *context, const struct command_option *option, const char *value,
                          struct fail *fail)
{
    for (unsigned i = 0; i < PRESETS; i++)
        if (strcmp(presets[i].name, value) == 0) {
            ((struct intervals *)context)->preset = &presets[i];
            return true;
        }
    return fail_set(fail, "not a preset; see tarn intervals --help");
}

static bool choose_any(void *context, const struct command_option *option, const char *value,
                       struct fail *fail)
{
    ((struct intervals *)context)->spec.same = "any";
    return true;
}

static const struct command_option options[] = {
    {CALL("preset", "NAME", choose_preset,
          "stopwatch (the default), fs, ipc, ipc-wait, ipc-serve, libc, process, thread, shootdown\nFurther "
          "options override parts of it")},
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

static bool find_event(const struct analysis *analysis, const char *name, const struct event_type **type,
                       struct fail *fail)
{
    *type = schema_find_event(&analysis->trace->schema, name);
    return *type != NULL || fail_set(fail, "the trace's schema has no event '%.60s'", name);
}

static bool is_comparable(const struct field *field)
{
    return field->kind == FIELD_INTEGER || field->kind == FIELD_ENUM || field->kind == FIELD_TEXT ||
           field->kind == FIELD_STRING;
}

static bool find_field(const struct event_type *type, const char *name, size_t length,
                       const struct field **field, struct fail *fail)
{
    char known[300] = "";

    for (unsigned i = 0; i < type->field_count; i++) {
        size_t used = strlen(known);

        if (!is_comparable(&type->fields[i]))
            continue;
        if (strlen(type->fields[i].name) == length && memcmp(type->fields[i].name, name, length) == 0) {
            *field = &type->fields[i];
            return true;
        }
        snprintf(known + used, sizeof(known) - used, "%s%s", used ? ", " : "", type->fields[i].name);
    }
    return fail_set(fail, "%s has no field '%.*s'; it has %s", type->name, (int)(length < 60 ? length : 60),
                    name, *known ? known : "none");
}

static bool find_matches(struct intervals *intervals, const char *list, struct fail *fail)
{
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ","), left = strcspn(list, "=,");
        const char *right = left < length ? list + left + 1 : list;
        struct match *match = &intervals->matches[intervals->match_count];

        if (intervals->match_count == MATCHES_MAX)
            return fail_set(fail, "at most %u fields can be matched", MATCHES_MAX);
        if (!find_field(intervals->begin, list, left, &match->begin, fail) ||
            !find_field(intervals->end, right, length - (size_t)(right - list), &match->end, fail))
            return false;
        intervals->match_count++;
        list += length + (list[length] == ',');
    }
    return true;
}

static bool find_same(struct intervals *intervals, const char *name, struct fail *fail)
{
    static const char *const names[] = {"any", "thread", "process", "cpu"};

    if (name == NULL)
        name = intervals->match_count != 0 ? "any" : "thread";
    for (unsigned i = 0; i < 4; i++)
        if (strcmp(names[i], name) == 0) {
            intervals->same = (enum same)i;
            return true;
        }
    return fail_set(fail, "--same %.40s: thread, process, cpu or any", name);
}

/* The end has the group if it has the field, or one that is matched with it. */
static bool find_group(struct intervals *intervals, const char *name, struct fail *fail)
{
    const struct field *field;

    if (name == NULL)
        return true;
    if (!find_field(intervals->begin, name, strlen(name), &field, fail))
        return false;
    if (field->kind != FIELD_INTEGER && field->kind != FIELD_ENUM)
        return fail_set(fail, "--group %s: only numbers and enumerations can be grouped", name);
    intervals->group_field = field;
    intervals->group_of_end = schema_find_field(intervals->end, name);
    for (unsigned i = 0; i < intervals->match_count; i++)
        if (intervals->matches[i].begin == field)
            intervals->group_of_end = intervals->matches[i].end;
    if (intervals->group_of_end != NULL && !is_comparable(intervals->group_of_end))
        intervals->group_of_end = NULL;
    return true;
}

static void take_default(const char **value, const char *preset)
{
    if (*value == NULL)
        *value = preset;
}

/* Fills in what the options leave open. */
static void use_preset(struct intervals *intervals)
{
    struct interval_spec *spec = &intervals->spec;
    const struct interval_spec *preset = intervals->preset;

    if (preset == NULL && spec->begin == NULL && spec->end == NULL)
        preset = &presets[0];
    if (preset == NULL)
        return;
    take_default(&spec->name, preset->name);
    take_default(&spec->begin, preset->begin);
    take_default(&spec->end, preset->end);
    take_default(&spec->match, preset->match);
    take_default(&spec->same, preset->same);
    take_default(&spec->group, preset->group);
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
    if (!find_event(analysis, spec->begin, &intervals->begin, fail) ||
        !find_event(analysis, spec->end, &intervals->end, fail) ||
        !find_matches(intervals, spec->match, fail) || !find_same(intervals, spec->same, fail) ||
        !find_group(intervals, spec->group, fail))
        return false;
    analysis_map(analysis, &intervals->open, sizeof(struct open_interval));
    analysis_map(analysis, &intervals->groups, sizeof(struct group))->limit = MAP_DISTRIBUTIONS_MAX;
    analysis_map(analysis, &intervals->threads, sizeof(struct distribution))->limit = MAP_DISTRIBUTIONS_MAX;
    analysis->observer.event = on_event;
    return true;
}

/* ---- events ---- */

struct key {
    uint64_t first, others; /* values of matched fields */
    uint64_t whom;          /* thread, process or CPU */
};

/* Texts are represented by their hash. */
static uint64_t value_of(const struct field *field, const struct event *event)
{
    if (field->kind == FIELD_INTEGER || field->kind == FIELD_ENUM)
        return field_integer(field, event->bytes);
    return hash_bytes(HASH_SEED, (const char *)event->bytes + field->offset, field_text_length(field, event));
}

/* Values after the first two are represented by their hash, too. */
static struct key make_key(const struct intervals *intervals, const struct cursor *cursor,
                           const struct model_thread *thread, bool is_begin)
{
    struct key key = {0, 0, 0};

    for (unsigned i = 0; i < intervals->match_count; i++) {
        const struct match *match = &intervals->matches[i];
        uint64_t value = value_of(is_begin ? match->begin : match->end, &cursor->event);

        *(i == 0 ? &key.first : &key.others) = i < 2 ? value : hash_number(key.others, value);
    }
    if (intervals->same == SAME_THREAD)
        key.whom = thread->number;
    else if (intervals->same == SAME_PROCESS)
        key.whom = thread->pid;
    else if (intervals->same == SAME_CPU)
        key.whom = cursor->stream->rank;
    return key;
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
        intervals_group(intervals, value_of(intervals->group_of_end, event), true)->not_begun++;
}

static void begin_interval(struct intervals *intervals, const struct cursor *cursor,
                           const struct model_thread *thread)
{
    struct open_interval *open;
    struct key key;
    bool is_new;

    if (!analysis_wants(&intervals->analysis, thread))
        return;
    key = make_key(intervals, cursor, thread, true);
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
    open->group = intervals->group_field ? value_of(intervals->group_field, &cursor->event) : 0;
}

/* The clocks of CPUs may differ slightly: then the duration is 0. */
static void end_interval(struct intervals *intervals, const struct cursor *cursor,
                         const struct model_thread *thread)
{
    struct key key = make_key(intervals, cursor, thread, false);
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

    if (cursor->event.type == intervals->end)
        end_interval(intervals, cursor, thread);
    if (cursor->event.type == intervals->begin)
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
