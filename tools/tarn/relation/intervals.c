/*
 * intervals.c - the relation `interval`: the time from one event to another that belongs to it.
 *
 * Two events belong together if they have equal values in chosen fields and, optionally, come from the same
 * thread, process or CPU (relation/pairs.h). A second begin before the end means that the first one was not
 * ended. Events outside the range are not seen.
 */
#include <tools/tarn/relation/maker.h>
#include <tools/tarn/relation/pairs.h>

enum { PRESET, PARTS }; /* parameters: the parts are in the order of enum pair_part */

/* An interval that has begun and not yet ended. */
struct open_interval {
    uint64_t begin;     /* ticks */
    uint64_t group;     /* its value */
    uint64_t uncounted; /* of the thread at the begin */
    const struct model_thread *thread;
};

struct pairing {
    struct making making; /* first */
    struct pair pair;
    const char *name;
    /* NULL: one group. group_of_end is NULL if the end event does not have the group. */
    const struct field *group, *group_of_end;
    struct map open; /* struct open_interval by what begin and end have in common */
};

/* The end has the group if it has the field, or one that is matched with it. */
static bool find_group(struct pairing *pairing, const char *name, struct fail *fail)
{
    const struct field *field;
    if (name == NULL)
        return true;
    if (!pair_field(pairing->pair.begin, name, strlen(name), &field, fail))
        return false;
    if (field->kind != FIELD_INTEGER && field->kind != FIELD_ENUM)
        return fail_set(fail, "--group %s: only numbers and enumerations can be grouped", name);
    pairing->group = field;
    pairing->group_of_end = schema_find_field(pairing->pair.end, name);
    for (unsigned i = 0; i < pairing->pair.match_count; i++)
        if (pairing->pair.matches[i].begin == field)
            pairing->group_of_end = pairing->pair.matches[i].end;
    if (pairing->group_of_end != NULL && !pair_is_comparable(pairing->group_of_end))
        pairing->group_of_end = NULL;
    return true;
}

static bool resolve(struct pairing *pairing, struct fail *fail)
{
    const char *const *parameters = pairing->making.parameters;
    const char *parts[PAIR_PARTS] = {NULL}, *preset = parameters[PRESET];
    for (unsigned part = 0; part < PAIR_NAME; part++)
        parts[part] = parameters[PARTS + part];
    if (preset == NULL && parts[PAIR_BEGIN] == NULL && parts[PAIR_END] == NULL)
        preset = "stopwatch";
    if (preset != NULL && !pair_preset(parts, preset))
        return fail_set(fail, "--preset %.40s: not a preset; see tarn intervals --help", preset);
    if (parts[PAIR_BEGIN] == NULL || parts[PAIR_END] == NULL)
        return fail_set(fail, "an interval needs --begin and --end, or a --preset");
    pairing->name = parts[PAIR_NAME] != NULL ? parts[PAIR_NAME] : parts[PAIR_BEGIN];
    return pair_resolve(&pairing->pair, &pairing->making.analysis->trace->schema, parts, fail) &&
           find_group(pairing, parts[PAIR_GROUP], fail);
}

/* A key's `whom`. */
static uint64_t whom_of(const struct pairing *pairing, const struct cursor *cursor,
                        const struct model_thread *thread)
{
    enum same same = pairing->pair.same;
    return same == SAME_THREAD    ? thread->number
           : same == SAME_PROCESS ? thread->pid
           : same == SAME_CPU     ? cursor->stream->rank
                                  : 0;
}

/* The name of the group's value, or else of the interval. */
static const char *name_of(const struct pairing *pairing, uint64_t group, char text[ANALYSIS_NAME_BYTES])
{
    const struct field *field = pairing->group;
    if (field == NULL)
        return pairing->name;
    if (field->labels != NULL)
        return label_of(field, group, text);
    snprintf(text, ANALYSIS_NAME_BYTES, field->is_signed ? "%s %lld" : "%s %llu", field->name,
             (unsigned long long)group);
    return text;
}

/* clang-format off */
#define INTERVAL_COLUMNS(C) \
    C("ts", WHEN, WHEN(open->begin), "time of the begin event, or else of the end") \
    C("dur", SPAN, IF(end != 0, SPAN(ticks)), "duration, if both were seen") \
    C("end_ts", WHEN, IF(end != 0, WHEN(end)), "time of the end event") \
    C("utid", NUMBER, THREAD_OF(open->thread), "thread that logged the begin") \
    C("kind", TEXT, STRING(kind), \
      "whole, begun anew, not ended, not begun, or no space left (too many were open)") \
    C("name", TEXT, STRING(is_known ? name_of(pairing, open->group, text) : NULL), \
      "name of the value, or else of the interval") \
    C("value", NUMBER, IF(is_known && pairing->group != NULL, SIGNED(open->group)), \
      "value of the field group_by in the begin event") \
    C("preset", PARAMETER(PRESET, TEXT), NOTHING, PAIR_PRESETS) \
    C("begin_event", PARAMETER(PARTS + PAIR_BEGIN, TEXT), NOTHING, "the event that begins an interval") \
    C("end_event", PARAMETER(PARTS + PAIR_END, TEXT), NOTHING, "the event that ends it") \
    C("match_fields", PARAMETER(PARTS + PAIR_MATCH, TEXT), NOTHING, \
      "fields that are equal in both: id, or tid=next_tid") \
    C("same", PARAMETER(PARTS + PAIR_SAME, TEXT), NOTHING, \
      "both come from the same thread, process or cpu, or from any") \
    C("group_by", PARAMETER(PARTS + PAIR_GROUP, TEXT), NOTHING, "field of the begin event")
/* clang-format on */

/* END: of an interval that was seen completely, which took TICKS; 0: another. A group that is not KNOWN has
 * neither name nor value. */
static void give(struct pairing *pairing, const char *kind, const struct open_interval *open, bool is_known,
                 uint64_t ticks, uint64_t end)
{
    char text[ANALYSIS_NAME_BYTES];
    MAKING_GIVE(&pairing->making, 0, open->begin, INTERVAL_COLUMNS);
}

static void begin_interval(struct pairing *pairing, const struct cursor *cursor,
                           const struct model_thread *thread)
{
    const struct open_interval new = {
        .begin = cursor->ticks,
        .group = pairing->group != NULL ? pair_value(pairing->group, &cursor->event) : 0,
        .uncounted = thread->uncounted,
        .thread = thread};
    struct open_interval *open;
    struct pair_key key;
    bool is_new;
    if (!analysis_wants(pairing->making.analysis, thread))
        return;
    key = pair_key(&pairing->pair, &cursor->event, true, whom_of(pairing, cursor, thread));
    open = map_add(&pairing->open, key.first, key.others, key.whom, &is_new);
    if (open == NULL) {
        give(pairing, "no space left", &new, true, 0, 0);
        return;
    }
    if (!is_new)
        give(pairing, "begun anew", open, true, 0, 0);
    *open = new;
}

/* The clocks of CPUs may differ slightly: then the duration is 0. */
static void end_interval(struct pairing *pairing, const struct cursor *cursor,
                         const struct model_thread *thread)
{
    struct pair_key key = pair_key(&pairing->pair, &cursor->event, false, whom_of(pairing, cursor, thread));
    const struct open_interval *open = map_find(&pairing->open, key.first, key.others, key.whom);
    const struct field *group = pairing->group_of_end;
    uint64_t ticks;
    if (open == NULL) {
        const struct open_interval new = {.begin = cursor->ticks,
                                          .group = group != NULL ? pair_value(group, &cursor->event) : 0};
        if (analysis_wants(pairing->making.analysis, thread))
            give(pairing, "not begun", &new, pairing->group == NULL || group != NULL, 0, 0);
        return;
    }
    ticks = cursor->ticks > open->begin ? cursor->ticks - open->begin : 0;
    if (open->thread == thread)
        ticks -= ticks < thread->uncounted - open->uncounted ? ticks : thread->uncounted - open->uncounted;
    give(pairing, "whole", open, true, ticks, cursor->ticks);
    map_remove(&pairing->open, key.first, key.others, key.whom);
}

/* One event may end an interval and begin the next. */
static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *thread)
{
    struct pairing *pairing = MAKING_OF(self, struct pairing);
    if (cursor->event.type == pairing->pair.end)
        end_interval(pairing, cursor, thread);
    if (cursor->event.type == pairing->pair.begin)
        begin_interval(pairing, cursor, thread);
}

static void open_pairing(struct making *making)
{
    struct pairing *pairing = (struct pairing *)making;
    analysis_map(making->analysis, &pairing->open, sizeof(struct open_interval));
    if (resolve(pairing, &making->relations->fail))
        making->observer.event = on_event;
}

static void finish_pairing(struct making *making)
{
    struct pairing *pairing = (struct pairing *)making;
    for (size_t i = 0; i < pairing->open.count; i++)
        give(pairing, "not ended", map_value(&pairing->open, i), true, 0, 0);
}

const struct maker interval_maker = {
    .relations = {MADE_RELATION("interval", "times between paired events", INTERVAL_COLUMNS)},
    .size = sizeof(struct pairing),
    .open = open_pairing,
    .finish = finish_pairing,
};
