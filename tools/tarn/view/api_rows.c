/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api_rows.c - /api/rows?from=&to=&sort=time|name|tid&limit=N: the rows of the timeline.
 *
 * CPUs, pinned threads, then threads that were active in the range, by process. {from, to, hidden, rows:
 * [{kind, y, height, ...}]}, from top to bottom, in pixels; times are exact. kind "cpu": {rank, user, kernel,
 * interrupt, idle}; "process", above the threads of one that shows several: {pid, label, ran, folded,
 * members: [thread]}; "thread": {n, pid, label, ran, folded, pinned, inner (below its process), depth (its
 * height contains so many lines of calls)}. The `limit` threads that ran longest have rows (400); hidden is
 * the number of the others.
 *
 * filter=TEXT: part of a thread's name, process or ID. pins=NUMBERS in this order, chosen=NUMBER: have rows
 * anyway. folded=NUMBERS, folded_pids=PIDS. depths=NUMBER:DEPTH,...: how deep calls are nested in the view.
 */
#include <stdlib.h>
#include <tools/tarn/view/api.h>
#include <tools/tarn/view/layout.h>

#define THREADS_DEFAULT 400u

static void add_cpu(const struct layout *layout, const struct layout_row *row, struct json *json)
{
    static const char *const keys[CPU_KINDS] = {"user", "kernel", "interrupt", "idle"};

    const bool is_known = row->number < layout->view->trace.stream_count;

    json_key_number(json, "rank", row->number);
    for (int kind = 0; kind < CPU_KINDS; kind++)
        json_key_number(json, keys[kind],
                        is_known ? view_span(layout->view, layout->tally.cpus[row->number].ticks[kind]) : 0);
}

static void add_thread(const struct layout *layout, const struct layout_row *row, struct json *json)
{
    char text[VIEW_NAME_BYTES];

    json_key_number(json, "n", row->number);
    json_key_text(json, "label", view_thread_name(layout->view, row->number, text));
    json_key_number(json, "depth", row->depth);
    json_key_bool(json, "pinned", row->is_pinned);
    json_key_bool(json, "inner", row->is_inner);
}

static void add_process(const struct layout *layout, const struct layout_row *row, struct json *json)
{
    char text[VIEW_NAME_BYTES];

    json_key_text(json, "label", view_process_name(layout->view, row->pid, text));
    json_key_open(json, "members", '[');
    for (uint32_t i = 0; i < row->count; i++)
        json_number(json, layout_member(layout, row->first + i));
    json_close(json, ']');
}

static void add_row(const struct layout *layout, const struct layout_row *row, struct json *json)
{
    static const char *const kinds[] = {"cpu", "process", "thread"};

    json_open(json, '{');
    json_key_text(json, "kind", kinds[row->kind]);
    json_key_number(json, "y", row->y);
    json_key_number(json, "height", row->height);
    if (row->kind == LAYOUT_OF_CPU) {
        add_cpu(layout, row, json);
    } else {
        json_key_signed(json, "pid", row->pid == MODEL_NOBODY ? -1 : (int64_t)row->pid);
        json_key_number(json, "ran", view_span(layout->view, row->ran));
        json_key_bool(json, "folded", row->is_folded);
        if (row->kind == LAYOUT_OF_THREAD)
            add_thread(layout, row, json);
        else
            add_process(layout, row, json);
    }
    json_close(json, '}');
}

/* Parses a list of NUMBER:DEPTH. */
static uint8_t *parse_depths(const struct view *view, const char *at)
{
    uint32_t count = index_thread_count(&view->index);
    uint8_t *depths = alloc_zero((size_t)count + 1, 1);
    char *end;

    while (at != NULL && *at >= '0' && *at <= '9') {
        uint64_t number = strtoull(at, &end, 10), depth = *end == ':' ? strtoull(end + 1, &end, 10) : 0;

        if (number < count)
            depths[number] = depth < UINT8_MAX ? (uint8_t)depth : UINT8_MAX;
        at = *end == ',' ? end + 1 : NULL;
    }
    return depths;
}

static bool parse_options(const struct view *view, const struct request *request,
                          struct layout_options *options, struct range *range, struct fail *fail)
{
    static const char *const sorts[LAYOUT_SORTS] = {"time", "name", "tid"};
    const char *sort = request_text(request, "sort");
    uint64_t most = THREADS_DEFAULT, chosen = LANES_NOBODY;
    unsigned order = 0;

    if (!request_range(view, request, range, fail) ||
        !request_number(request, "limit", &most, UINT32_MAX, fail) ||
        !request_number(request, "chosen", &chosen, UINT32_MAX, fail))
        return false;
    while (sort != NULL && order < LAYOUT_SORTS && strcmp(sort, sorts[order]) != 0)
        order++;
    if (order == LAYOUT_SORTS)
        return fail_set(fail, "sort is time, name or tid");
    *options = (struct layout_options){.from = range->from_ticks,
                                       .to = range->to_ticks,
                                       .sort = order,
                                       .filter = request_text(request, "filter"),
                                       .pins = request_text(request, "pins"),
                                       .threads = request_text(request, "folded"),
                                       .pids = request_text(request, "folded_pids"),
                                       .chosen = (uint32_t)chosen,
                                       .most = (uint32_t)most,
                                       .has_heads = true,
                                       .padding = LAYOUT_PADDING};
    return true;
}

bool api_rows(struct view *view, const struct request *request, struct json *json, struct fail *fail)
{
    struct layout_options options;
    struct layout layout;
    struct range range;
    uint8_t *depths;
    bool ok;

    if (!parse_options(view, request, &options, &range, fail))
        return false;
    ok = layout_open(&layout, view, &options, fail);
    if (ok) {
        depths = parse_depths(view, request_text(request, "depths"));
        layout_place(&layout, depths, UINT32_MAX);
        free(depths);
        json_key_number(json, "from", range.from);
        json_key_number(json, "to", range.to);
        json_key_number(json, "hidden", layout.hidden);
        json_key_open(json, "rows", '[');
        for (size_t i = 0; i < layout_count(&layout); i++)
            add_row(&layout, layout_row(&layout, i), json);
        json_close(json, ']');
    }
    layout_close(&layout);
    return ok;
}
