/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api_lanes.c - /api/lanes?from=&to=&width=&cpus=&threads=&arrows=MOST: how to draw the lanes of a range.
 *
 * {from, to, width, exact, cpus: [{rank, title, rows or runs}], threads: [{n, title, rows or runs}], looks,
 * arrows, arrows_dropped, waits, waits_dropped}. Without threads= there are none; at most 1024.
 *
 * A range of up to 400000 events is exact. rows: [[begin, end, look, merged, ...], ...], of states or a CPU,
 * then of each depth of calls; merged > 1: so many boxes narrower than a pixel, with the look of most of
 * their time. A longer range has runs: [pixels, look, four shares in percent, ...], the shares of user,
 * kernel, interrupt, and of a CPU idle, of a thread ready. looks: [shape, y, height, colour, label, brief,
 * tip, and for runs bottom, space, two colours, over]: struct look (paint.h). A colour is a property of
 * page.css, or "#LIGHT #DARK". A title has the first lines of what the pointer tells.
 *
 * arrows: [begin, from, end, to, kind, ...] between threads; from -1: an interrupt or a timer; kinds are enum
 * arrow_kind. At most 2000, or `arrows`, and one per pixel of the lane where it ends. waits: [{begin, end,
 * thread, lock, pid (0: the kernel's), name (if known), class, holder (a thread, or -1), tip}] for locks and
 * events.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/view/api.h>
#include <tools/tarn/view/paint.h>

#define ARROWS_DEFAULT 2000u
#define ARROWS_MAX     20000u

struct writer {
    struct painter painter;
    const struct view *view;
    struct json *json;
};

/* Adds a thread's number, or -1. */
static void add_thread(struct json *json, uint32_t number)
{
    json_signed(json, number == LANES_NOBODY ? -1 : (int64_t)number);
}

static void add_box(struct painter *self, const struct look *look, const struct lane_box *box)
{
    const struct writer *writer = (struct writer *)self;

    json_number(writer->json, view_ns(writer->view, box->begin));
    json_number(writer->json, view_ns(writer->view, box->end));
    json_number(writer->json, map_index(look));
    json_number(writer->json, box->merged);
}

static void add_run(struct painter *self, const struct look *look, const struct lane_run *run)
{
    struct json *json = ((struct writer *)self)->json;

    json_number(json, run->pixels);
    json_number(json, map_index(look));
    for (unsigned share = 0; share < sizeof(run->shares); share++)
        json_number(json, run->shares[share]);
}

static void add_lanes(struct writer *writer, struct paint *paint, bool are_cpus)
{
    const struct lanes *lanes = paint->lanes;
    struct json *json = writer->json;
    char title[PAINT_TEXT];

    json_key_open(json, are_cpus ? "cpus" : "threads", '[');
    for (uint32_t i = 0; i < (are_cpus ? lanes->cpu_count : lanes->thread_count); i++) {
        const struct lane *lane = are_cpus ? &lanes->cpus[i] : &lanes->threads[i];

        json_open(json, '{');
        json_key_number(json, are_cpus ? "rank" : "n", lane->number);
        paint_title(paint, lane, title);
        json_key_text(json, "title", title);
        json_key_open(json, lanes->is_exact ? "rows" : "runs", '[');
        for (uint32_t row = 0; row <= lane->depth; row++) {
            if (lanes->is_exact)
                json_open(json, '[');
            paint_row(paint, lane, row, &writer->painter);
            if (lanes->is_exact)
                json_close(json, ']');
        }
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

static unsigned rgb(struct colour colour)
{
    return (unsigned)round(colour.red * 255) << 16 | (unsigned)round(colour.green * 255) << 8 |
           (unsigned)round(colour.blue * 255);
}

/* A property of the style sheet, or the number of a program's colour. */
static void add_colour(struct json *json, struct map *programs, enum style style, const char *program)
{
    const char **name;

    if (style != STYLE_PROGRAM && style != STYLE_KERNEL) {
        json_text(json, style < STYLES ? styles[style].property : "");
        return;
    }
    name = map_at(programs, hash_text(HASH_SEED, program), 0, 0);
    *name = program;
    json_number(json, 2 * map_index(name) + (style == STYLE_KERNEL));
}

static void add_programs(const struct map *programs, struct json *json)
{
    char text[20];

    json_key_open(json, "programs", '[');
    for (size_t i = 0; i < programs->count; i++) {
        const char *const *name = map_value(programs, i);
        struct process_colours light = style_of_program(false, *name), dark = style_of_program(true, *name);

        snprintf(text, sizeof(text), "#%06x #%06x", rgb(light.user), rgb(dark.user));
        json_text(json, text);
        snprintf(text, sizeof(text), "#%06x #%06x", rgb(light.kernel), rgb(dark.kernel));
        json_text(json, text);
    }
    json_close(json, ']');
}

static void add_looks(const struct paint *paint, struct json *json)
{
    struct map programs; /* names, by hash */

    map_open(&programs, sizeof(const char *));
    json_key_open(json, "looks", '[');
    for (size_t i = 0; i < map_total(&paint->looks); i++) {
        const struct look *look = (const struct look *)map_entry(&paint->looks, i)->value;

        json_open(json, '[');
        json_number(json, look->shape);
        json_number(json, look->y);
        json_number(json, look->height);
        add_colour(json, &programs, look->style, look->program);
        json_text(json, look->label);
        json_text(json, look->brief);
        json_text(json, look->tip);
        if (look->space != 0) {
            json_number(json, look->bottom);
            json_number(json, look->space);
            add_colour(json, &programs, STYLE_PROGRAM, look->program);
            add_colour(json, &programs, STYLE_KERNEL, look->program);
            add_colour(json, &programs, look->over, look->program);
        }
        json_close(json, ']');
    }
    json_close(json, ']');
    add_programs(&programs, json);
    map_close(&programs);
}

static void add_arrows(const struct view *view, const struct lanes *lanes, struct json *json)
{
    const struct lane_arrow *arrow = (const struct lane_arrow *)lanes->arrows.bytes;

    json_key_open(json, "arrows", '[');
    for (size_t i = 0; i < lane_count(&lanes->arrows, sizeof(*arrow)); i++, arrow++) {
        json_number(json, view_ns(view, arrow->begin));
        add_thread(json, arrow->from);
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
    char lock[2 + 16 + 1], tip[2 * PAINT_TEXT];

    json_key_open(json, "waits", '[');
    for (size_t i = 0; i < lane_count(&lanes->waits, sizeof(*wait)); i++, wait++) {
        *put_hex(lock, wait->lock, hex_lower) = '\0';
        paint_wait_tip(view, wait, tip);
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
        add_thread(json, wait->holder);
        json_key_text(json, "tip", tip);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_key_number(json, "waits_dropped", lanes->waits_dropped);
}

static void add_all(const struct view *view, const struct range *range, const struct lanes *lanes,
                    struct json *json)
{
    struct writer writer = {.painter = {.box = add_box, .run = add_run}, .view = view, .json = json};
    struct paint paint;

    json_key_number(json, "from", range->from);
    json_key_number(json, "to", range->to);
    json_key_number(json, "width", lanes->width);
    json_key_bool(json, "exact", lanes->is_exact);
    paint_open(&paint, view, lanes);
    add_lanes(&writer, &paint, true);
    add_lanes(&writer, &paint, false);
    add_looks(&paint, json);
    paint_close(&paint);
    add_arrows(view, lanes, json);
    add_waits(view, lanes, json);
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
    cpus = request_set(request, "cpus", lanes_cpu_count(view), true, &found);
    threads = request_set(request, "threads", index_thread_count(&view->index), false, &found);
    lanes_ask(&lanes, view, cpus, threads);
    ok = lanes_find(&lanes, view, fail);
    if (ok)
        add_all(view, &range, &lanes, json);
    lanes_free(&lanes);
    free(cpus);
    free(threads);
    return ok;
}
