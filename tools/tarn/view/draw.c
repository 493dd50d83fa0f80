/* draw.c - the picture as a whole: what is around the lanes; see draw.h. */
#include <cairo/cairo-svg.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/view/draw.h>

#define LEFT        200.0
#define TIME_BYTES  48u
#define LEGEND      64.0 /* without marks */
#define LEGEND_LINE 18.0
#define LEGEND_MARK 200.0 /* maximum width of a mark in its line */
#define MARK_LINES  60u   /* more marked events have no lines through the lanes, which would cover them */

/* Asks for the lanes of the layout's threads. */
static void ask_for_lanes(struct draw *draw)
{
    bool *threads = alloc_zero(index_thread_count(&draw->view->index) + 1, sizeof(bool));
    bool *marked = alloc_zero(draw->view->trace.schema.event_count + 1, sizeof(bool));
    BUFFER_EACH (const struct layout_row, row, &draw->layout.rows)
        if (row->kind == LAYOUT_OF_THREAD)
            threads[row->number] = true;
    for (uint32_t i = 0; i < draw->mark_count; i++)
        marked[draw->marks[i]] = true;
    lanes_ask(&draw->lanes, draw->view, NULL, threads, marked);
    free(threads);
    free(marked);
}

/* Rows that end below the bottom get no height. */
static void place_rows(struct draw *draw)
{
    uint32_t y = 0, bottom = (uint32_t)fmax(0, draw->bottom - draw_above(draw));
    BUFFER_EACH (const struct layout_row, row, &draw->layout.rows) {
        struct lane *lane = lane_of_row(draw, row);
        uint32_t height = LAYOUT_CPU;
        if (lane == NULL)
            continue;
        if (!lane->is_cpu)
            height = LAYOUT_STRIP + 2 * DRAW_PADDING +
                     LAYOUT_CALL * (lane->depth < DRAW_DEPTH_MAX ? lane->depth : DRAW_DEPTH_MAX);
        lane->y = y;
        lane->height = y + height <= bottom ? height : 0;
        y += lane->height;
    }
}

static bool choose_lanes(struct draw *draw, struct fail *fail)
{
    double space = draw->bottom - draw_above(draw) - lanes_cpu_count(draw->view) * LAYOUT_CPU;
    uint32_t most = space > 0 ? (uint32_t)(space / (LAYOUT_STRIP + 2 * DRAW_PADDING)) : 0;
    const struct layout_options options = {
        .from = draw->lanes.from,
        .to = draw->lanes.to,
        .tids = draw->options->tids,
        .chosen = LANES_NOBODY,
        .most = most < draw->options->threads ? most : (uint32_t)draw->options->threads,
    };
    if (!layout_open(&draw->layout, draw->view, &options, fail))
        return false;
    ask_for_lanes(draw);
    lanes_find(&draw->lanes, draw->view);
    paint_open(&draw->paint, draw->view, &draw->lanes);
    place_rows(draw);
    return true;
}

/* More types than colours could not be distinguished. */
static bool choose_marks(struct draw *draw, struct fail *fail)
{
    const struct schema *schema = &draw->view->trace.schema;
    unsigned count = 0;
    for (unsigned i = 0; draw->options->marks != NULL && i < schema->event_count; i++)
        if (list_matches(draw->options->marks, schema->events[i]->name) && count++ < STYLE_MARKS)
            draw->marks[draw->mark_count++] = i;
    if (count > STYLE_MARKS)
        return fail_set(
            fail, "--mark %.60s matches %u event types, a picture can mark only %u; choose fewer of them",
            draw->options->marks, count, STYLE_MARKS);
    return draw->options->marks == NULL || draw->mark_count != 0 ||
           fail_set(fail, "the trace's schema has no event %.100s; `tarn stats` lists those in the trace",
                    draw->options->marks);
}

/* 1, 2 or 5 times a power of ten, so that labels fit. */
static double nice_step(double range, double labels)
{
    double step = pow(10, floor(log10(range / labels)));
    for (int i = 0; i < 3 && range / step > labels; i++)
        step *= i == 1 ? 2.5 : 2;
    return step < 1 ? 1 : step;
}

static void format_time(double ns, double step, char text[TIME_BYTES])
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    int unit = 0, decimals = 0;

    while (unit < 3 && step * 1000 < units[unit].unit && ns < 1000 * units[unit + 1].unit)
        unit++;
    for (double left = step / units[unit].unit; left < 0.9999 && decimals < 9; left *= 10)
        decimals++;
    snprintf(text, TIME_BYTES, "%.*f %s", decimals, ns / units[unit].unit, units[unit].name);
}

static void draw_axis(struct draw *draw)
{
    double from = (double)view_ns(draw->view, draw->lanes.from),
           to = (double)view_ns(draw->view, draw->lanes.to);
    double step = nice_step(to - from, (draw->right - draw->left) / 110), bottom = draw->bottom;
    char text[TIME_BYTES];
    for (double at = ceil(from / step) * step; at < to; at += step) {
        double x = draw->left + (at - from) * (draw->right - draw->left) / (to - from);
        draw_box(draw, x, draw->top + DRAW_AXIS_HEIGHT - 8, 1, bottom - draw->top - DRAW_AXIS_HEIGHT,
                 STYLE_LINE, NULL);
        format_time(at, step, text);
        draw_text(draw, x + 4, draw->top + 14, 120, DRAW_TEXT, STYLE_QUIET, text);
    }
    draw->top += DRAW_AXIS_HEIGHT;
}

static const char *mark_name(const struct draw *draw, uint32_t number)
{
    return draw->view->trace.schema.events[draw->marks[number]]->name;
}

static uint64_t mark_count(const struct draw *draw, uint32_t number)
{
    return draw->layout.tally.events[draw->marks[number]];
}

static void draw_marks(struct draw *draw, double top, double bottom)
{
    double pixel = (draw->right - draw->left) / draw->lanes.width;
    for (uint32_t i = 0; i < draw->mark_count; i++) {
        double y = top + i * LAYOUT_MARK;
        draw_box(draw, 0, y, draw->options->width, LAYOUT_MARK, STYLE_RAISED, NULL);
        draw_box(draw, 0, y + LAYOUT_MARK - 1, draw->options->width, 1, STYLE_LINE, NULL);
        draw_text(draw, 10, y + LAYOUT_MARK - 4, draw->left - 16, DRAW_TEXT, STYLE_TEXT, mark_name(draw, i));
        draw_mark(draw, i, y);
        for (uint32_t at = 0; at < draw->lanes.width && mark_count(draw, i) <= MARK_LINES; at++)
            if (draw->lanes.counts[draw->marks[i]][at] > 0)
                draw_box(draw, draw->left + at * pixel, y + 2, 1, bottom - y - 2, STYLE_MARK + i, NULL);
    }
}

/* Adds an entry at AT: a sample of the style, and its text. Moves AT on. */
static void add_entry(const struct draw *draw, double at[2], enum style style, const char *shape,
                      const char *text)
{
    double space = draw_text_width(draw, DRAW_TEXT, text), height = *shape == 'l' ? 2 : 11;
    if (at[0] + 24 + space > draw->right) {
        at[0] = 10;
        at[1] += LEGEND_LINE;
    }
    draw_text(draw, at[0] + 20, at[1] + 10, 400, DRAW_TEXT, STYLE_TEXT, text);
    if (*shape == 's')
        draw_stripes(draw, at[0], at[1], 15, 11, style);
    else
        draw_box(draw, at[0], at[1] + (11 - height) / 2, 15, height, style, "fs" /* for example */);
    at[0] += 20 + space + 14;
}

static void draw_legend(struct draw *draw)
{
    double at[2] = {10, draw->options->height - draw->legend + 8};
    char text[160];
    draw_box(draw, 0, at[1] - 6, draw->options->width, draw->options->height - at[1] + 6, STYLE_RAISED, NULL);
    for (uint32_t i = 0; i < draw->mark_count; i++) {
        snprintf(text, sizeof(text), "%s: %llu", mark_name(draw, i), (unsigned long long)mark_count(draw, i));
        add_entry(draw, at, STYLE_MARK + i, "box", text);
    }
    for (enum style style = 0; style < STYLES; style++)
        if (draw->is_drawn[style] && styles[style].shape != NULL)
            add_entry(draw, at, style, styles[style].shape, styles[style].text);
}

static void draw_title(struct draw *draw)
{
    const struct view *view = draw->view;
    double from = (double)view_ns(view, draw->lanes.from), to = (double)view_ns(view, draw->lanes.to);
    char text[200], length[TIME_BYTES];
    draw_box(draw, 0, 0, draw->options->width, DRAW_TITLE, STYLE_RAISED, NULL);
    cairo_select_font_face(draw->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    draw_text(draw, 10, 20, LEFT - 20, 13, STYLE_TEXT, view_title(view));
    cairo_select_font_face(draw->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    format_time(to - from, (to - from) / 1000, length);
    snprintf(text, sizeof(text), "%.9f s to %.9f s, %s, %llu events", from * 1e-9, to * 1e-9, length,
             (unsigned long long)index_events_in(&view->index, draw->lanes.from, draw->lanes.to));
    draw_text(draw, LEFT, 20, draw->right - LEFT, DRAW_TEXT + 1, STYLE_TEXT, text);
    draw->top = DRAW_TITLE;
}

static bool is_svg(const struct draw_options *options)
{
    size_t length = strlen(options->file);
    return length > 4 && strcmp(options->file + length - 4, ".svg") == 0;
}

static bool write_picture(const struct draw *draw, struct fail *fail)
{
    cairo_surface_t *surface = cairo_get_target(draw->cairo);
    cairo_status_t status;
    errno = 0;
    if (!is_svg(draw->options)) {
        status = cairo_surface_write_to_png(surface, draw->options->file);
    } else {
        cairo_surface_finish(surface);
        status = cairo_surface_status(surface);
    }
    return status == CAIRO_STATUS_SUCCESS || fail_set(fail, "cannot write %s: %s", draw->options->file,
                                                      errno != 0 ? strerror(errno) : "Cairo could not");
}

static bool draw_all(struct draw *draw, struct fail *fail)
{
    static const enum style always[] = {STYLE_PROGRAM, STYLE_KERNEL, STYLE_INTERRUPT, STYLE_IDLE};
    double top;
    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
        draw->is_drawn[always[i]] = true;
    draw_box(draw, 0, 0, draw->options->width, draw->options->height, STYLE_BACKGROUND, NULL);
    draw_title(draw);
    draw_axis(draw);
    top = draw->top;
    draw->top = draw_above(draw);
    draw_lanes(draw);
    draw_links(draw);
    draw->bottom = draw->top < draw->bottom ? draw->top : draw->bottom;
    draw_marks(draw, top, draw->bottom);
    draw_legend(draw);
    return write_picture(draw, fail);
}

static void open_picture(struct draw *draw)
{
    const struct draw_options *options = draw->options;
    cairo_surface_t *surface =
        is_svg(options)
            ? cairo_svg_surface_create(options->file, options->width, options->height)
            : cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)options->width, (int)options->height);
    draw->cairo = cairo_create(surface);
    cairo_surface_destroy(surface); /* the drawing owns it */
    draw->ready = draw_make_stripes(style_colour(options->is_dark, STYLE_STATE + MODEL_READY, NULL));
    draw->lost = draw_make_stripes(style_colour(options->is_dark, STYLE_LOST, NULL));
}

static void close_picture(struct draw *draw)
{
    cairo_pattern_destroy(draw->ready);
    cairo_pattern_destroy(draw->lost);
    cairo_destroy(draw->cairo);
}

bool draw_picture(const struct view *view, const struct draw_options *options, struct fail *fail)
{
    struct draw draw = {.view = view, .options = options, .left = LEFT, .right = options->width - 12.0};
    bool ok;
    draw.lanes = (struct lanes){.from = view_ticks(view, options->from),
                                .to = view_ticks(view, options->to),
                                .width = (uint32_t)(draw.right - draw.left)};
    ok = (draw.lanes.from < draw.lanes.to || fail_set(fail, "nothing in this range")) &&
         choose_marks(&draw, fail);
    draw.legend = LEGEND + LEGEND_LINE * ceil(draw.mark_count * LEGEND_MARK / options->width);
    draw.bottom = options->height - draw.legend;
    if (ok) {
        open_picture(&draw);
        ok = choose_lanes(&draw, fail) && draw_all(&draw, fail);
        close_picture(&draw);
    }
    paint_close(&draw.paint);
    layout_close(&draw.layout);
    lanes_free(&draw.lanes);
    return ok;
}
