/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api_flags.c - /api/flags?from=&to=&width=&events=&cpus=&threads=: on which lanes chosen events are.
 *
 * {from, to, exact, cpus: [{rank, flags: [time, event, count, ...]}], threads: [{n, flags}]}. Of those of one
 * type in the same pixel of a lane, the first and their number. A range that is not exact has none.
 */
#include <stdlib.h>
#include <tools/tarn/view/api.h>
#include <tools/tarn/view/cover.h>
#include <tools/tarn/view/index_walk.h>
#include <tools/tarn/view/lanes.h>

struct flag {
    uint64_t at; /* ticks */
    uint32_t type, count;
};

/* A lane's flags, and for each type the index of its last one. */
struct flag_row {
    uint32_t number;     /* rank, or thread */
    struct buffer flags; /* struct flag */
    uint32_t *last;
};

struct flagger {
    struct model_observer observer;
    struct walk_range range;
    uint64_t pixel; /* ticks */
    uint32_t type_count, thread_count;
    bool *types;
    struct flag_row *cpus, *threads; /* by rank and by number; `last` NULL: not requested */
};

static void add_flag(const struct flagger *flagger, struct flag_row *row, uint64_t at, uint32_t type)
{
    struct flag flag = {.at = at, .type = type, .count = 1};
    struct flag *last =
        row->last[type] != UINT32_MAX ? (struct flag *)row->flags.bytes + row->last[type] : NULL;

    if (last != NULL && at - last->at <= flagger->pixel) {
        last->count++;
        return;
    }
    row->last[type] = (uint32_t)lane_count(&row->flags, sizeof(flag));
    buffer_add(&row->flags, &flag, sizeof(flag));
}

static void on_event(struct walk_range *range, const struct cursor *cursor, const struct model *model)
{
    struct flagger *flagger = OUTER(range, struct flagger, range);
    uint32_t type = cursor->event.type->index, rank = cursor->stream->rank;
    const struct model_thread *thread = model->cpus[rank].thread;

    if (!flagger->types[type])
        return;
    if (flagger->cpus[rank].last != NULL)
        add_flag(flagger, &flagger->cpus[rank], cursor->ticks, type);
    if (thread != NULL && thread->number < flagger->thread_count &&
        flagger->threads[thread->number].last != NULL)
        add_flag(flagger, &flagger->threads[thread->number], cursor->ticks, type);
}

/* ---- lanes ----------------------------------------------------------------------------------------- */

static struct flag_row *open_rows(const struct request *request, const char *key, uint32_t count,
                                  uint32_t types)
{
    struct flag_row *rows = alloc_zero((size_t)count + 1, sizeof(*rows));
    uint32_t found, left = LANES_MAX;
    bool *wanted = request_set(request, key, count, false, &found);

    for (uint32_t i = 0; i < count && left > 0; i++) {
        rows[i].number = i;
        if (!wanted[i])
            continue;
        left--;
        rows[i].last = alloc_zero((size_t)types + 1, sizeof(rows[i].last[0]));
        memset(rows[i].last, 0xff, types * sizeof(rows[i].last[0]));
    }
    free(wanted);
    return rows;
}

static void close_rows(struct flag_row *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free(rows[i].flags.bytes);
        free(rows[i].last);
    }
    free(rows);
}

static void add_rows(const struct view *view, const char *key, const char *number,
                     const struct flag_row *rows, uint32_t count, struct json *json)
{
    json_key_open(json, key, '[');
    for (uint32_t i = 0; i < count; i++) {
        const struct flag *flag = (const struct flag *)rows[i].flags.bytes;

        if (rows[i].flags.used == 0)
            continue;
        json_open(json, '{');
        json_key_number(json, number, rows[i].number);
        json_key_open(json, "flags", '[');
        for (size_t left = lane_count(&rows[i].flags, sizeof(*flag)); left > 0; left--, flag++) {
            json_number(json, view_ns(view, flag->at));
            json_number(json, flag->type);
            json_number(json, flag->count);
        }
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* ---- the request ----------------------------------------------------------------------------------- */

static bool find_flags(struct flagger *flagger, const struct view *view, bool *is_exact, struct fail *fail)
{
    uint64_t from = flagger->range.from, to = flagger->range.to;

    *is_exact = index_events_in(&view->index, from, to) <= LANES_EXACT;
    return !*is_exact || from >= to || walk_range(&flagger->range, &view->trace, &view->index, fail);
}

bool api_flags(struct view *view, const struct request *request, struct json *json, struct fail *fail)
{
    struct flagger flagger = {.observer = {.only_scheduling = true},
                              .type_count = view->trace.schema.event_count,
                              .thread_count = index_thread_count(&view->index)};
    uint32_t cpu_count = view->trace.stream_count, found;
    struct range range;
    bool ok, is_exact;

    if (!request_range(view, request, &range, fail))
        return false;
    flagger.pixel = (range.to_ticks - range.from_ticks) / range.width;
    flagger.range = (struct walk_range){
        .from = range.from_ticks, .to = range.to_ticks, .observer = &flagger.observer, .event = on_event};
    flagger.types = request_set(request, "events", flagger.type_count, false, &found);
    flagger.cpus = open_rows(request, "cpus", cpu_count, flagger.type_count);
    flagger.threads = open_rows(request, "threads", flagger.thread_count, flagger.type_count);
    ok = find_flags(&flagger, view, &is_exact, fail);
    if (ok) {
        json_key_number(json, "from", range.from);
        json_key_number(json, "to", range.to);
        json_key_bool(json, "exact", is_exact);
        add_rows(view, "cpus", "rank", flagger.cpus, cpu_count, json);
        add_rows(view, "threads", "n", flagger.threads, flagger.thread_count, json);
    }
    close_rows(flagger.cpus, cpu_count);
    close_rows(flagger.threads, flagger.thread_count);
    free(flagger.types);
    return ok;
}
