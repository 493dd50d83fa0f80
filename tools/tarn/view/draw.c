/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/view/draw.c - the PNG as a whole: which threads, where everything goes; see draw.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/view/cover.h>
#include <tools/tarn/view/draw_parts.h>

#define LEFT       170.0
#define TITLE      30.0
#define LEGEND     66.0
#define FRAME_ROWS 3u

void draw_colour(const struct draw *draw, struct colour colour)
{
    cairo_set_source_rgb(draw->cairo, colour.red, colour.green, colour.blue);
}

/* At least a hair wide, or what is short would not be seen. */
void draw_box(const struct draw *draw, double x, double y, double width, double height, struct colour colour)
{
    draw_colour(draw, colour);
    cairo_rectangle(draw->cairo, x, y, width < 0.7 ? 0.7 : width, height);
    cairo_fill(draw->cairo);
}

void draw_text(const struct draw *draw, double x, double y, double width, double size, const char *text)
{
    cairo_text_extents_t extents;
    char part[128];
    size_t length = (size_t)snprintf(part, sizeof(part), "%s", text);

    if (length >= sizeof(part))
        length = sizeof(part) - 1;
    cairo_set_font_size(draw->cairo, size);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)part[i] < 0x20 || (unsigned char)part[i] >= 0x7f)
            part[i] = '?'; /* a trace may hold anything; cairo wants UTF-8 */
    for (cairo_text_extents(draw->cairo, part, &extents); extents.x_advance > width && length > 2;
         cairo_text_extents(draw->cairo, part, &extents))
        part[--length] = '\0';
    if (extents.x_advance > width)
        return;
    cairo_move_to(draw->cairo, x, y);
    cairo_show_text(draw->cairo, part);
}

struct colour draw_shade(struct colour colour, double share, struct colour other)
{
    return (struct colour){colour.red * share + other.red * (1 - share),
                           colour.green * share + other.green * (1 - share),
                           colour.blue * share + other.blue * (1 - share)};
}

/* Hues as far apart as can be, whatever the numbers. */
struct colour draw_process_colour(const struct draw *draw, uint32_t pid)
{
    double hue = fmod(pid * 0.618033988749895 + 0.56, 1.0) * 6, value = draw->options->is_dark ? 0.80 : 0.72;
    double low = value * 0.42, middle = low + (value - low) * (1 - fabs(fmod(hue, 2) - 1));
    const double parts[6][3] = {{value, middle, low}, {middle, value, low}, {low, value, middle},
                                {low, middle, value}, {middle, low, value}, {value, low, middle}};
    const double *part = parts[(int)hue % 6];

    if (pid == 0 || pid == MODEL_NOBODY)
        return draw->theme->faint;
    return (struct colour){part[0], part[1], part[2]};
}

/* ---- what is shown ------------------------------------------------------------------------------- */

struct busy {
    uint32_t number;
    uint64_t ran;
};

static int by_time(const void *left, const void *right)
{
    const struct busy *a = left, *b = right;

    return a->ran != b->ran ? (a->ran > b->ran ? -1 : 1) : a->number < b->number ? -1 : 1;
}

static bool choose_busiest(const struct draw *draw, uint32_t most, bool *threads, struct fail *fail)
{
    const struct view *view = draw->view;
    struct tally tally;
    struct busy *busy;
    uint32_t count = 0;
    bool fine;

    tally_open(&tally, &view->trace);
    fine = cover_sum(&view->index, &view->trace, draw->lanes.from, draw->lanes.to, &tally, fail);
    busy = alloc_zero(tally.touched_count + 1, sizeof(*busy));
    for (uint32_t i = 0; i < tally.touched_count; i++) {
        uint32_t number = tally.touched[i];
        const uint64_t *ticks = tally.threads[number].ticks;

        if (number < index_thread_count(&view->index) && !index_thread(&view->index, number)->is_idle)
            busy[count++] =
                (struct busy){number, ticks[NODE_USER] + ticks[NODE_KERNEL] + ticks[NODE_INTERRUPT]};
    }
    qsort(busy, count, sizeof(*busy), by_time);
    for (uint32_t i = 0; i < count && i < most; i++)
        threads[busy[i].number] = busy[i].ran > 0;
    free(busy);
    tally_close(&tally);
    return fine;
}

static void choose_by_tid(const struct draw *draw, bool *threads)
{
    for (uint32_t i = 0; i < index_thread_count(&draw->view->index); i++)
        threads[i] = list_has(draw->options->tids, index_thread(&draw->view->index, i)->tid);
}

static bool choose_lanes(struct draw *draw, struct fail *fail)
{
    const struct view *view = draw->view;
    bool *threads = alloc_zero(index_thread_count(&view->index) + 1, sizeof(bool));
    bool *cpus = alloc_zero(view->trace.stream_count + 1, sizeof(bool)), fine = true;
    double used =
        TITLE + DRAW_AXIS_HEIGHT + view->trace.stream_count * (DRAW_CPU_HEIGHT + DRAW_GAP) + DRAW_GAP;
    double left = draw->options->height - LEGEND - used;
    uint32_t room = left > 0 ? (uint32_t)(left / (draw_thread_height(draw) + DRAW_GAP)) : 0;

    memset(cpus, true, view->trace.stream_count);
    if (draw->options->tids != NULL)
        choose_by_tid(draw, threads);
    else
        fine = choose_busiest(draw, room < draw->options->threads ? room : draw->options->threads, threads,
                              fail);
    lanes_ask(&draw->lanes, view, cpus, threads);
    if (draw->lanes.thread_count > room)
        draw->lanes.thread_count = room;
    free(threads);
    free(cpus);
    return fine;
}

static void choose_marks(struct draw *draw)
{
    const struct schema *schema = &draw->view->trace.schema;

    for (unsigned i = 0; draw->options->marks != NULL && i < schema->event_count; i++)
        if (draw->mark_count < DRAW_MARKS_MAX && list_matches(draw->options->marks, schema->events[i]->name))
            draw->marks[draw->mark_count++].type = i;
}

/* ---- the picture --------------------------------------------------------------------------------- */

static void draw_title(struct draw *draw)
{
    const struct view *view = draw->view;
    double from = (double)view_ns(view, draw->lanes.from) * 1e-9,
           to = (double)view_ns(view, draw->lanes.to) * 1e-9;
    char text[200];

    cairo_select_font_face(draw->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    draw_colour(draw, draw->theme->text);
    draw_text(draw, 10, 20, LEFT + 250, 13, view->trace.directory);
    cairo_select_font_face(draw->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    snprintf(text, sizeof(text), "%.9g s to %.9g s", from, to);
    draw_colour(draw, draw->theme->faint);
    draw_text(draw, LEFT + 300, 20, draw->right - LEFT - 300, DRAW_TEXT, text);
    draw->top = TITLE;
}

static bool draw_all(struct draw *draw, struct fail *fail)
{
    double top, bottom;

    draw_box(draw, 0, 0, draw->options->width, draw->options->height, draw->theme->back);
    draw_title(draw);
    draw_axis(draw);
    top = draw->top;
    draw_lanes(draw);
    bottom = draw->top;
    draw->top = top;
    draw_marks(draw, bottom);
    draw_legend(draw);
    if (cairo_surface_write_to_png(cairo_get_target(draw->cairo), draw->options->file) !=
        CAIRO_STATUS_SUCCESS)
        return fail_set(fail, "%s cannot be written", draw->options->file);
    return true;
}

bool draw_png(const struct view *view, const struct draw_options *options, struct fail *fail)
{
    struct draw draw = {.view = view,
                        .options = options,
                        .theme = options->is_dark ? &theme_dark : &theme_light,
                        .left = LEFT,
                        .right = options->width - 12.0};
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)options->width, (int)options->height);
    bool fine;

    draw.cairo = cairo_create(surface);
    draw.lanes.from = view_ticks(view, options->from);
    draw.lanes.to = view_ticks(view, options->to);
    draw.lanes.width = (uint32_t)(draw.right - draw.left);
    draw.frame_rows =
        index_events_in(&view->index, draw.lanes.from, draw.lanes.to) <= LANES_EXACT ? FRAME_ROWS : 0;
    choose_marks(&draw);
    fine = draw.lanes.from < draw.lanes.to || fail_set(fail, "there is nothing in this range");
    fine = fine && choose_lanes(&draw, fail) && lanes_find(&draw.lanes, view, fail) && draw_all(&draw, fail);
    lanes_free(&draw.lanes);
    cairo_destroy(draw.cairo);
    cairo_surface_destroy(surface);
    return fine;
}
