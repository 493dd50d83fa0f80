/* SPDX-License-Identifier: BSD-2-Clause */
/* draw.c - the picture as a whole; see draw.h. */
#include <cairo/cairo-svg.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/print/print_value.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/view/cover.h>
#include <tools/tarn/view/draw_parts.h>

#define LEFT            200.0
#define ARROWS_MAX      2000u
#define DRAW_TEXT_BYTES 160u

static void set_colour(cairo_t *cairo, uint32_t colour, double alpha)
{
    cairo_set_source_rgba(cairo, (colour >> 16) / 255.0, (colour >> 8 & 255) / 255.0, (colour & 255) / 255.0,
                          alpha);
}

void draw_colour(const struct draw *draw, enum style style, double alpha)
{
    set_colour(draw->cairo, style_colour(draw->options->is_dark, style, NULL), alpha);
}

static void fill_box(const struct draw *draw, double x, double y, double width, double height)
{
    double from = round(x), to = round(x + width), over = round(y), under = round(y + height);

    cairo_rectangle(draw->cairo, from, over, to > from ? to - from : 1, under > over ? under - over : 1);
    cairo_fill(draw->cairo);
}

void draw_box(const struct draw *draw, double x, double y, double width, double height, enum style style,
              const char *program)
{
    set_colour(draw->cairo, style_colour(draw->options->is_dark, style, program), 1);
    fill_box(draw, x, y, width, height);
}

void draw_stripes(const struct draw *draw, double x, double y, double width, double height, enum style style)
{
    cairo_set_source(draw->cairo, style == STYLE_LOST ? draw->lost : draw->ready);
    fill_box(draw, x, y, width, height);
}

/* Diagonal stripes, recognizable without colours. */
static cairo_pattern_t *make_stripes(uint32_t colour)
{
    cairo_surface_t *tile = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 8, 8);
    cairo_t *cairo = cairo_create(tile);
    cairo_pattern_t *pattern;

    set_colour(cairo, colour, 1);
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

/* Copies text. A trace may contain anything, but cairo needs UTF-8. */
static size_t copy_text(const char *text, char part[DRAW_TEXT_BYTES])
{
    size_t length = 0, left = strlen(text);

    for (unsigned run; left > 0 && length + 4 < DRAW_TEXT_BYTES; text += run, left -= run) {
        unsigned char c = (unsigned char)*text;

        run = c < 0x80 ? 1 : utf8_length((const unsigned char *)text, left);
        if (run == 0 || c < ' ' || c == 0x7f) {
            part[length++] = '?';
            run = 1;
            continue;
        }
        memcpy(part + length, text, run);
        length += run;
    }
    part[length] = '\0';
    return length;
}

double draw_text_width(const struct draw *draw, double size, const char *text)
{
    cairo_text_extents_t extents;
    char part[DRAW_TEXT_BYTES];

    copy_text(text, part);
    cairo_set_font_size(draw->cairo, size);
    cairo_text_extents(draw->cairo, part, &extents);
    return extents.x_advance;
}

void draw_text(const struct draw *draw, double x, double y, double width, double size, enum style style,
               const char *text)
{
    char part[DRAW_TEXT_BYTES];
    size_t length = copy_text(text, part);
    double space;

    while ((space = draw_text_width(draw, size, part)) > width && length > 2) {
        while (length > 1 && (part[length - 1] & 0xc0) == 0x80)
            length--;
        part[--length] = '\0';
    }
    if (space > width)
        return;
    draw_colour(draw, style, 1);
    cairo_move_to(draw->cairo, x, y);
    cairo_show_text(draw->cairo, part);
}

/* ---- choice of lanes and marks --------------------------------------------------------------------- */

/* Asks for the lanes of the layout's threads. */
static void ask_for_lanes(struct draw *draw)
{
    bool *threads = alloc_zero(index_thread_count(&draw->view->index) + 1, sizeof(bool));

    for (size_t i = 0; i < layout_count(&draw->layout); i++)
        if (layout_row(&draw->layout, i)->kind == LAYOUT_OF_THREAD)
            threads[layout_row(&draw->layout, i)->number] = true;
    lanes_ask(&draw->lanes, draw->view, NULL, threads);
    free(threads);
}

/* Rows that end below the bottom get no height. */
static void place_rows(struct draw *draw)
{
    const struct lanes *lanes = &draw->lanes;
    uint32_t y = 0, bottom = (uint32_t)fmax(0, draw->bottom - draw_above(draw));

    draw->places = lanes_places(lanes, index_thread_count(&draw->view->index));
    for (size_t i = 0; i < layout_count(&draw->layout); i++) {
        struct layout_row *row = layout_row(&draw->layout, i);
        uint32_t height = LAYOUT_CPU, place, depth;

        if (row->kind == LAYOUT_OF_THREAD) {
            place = draw->places[row->number];
            depth = place < lanes->thread_count ? lanes->threads[place].depth : 0;
            height = LAYOUT_STRIP + 2 * DRAW_PADDING +
                     LAYOUT_CALL * (depth < DRAW_DEPTH_MAX ? depth : DRAW_DEPTH_MAX);
        }
        row->y = y;
        row->height = y + height <= bottom ? height : 0;
        y += row->height;
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
        .only_ran = true,
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
static bool choose_marks(struct draw *draw, bool *marked, struct fail *fail)
{
    const struct schema *schema = &draw->view->trace.schema;
    unsigned count = 0;

    for (unsigned i = 0; draw->options->marks != NULL && i < schema->event_count; i++)
        if (list_matches(draw->options->marks, schema->events[i]->name) && count++ < STYLE_MARKS) {
            draw->marks[draw->mark_count++] = i;
            marked[i] = true;
        }
    if (count > STYLE_MARKS)
        return fail_set(
            fail, "--mark %.60s matches %u event types, a picture can mark only %u; choose fewer of them",
            draw->options->marks, count, STYLE_MARKS);
    return draw->options->marks == NULL || draw->mark_count != 0 ||
           fail_set(fail, "the trace's schema has no event %.100s; `tarn stats` lists those in the trace",
                    draw->options->marks);
}

/* ---- the picture ----------------------------------------------------------------------------------- */

static void draw_title(struct draw *draw)
{
    const struct view *view = draw->view;
    double from = (double)view_ns(view, draw->lanes.from), to = (double)view_ns(view, draw->lanes.to);
    char text[200], length[DRAW_TIME_BYTES];

    draw_box(draw, 0, 0, draw->options->width, DRAW_TITLE, STYLE_RAISED, NULL);
    cairo_select_font_face(draw->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    draw_text(draw, 10, 20, LEFT - 20, 13, STYLE_TEXT, view_title(view));
    cairo_select_font_face(draw->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    draw_format_time(to - from, (to - from) / 1000, length);
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
    draw->ready = make_stripes(style_colour(options->is_dark, STYLE_STATE + MODEL_READY, NULL));
    draw->lost = make_stripes(style_colour(options->is_dark, STYLE_LOST, NULL));
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
    bool *marked = alloc_zero(view->trace.schema.event_count + 1, sizeof(bool)), ok;

    draw.lanes = (struct lanes){.from = view_ticks(view, options->from),
                                .to = view_ticks(view, options->to),
                                .width = (uint32_t)(draw.right - draw.left),
                                .arrow_max = ARROWS_MAX,
                                .marked = marked};
    ok = (draw.lanes.from < draw.lanes.to || fail_set(fail, "nothing in this range")) &&
         choose_marks(&draw, marked, fail);
    draw.legend = DRAW_LEGEND + DRAW_LEGEND_LINE * ceil(draw.mark_count * DRAW_LEGEND_MARK / options->width);
    draw.bottom = options->height - draw.legend;
    if (ok) {
        open_picture(&draw);
        ok = choose_lanes(&draw, fail) && draw_all(&draw, fail);
        close_picture(&draw);
    }
    paint_close(&draw.paint);
    free(draw.places);
    free(marked);
    layout_close(&draw.layout);
    lanes_free(&draw.lanes);
    return ok;
}
