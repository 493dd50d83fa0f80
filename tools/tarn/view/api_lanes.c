/* SPDX-License-Identifier: BSD-2-Clause */
/* api_lanes.c - /api/lanes: what happens in a range. */
#include <stdlib.h>
#include <tools/tarn/view/api.h>
#include <tools/tarn/view/lanes.h>

#define ARROWS_DEFAULT 2000u
#define ARROWS_MAX     20000u

/* ---- /api/lanes ------------------------------------------------------------------------------------ */

/* Adds a number, -1 for NONE. */
static void add_or_none(struct json *json, uint32_t number, uint32_t none)
{
    json_signed(json, number == none ? -1 : (int64_t)number);
}

static void add_boxes(const struct view *view, const char *key, const struct buffer *boxes, char lane,
                      struct json *json)
{
    const struct lane_box *box = (const struct lane_box *)boxes->bytes;

    json_key_open(json, key, '[');
    for (size_t i = 0; i < lane_count(boxes, sizeof(*box)); i++, box++) {
        json_number(json, view_ns(view, box->begin));
        json_number(json, view_ns(view, box->end));
        json_number(json, box->what);
        add_or_none(json, box->kind, lane == 't' ? LANES_NOBODY : ACTIVITIES);
        if (lane != 't')
            add_or_none(json, box->detail, UINT32_MAX);
        json_number(json, box->merged);
    }
    json_close(json, ']');
}

static void add_runs(const struct buffer *runs, uint32_t none, struct json *json)
{
    const struct lane_run *run = (const struct lane_run *)runs->bytes;

    json_key_open(json, "runs", '[');
    for (size_t i = 0; i < lane_count(runs, sizeof(*run)); i++, run++) {
        json_number(json, run->pixels);
        add_or_none(json, run->what, none);
        for (unsigned share = 0; share < sizeof(run->shares); share++)
            json_number(json, run->shares[share]);
    }
    json_close(json, ']');
}

static void add_lanes(const struct view *view, const struct lanes *lanes, bool are_cpus, struct json *json)
{
    const struct lane *lane = are_cpus ? lanes->cpus : lanes->threads;
    uint32_t count = are_cpus ? lanes->cpu_count : lanes->thread_count;

    json_key_open(json, are_cpus ? "cpus" : "threads", '[');
    for (uint32_t i = 0; i < count; i++, lane++) {
        json_open(json, '{');
        json_key_number(json, are_cpus ? "rank" : "n", lane->number);
        if (!lanes->is_exact) {
            add_runs(&lane->runs, are_cpus ? LANES_NOBODY : MODEL_STATES, json);
        } else if (are_cpus) {
            add_boxes(view, "boxes", &lane->boxes, 'c', json);
        } else {
            add_boxes(view, "states", &lane->boxes, 't', json);
            add_boxes(view, "frames", &lane->frames, 'f', json);
        }
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void add_arrows(const struct view *view, const struct lanes *lanes, struct json *json)
{
    const struct lane_arrow *arrow = (const struct lane_arrow *)lanes->arrows.bytes;

    json_key_open(json, "arrows", '[');
    for (size_t i = 0; i < lane_count(&lanes->arrows, sizeof(*arrow)); i++, arrow++) {
        json_number(json, view_ns(view, arrow->begin));
        add_or_none(json, arrow->from, LANES_NOBODY);
        json_number(json, view_ns(view, arrow->end));
        json_number(json, arrow->to);
        json_number(json, arrow->kind);
    }
    json_close(json, ']');
    json_key_number(json, "arrows_dropped", lanes->arrows_dropped);
}

static void add_waits(const struct view *view, const struct lanes *lanes, struct json *json)
{
    const struct lane_wait *wait = (const struct lane_wait *)lanes->waits.bytes;
    char lock[2 + 16 + 1];

    json_key_open(json, "waits", '[');
    for (size_t i = 0; i < lane_count(&lanes->waits, sizeof(*wait)); i++, wait++) {
        *put_hex(lock, wait->lock, hex_lower) = '\0';
        json_open(json, '{');
        json_key_number(json, "begin", view_ns(view, wait->begin));
        json_key_number(json, "end", view_ns(view, wait->end));
        json_key_number(json, "thread", wait->thread);
        json_key_text(json, "lock", lock);
        json_key_number(json, "pid", wait->pid);
        if (wait->name[0] != '\0')
            json_key_text(json, "name", wait->name);
        json_key_number(json, "class", wait->lock_class);
        json_key(json, "holder");
        add_or_none(json, wait->holder, LANES_NOBODY);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_key_number(json, "waits_dropped", lanes->waits_dropped);
}

bool api_lanes(struct view *view, const struct request *request, struct json *json, struct fail *fail)
{
    struct lanes lanes = {0};
    struct range range;
    uint64_t arrows = ARROWS_DEFAULT;
    uint32_t found;
    bool *cpus, *threads, ok;

    if (!request_range(view, request, &range, fail) ||
        !request_number(request, "arrows", &arrows, ARROWS_MAX, fail))
        return false;
    lanes.from = range.from_ticks;
    lanes.to = range.to_ticks;
    lanes.width = range.width;
    lanes.arrow_max = (uint32_t)arrows;
    cpus = request_set(request, "cpus", view->trace.stream_count, true, &found);
    threads = request_set(request, "threads", index_thread_count(&view->index), false, &found);
    lanes_ask(&lanes, view, cpus, threads);
    ok = lanes_find(&lanes, view, fail);
    if (ok) {
        json_key_number(json, "from", range.from);
        json_key_number(json, "to", range.to);
        json_key_number(json, "width", lanes.width);
        json_key_bool(json, "exact", lanes.is_exact);
        add_lanes(view, &lanes, true, json);
        add_lanes(view, &lanes, false, json);
        add_arrows(view, &lanes, json);
        add_waits(view, &lanes, json);
    }
    lanes_free(&lanes);
    free(cpus);
    free(threads);
    return ok;
}
