/*
 * api_rows.c - /api/rows?from=&to=&limit=N: the rows of the timeline, from top to bottom.
 *
 * CPUs, pinned threads, then threads that were active in the range, by process; times are exact. A process
 * that shows several threads (members) has a row above them; they are `inner`. The `limit` threads that ran
 * longest have rows (400); hidden is the number of the others. counts: of the events of each type in the
 * range. color: "#LIGHT #DARK", of the program. label, number, title: its name, what is beside it, and what
 * the pointer tells. percent: of the known time a CPU was busy, or -1.
 *
 * filter=TEXT: part of a thread's name, process or ID. pins=NUMBERS in this order, chosen=NUMBER: have rows
 * anyway.
 */
#include <math.h>
#include <tools/tarn/view/api.h>
#include <tools/tarn/view/layout.h>
#include <tools/tarn/view/paint.h>

#define THREADS_DEFAULT 400u

static void add_cpu(const struct layout *layout, const struct layout_row *row, struct json *json)
{
    static const uint64_t none[CPU_KINDS];
    const uint64_t *ticks =
        row->number < layout->tally.cpu_count ? layout->tally.cpus[row->number].ticks : none;
    uint64_t busy = ticks[CPU_USER] + ticks[CPU_KERNEL] + ticks[CPU_INTERRUPT],
             known = busy + ticks[CPU_IDLE];
    json_add(json, "kind:%s rank:%u percent:%ld}", "cpu", row->number,
             known > 0 ? lround(100.0 * (double)busy / (double)known) : -1);
}

static void add_row(const struct layout *layout, const struct layout_row *row, struct json *json)
{
    bool is_thread = row->kind == LAYOUT_OF_THREAD;
    char colours[STYLE_COLOURS];
    struct layout_texts texts;
    layout_name(layout, row, &texts);
    json_add(json, "{label:%s number:%s title:%s", texts.label, texts.number, texts.title);
    if (row->kind == LAYOUT_OF_CPU) {
        add_cpu(layout, row, json);
        return;
    }
    style_colours(STYLE_PROGRAM, paint_program(layout->view, row->pid), colours);
    json_add(json, "kind:%s pid:%ld ran:%lu color:%s", is_thread ? "thread" : "process",
             row->pid == MODEL_NOBODY ? -1 : (long)row->pid, view_span(layout->view, row->ran), colours);
    if (is_thread) {
        json_add(json, "n:%u pinned:%d inner:%d}", row->number, row->pin != LAYOUT_UNPINNED, row->is_inner);
        return;
    }
    json_add(json, "members:[");
    BUFFER_EACH (const struct layout_row, member, &layout->rows)
        if (member->kind == LAYOUT_OF_THREAD && member->pid == row->pid)
            json_number(json, member->number);
    json_add(json, "]}");
}

bool api_rows(struct view *view, struct request *request, struct json *json)
{
    struct range range = request_range(view, request);
    const struct layout_options options = {
        .from = range.from_ticks,
        .to = range.to_ticks,
        .filter = request_text(request, "filter"),
        .pins = request_text(request, "pins"),
        .chosen = (uint32_t)request_number(request, "chosen", LANES_NOBODY, UINT32_MAX),
        .most = (uint32_t)request_number(request, "limit", THREADS_DEFAULT, UINT32_MAX),
        .for_page = true};
    struct layout layout;
    bool ok = layout_open(&layout, view, &options, &request->fail);
    json_add(json, "from:%lu to:%lu hidden:%u rows:[", range.from, range.to, layout.hidden);
    BUFFER_EACH (const struct layout_row, row, &layout.rows)
        add_row(&layout, row, json);
    json_add(json, "] counts:[");
    for (unsigned type = 0; type < view->trace.schema.event_count; type++)
        json_number(json, layout.tally.events[type]);
    json_add(json, "]");
    layout_close(&layout);
    return ok;
}
