/*
 * api_lanes.c - /api/lanes?from=&to=&width=&cpus=&threads=&events=: how to draw the lanes of a range.
 *
 * {from, to, width, exact, lanes: [{key, title, rows, flags}, ...], looks, arrows, waits}. Keys: c and a
 * rank; t and a thread, of threads= (none without it, at most 1024); m and an event type, of events=, whose
 * colour is the page's.
 *
 * rows: [[gap, length, look, merged, ...], ...], of states or a CPU, then of each depth of calls; gap: since
 * the end of the box before, or the trace's start. A range of up to 400000 events is exact. merged > 1: so
 * many boxes narrower than a pixel, with the look of most of their time. A longer range has four shares in
 * percent in its place, the first one in the low 8 bits: of user, kernel, interrupt, and of a CPU idle, of a
 * thread ready. looks: [shape, y, height, colour, label, brief, tip, and with shares bottom, space, two
 * colours, over]: struct look (paint.h). A colour is a property of the style sheet, or "#LIGHT #DARK". A
 * title has the first lines of what the pointer tells. flags: [time, event, count, ...] of events=, in an
 * exact range.
 *
 * arrows: [begin, from, end, to, kind, ...] between threads; from -1: an interrupt or a timer; kinds are enum
 * arrow_kind. At most 2000, and one per pixel of the lane where it ends. waits: for locks and
 * events; pid 0: the kernel's; holder: a thread, or -1.
 */
#include <tools/tarn/view/api.h>
#include <tools/tarn/view/paint.h>

/* A thread's number, or -1. */
static long thread_or_none(uint32_t number)
{
    return number == LANES_NOBODY ? -1 : (long)number;
}

/* Adds the row that was painted last. */
static void add_row(const struct paint *paint, struct json *json)
{
    uint64_t ticks = 0, before = 0; /* end of the box before, in ticks and nanoseconds */
    json_add(json, "[");
    BUFFER_EACH (const struct paint_command, command, &paint->commands) {
        const struct lane_box *box = &command->box;
        uint64_t begin = box->begin == ticks ? before : view_ns(paint->view, box->begin);
        uint64_t end = view_ns(paint->view, box->end);
        json_number(json, begin - before);
        json_number(json, end - begin);
        json_number(json, map_index(command->look));
        json_number(json, command->look->space == 0 ? box->merged : htole32(box->merged));
        ticks = box->end;
        before = end;
    }
    json_add(json, "]");
}

static void open_lane(struct json *json, char letter, uint32_t number)
{
    char key[PUT_NUMBER_MAX + 2] = {letter};
    *put_unsigned(key + 1, number) = '\0';
    json_add(json, "{key:%s", key);
}

static void add_lane(struct paint *paint, const struct lane *lane, struct json *json)
{
    open_lane(json, lane->is_cpu ? 'c' : 't', lane->number);
    json_add(json, "title:%s rows:[", paint_title(paint, lane));
    for (uint32_t row = 0; row <= lane->depth; row++) {
        paint_row(paint, lane, row);
        add_row(paint, json);
    }
    json_add(json, "] flags:[");
    BUFFER_EACH (const struct lane_flag, flag, &lane->flags)
        json_add(json, "%lu %u %u", view_ns(paint->view, flag->at), flag->type, flag->count);
    json_add(json, "]}");
}

static void add_marks(struct paint *paint, struct json *json)
{
    for (uint32_t type = 0; type < paint->lanes->type_count; type++) {
        if (paint->lanes->counts[type] == NULL)
            continue;
        open_lane(json, 'm', type);
        json_add(json, "rows:[");
        paint_mark(paint, type, 0);
        add_row(paint, json);
        json_add(json, "]}");
    }
    json_add(json, "]");
}

/* A property of the style sheet, or the two colours of a program. */
static void add_colour(struct json *json, enum style style, const char *program)
{
    char text[STYLE_COLOURS] = "";
    if (style == STYLE_PROGRAM || style == STYLE_KERNEL)
        style_colours(style, program, text);
    json_add(json, "%s", text[0] != '\0' || style == STYLES ? text : styles[style].property);
}

static void add_looks(const struct paint *paint, struct json *json)
{
    json_add(json, "looks:[");
    for (size_t i = 0; i < map_total(&paint->looks); i++) {
        const struct look *look = (const struct look *)map_entry(&paint->looks, i)->value;
        json_add(json, "[%u %u %u", look->shape, look->y, look->height);
        add_colour(json, look->style, look->program);
        json_add(json, "%s %s %s", look->label, look->brief, look->tip);
        if (look->space != 0) {
            json_add(json, "%u %u", look->bottom, look->space);
            add_colour(json, STYLE_PROGRAM, look->program);
            add_colour(json, STYLE_KERNEL, look->program);
            add_colour(json, look->over, look->program);
        }
        json_add(json, "]");
    }
    json_add(json, "]");
}

static void add_links(struct paint *paint, struct json *json)
{
    const struct view *view = paint->view;
    const struct lanes *lanes = paint->lanes;
    char lock[2 + 16 + 1];
    json_add(json, "arrows:[");
    BUFFER_EACH (const struct lane_arrow, arrow, &lanes->arrows)
        json_add(json, "%lu %ld %lu %u %u", view_ns(view, arrow->begin), thread_or_none(arrow->from),
                 view_ns(view, arrow->end), arrow->to, arrow->kind);
    json_add(json, "] waits:[");
    BUFFER_EACH (const struct lane_wait, wait, &lanes->waits) {
        *put_hex(lock, wait->lock, hex_lower) = '\0';
        json_add(json, "{begin:%lu end:%lu thread:%u lock:%s pid:%u class:%u holder:%ld tip:%s",
                 view_ns(view, wait->begin), view_ns(view, wait->end), wait->thread, lock, wait->pid,
                 wait->lock_class, thread_or_none(wait->holder), paint_wait_tip(paint, wait));
        if (wait->name[0] != '\0')
            json_add(json, "name:%s", wait->name);
        json_add(json, "}");
    }
    json_add(json, "]");
}

static void add_all(const struct view *view, const struct range *range, const struct lanes *lanes,
                    struct json *json)
{
    struct paint paint;
    paint_open(&paint, view, lanes);
    json_add(json, "from:%lu to:%lu width:%u exact:%d lanes:[", range->from, range->to, lanes->width,
             lanes->is_exact);
    for (uint32_t i = 0; i < lanes->count; i++)
        add_lane(&paint, &lanes->all[i], json);
    add_marks(&paint, json);
    add_looks(&paint, json);
    add_links(&paint, json);
    paint_close(&paint);
}

bool api_lanes(struct view *view, struct request *request, struct json *json)
{
    struct range range = request_range(view, request);
    struct lanes lanes = {.from = range.from_ticks, .to = range.to_ticks, .width = range.width};
    bool *cpus = request_set(request, "cpus", lanes_cpu_count(view), true);
    bool *threads = request_set(request, "threads", index_thread_count(&view->index), false);
    bool *marked = request_set(request, "events", view->trace.schema.event_count, false);
    lanes_ask(&lanes, view, cpus, threads, marked);
    lanes_find(&lanes, view);
    add_all(view, &range, &lanes, json);
    lanes_free(&lanes);
    free(cpus);
    free(threads);
    free(marked);
    return true;
}
