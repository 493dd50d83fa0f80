/* SPDX-License-Identifier: BSD-2-Clause */
/* draw.c - the PNG as a whole; see draw.h. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/view/cover.h>
#include <tools/tarn/view/draw_parts.h>
#include <tools/tarn/view/puller.h>

#define LEFT       200.0
#define ARROWS_MAX 2000u

void draw_colour(const struct draw *draw, struct colour colour)
{
    cairo_set_source_rgb(draw->cairo, colour.red, colour.green, colour.blue);
}

static void fill_box(const struct draw *draw, double x, double y, double width, double height)
{
    double from = round(x), to = round(x + width), over = round(y), under = round(y + height);

    cairo_rectangle(draw->cairo, from, over, to > from ? to - from : 1, under > over ? under - over : 1);
    cairo_fill(draw->cairo);
}

void draw_box(const struct draw *draw, double x, double y, double width, double height, struct colour colour)
{
    draw_colour(draw, colour);
    fill_box(draw, x, y, width, height);
}

void draw_pattern(const struct draw *draw, double x, double y, double width, double height,
                  cairo_pattern_t *pattern)
{
    cairo_set_source(draw->cairo, pattern);
    fill_box(draw, x, y, width, height);
}

/* Diagonal stripes, recognizable without colours. */
static cairo_pattern_t *make_stripes(struct colour colour)
{
    cairo_surface_t *tile = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 8, 8);
    cairo_t *cairo = cairo_create(tile);
    cairo_pattern_t *pattern;

    cairo_set_source_rgb(cairo, colour.red, colour.green, colour.blue);
    cairo_set_line_width(cairo, 2.5);
    for (int x = -8; x <= 8; x += 8) {
        cairo_move_to(cairo, x - 2, 10);
        cairo_line_to(cairo, x + 10, -2);
    }
    cairo_stroke(cairo);
    cairo_destroy(cairo);
    pattern = cairo_pattern_create_for_surface(tile);
    cairo_pattern_set_extend(pattern, CAIRO_EXTEND_REPEAT);
    cairo_surface_destroy(tile);
    return pattern;
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
            part[i] = '?'; /* a trace may contain anything, but cairo needs UTF-8 */
    for (cairo_text_extents(draw->cairo, part, &extents); extents.x_advance > width && length > 2;
         cairo_text_extents(draw->cairo, part, &extents))
        part[--length] = '\0';
    if (extents.x_advance > width)
        return;
    cairo_move_to(draw->cairo, x, y);
    cairo_show_text(draw->cairo, part);
}

struct process_colours draw_process_colours(const struct draw *draw, uint32_t pid)
{
    char text[VIEW_NAME_BYTES];
    const char *name = view_process_name(draw->view, pid, text);

    return style_of_program(draw->theme.is_dark, name == text ? "unknown" : name);
}

/* ---- choice of lanes and marks --------------------------------------------------------------------- */

/* Asks for the lanes of the layout's threads. */
static void ask_for_lanes(struct draw *draw)
{
    bool *threads = alloc_zero(index_thread_count(&draw->view->index) + 1, sizeof(bool));
    bool *cpus = alloc_zero(draw->view->trace.stream_count + 1, sizeof(bool));

    memset(cpus, true, draw->view->trace.stream_count);
    for (size_t i = 0; i < layout_count(&draw->layout); i++)
        if (layout_row(&draw->layout, i)->kind == LAYOUT_OF_THREAD)
            threads[layout_row(&draw->layout, i)->number] = true;
    lanes_ask(&draw->lanes, draw->view, cpus, threads);
    free(threads);
    free(cpus);
}

static uint8_t depth_of(const struct lane *lane)
{
    const struct lane_box *box = (const struct lane_box *)lane->frames.bytes;
    uint32_t depth = 0;

    for (size_t i = 0; i < lane_count(&lane->frames, sizeof(*box)); i++)
        depth = box[i].what + 1 > depth ? box[i].what + 1 : depth;
    return (uint8_t)(depth < DRAW_DEPTH_MAX ? depth : DRAW_DEPTH_MAX);
}

static void place_rows(struct draw *draw)
{
    uint8_t *depths = alloc_zero(index_thread_count(&draw->view->index) + 1, 1);

    for (uint32_t i = 0; i < draw->lanes.thread_count; i++)
        depths[draw->lanes.threads[i].number] = depth_of(&draw->lanes.threads[i]);
    layout_place(&draw->layout, depths, (uint32_t)fmax(0, draw->bottom - draw_above(draw)));
    free(depths);
}

static bool choose_lanes(struct draw *draw, struct fail *fail)
{
    const struct trace *trace = &draw->view->trace;
    double space =
        draw->bottom - draw_above(draw) - (trace->stream_count + trace->missing_count) * LAYOUT_CPU;
    uint32_t most = space > 0 ? (uint32_t)(space / (LAYOUT_STRIP + 2 * DRAW_PADDING)) : 0;
    const struct layout_options options = {
        .from = draw->lanes.from,
        .to = draw->lanes.to,
        .tids = draw->options->tids,
        .chosen = LANES_NOBODY,
        .most = most < draw->options->threads ? most : (uint32_t)draw->options->threads,
        .only_ran = true,
        .padding = DRAW_PADDING,
    };

    if (!layout_open(&draw->layout, draw->view, &options, fail))
        return false;
    ask_for_lanes(draw);
    if (!lanes_find(&draw->lanes, draw->view, fail))
        return false;
    place_rows(draw);
    return true;
}

/* More types than colours could not be distinguished. */
static bool refuse_marks(const struct draw *draw, unsigned count, struct fail *fail)
{
    const struct schema *schema = &draw->view->trace.schema;
    char names[200] = "";
    size_t used = 0;

    for (unsigned i = 0; i < draw->mark_count && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "",
                                 schema->events[draw->marks[i].type]->name);
    return fail_set(
        fail, "--mark %.60s matches %u event types, but a picture can mark only %u; choose fewer of %s, ...",
        draw->options->marks, count, DRAW_MARKS_MAX, names);
}

static bool choose_marks(struct draw *draw, struct fail *fail)
{
    const struct schema *schema = &draw->view->trace.schema;
    unsigned count = 0;

    for (unsigned i = 0; draw->options->marks != NULL && i < schema->event_count; i++)
        if (list_matches(draw->options->marks, schema->events[i]->name) && count++ < DRAW_MARKS_MAX)
            draw->marks[draw->mark_count++].type = i;
    if (count > DRAW_MARKS_MAX)
        return refuse_marks(draw, count, fail);
    return draw->options->marks == NULL || draw->mark_count != 0 ||
           fail_set(fail, "the trace's schema has no event %.100s; `tarn stats` lists those in the trace",
                    draw->options->marks);
}

/* ---- the picture ----------------------------------------------------------------------------------- */

/* Returns the most specific end of the trace's path; for a source, the whole name. */
static const char *short_name(const char *name)
{
    size_t slashes = is_source(name) ? 2 : 0;

    for (const char *at = name + strlen(name); at > name && slashes < 2; at--)
        if (at[-1] == '/' && at[0] != '\0' && ++slashes == 2)
            return at;
    return name;
}

static void draw_title(struct draw *draw)
{
    const struct view *view = draw->view;
    double from = (double)view_ns(view, draw->lanes.from) * 1e-9,
           to = (double)view_ns(view, draw->lanes.to) * 1e-9;
    char text[200];

    draw_box(draw, 0, 0, draw->options->width, DRAW_TITLE, draw->theme.raised);
    cairo_select_font_face(draw->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    draw_colour(draw, draw->theme.text);
    draw_text(draw, 10, 20, LEFT - 20, 13, short_name(view_name(view)));
    cairo_select_font_face(draw->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    snprintf(text, sizeof(text), "%.9f s to %.9f s, %.4g %s, %llu events", from, to,
             (to - from) * (to - from < 0.9995e-3 ? 1e6
                            : to - from < 0.9995  ? 1e3
                                                  : 1),
             to - from < 0.9995e-3 ? "us"
             : to - from < 0.9995  ? "ms"
                                   : "s",
             (unsigned long long)index_events_in(&view->index, draw->lanes.from, draw->lanes.to));
    draw_text(draw, LEFT, 20, draw->right - LEFT, DRAW_TEXT + 1, text);
    draw->top = DRAW_TITLE;
}

static bool draw_all(struct draw *draw, struct fail *fail)
{
    static const enum style always[] = {STYLE_PROGRAM, STYLE_KERNEL, STYLE_INTERRUPT, STYLE_IDLE};
    double top;

    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
        draw->is_drawn[always[i]] = true;
    draw_box(draw, 0, 0, draw->options->width, draw->options->height, draw->theme.background);
    draw_title(draw);
    draw_axis(draw);
    top = draw->top;
    draw->top = draw_above(draw);
    draw_lanes(draw);
    draw_links(draw);
    draw->bottom = draw->top < draw->bottom ? draw->top : draw->bottom;
    draw_marks(draw, top, draw->bottom);
    draw_legend(draw);
    errno = 0;
    if (cairo_surface_write_to_png(cairo_get_target(draw->cairo), draw->options->file) !=
        CAIRO_STATUS_SUCCESS)
        return fail_set(fail, "cannot write %s: %s", draw->options->file,
                        errno != 0 ? strerror(errno) : "Cairo could not");
    return true;
}

static void open_picture(struct draw *draw)
{
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)draw->options->width, (int)draw->options->height);

    draw->cairo = cairo_create(surface);
    cairo_surface_destroy(surface); /* the drawing owns it */
    theme_load(&draw->theme, draw->options->is_dark);
    draw->ready = make_stripes(draw->theme.styles[STYLE_STATE + MODEL_READY]);
    draw->lost = make_stripes(draw->theme.styles[STYLE_LOST]);
}

static void close_picture(struct draw *draw)
{
    cairo_pattern_destroy(draw->ready);
    cairo_pattern_destroy(draw->lost);
    cairo_destroy(draw->cairo);
}

bool draw_png(const struct view *view, const struct draw_options *options, struct fail *fail)
{
    struct draw draw = {.view = view, .options = options, .left = LEFT, .right = options->width - 12.0};
    bool ok;

    draw.lanes.from = view_ticks(view, options->from);
    draw.lanes.to = view_ticks(view, options->to);
    draw.lanes.width = (uint32_t)(draw.right - draw.left);
    draw.lanes.arrow_max = ARROWS_MAX;
    if (draw.lanes.from >= draw.lanes.to)
        return fail_set(fail, "nothing in this range");
    if (!choose_marks(&draw, fail))
        return false;
    draw.legend = DRAW_LEGEND + DRAW_LEGEND_LINE * ceil(draw.mark_count * DRAW_LEGEND_MARK / options->width);
    draw.bottom = options->height - draw.legend;
    open_picture(&draw);
    ok = choose_lanes(&draw, fail) && draw_all(&draw, fail);
    for (uint32_t i = 0; i < draw.mark_count; i++)
        free(draw.marks[i].pixels);
    free(draw.tops);
    layout_close(&draw.layout);
    lanes_free(&draw.lanes);
    close_picture(&draw);
    return ok;
}
