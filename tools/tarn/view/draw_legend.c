/* SPDX-License-Identifier: BSD-2-Clause */
/* draw_legend.c - time axis, marked events, legend of the PNG; see draw.h. */
#include <math.h>
#include <stdio.h>
#include <tools/tarn/view/draw_parts.h>
#include <tools/tarn/view/index_walk.h>

/* ---- time ------------------------------------------------------------------------------------------ */

/* 1, 2 or 5 times a power of ten, so that labels fit. */
static double nice_step(double range, double labels)
{
    double step = pow(10, floor(log10(range / labels)));

    for (int i = 0; i < 3 && range / step > labels; i++)
        step *= i == 1 ? 2.5 : 2;
    return step < 1 ? 1 : step;
}

static void format_time(double ns, double step, char text[48])
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
    snprintf(text, 48, "%.*f %s", decimals, ns / units[unit].unit, units[unit].name);
}

void draw_axis(struct draw *draw)
{
    double from = (double)view_ns(draw->view, draw->lanes.from),
           to = (double)view_ns(draw->view, draw->lanes.to);
    double step = nice_step(to - from, (draw->right - draw->left) / 110), bottom = draw->bottom;
    char text[48];

    for (double at = ceil(from / step) * step; at < to; at += step) {
        double x = draw->left + (at - from) * (draw->right - draw->left) / (to - from);

        draw_box(draw, x, draw->top + DRAW_AXIS_HEIGHT - 8, 1, bottom - draw->top - DRAW_AXIS_HEIGHT,
                 draw->theme.line);
        draw_colour(draw, draw->theme.quiet);
        format_time(at, step, text);
        draw_text(draw, x + 4, draw->top + 14, 120, DRAW_TEXT, text);
    }
    draw->top += DRAW_AXIS_HEIGHT;
}

/* ---- marked events --------------------------------------------------------------------------------- */

static void draw_mark_at(const struct draw *draw, uint64_t ticks, double bottom, struct colour colour)
{
    double x = draw_x(draw, ticks);

    draw_box(draw, x, draw->top - 2, 1, bottom - draw->top + 2, colour);
    draw_colour(draw, colour);
    cairo_move_to(draw->cairo, x - 3.5, draw->top - 7);
    cairo_line_to(draw->cairo, x + 4.5, draw->top - 7);
    cairo_line_to(draw->cairo, x + 0.5, draw->top - 1);
    cairo_fill(draw->cairo);
}

/* At most one per pixel and type. */
void draw_marks(struct draw *draw, double bottom)
{
    double pixel = (double)(draw->lanes.to - draw->lanes.from) / draw->lanes.width;
    uint64_t last[DRAW_MARKS_MAX] = {0};
    struct walk walk;
    struct cursor *cursor;

    if (draw->mark_count == 0)
        return;
    walk_open(&walk, &draw->view->trace, &draw->view->index,
              index_find_time(&draw->view->index, draw->lanes.from));
    while ((cursor = walk_next(&walk)) != NULL && cursor->ticks < draw->lanes.to)
        for (uint32_t i = 0; i < draw->mark_count; i++) {
            if (cursor->event.type->index != draw->marks[i].type || cursor->ticks < draw->lanes.from)
                continue;
            if (draw->marks[i].count++ == 0 || (double)(cursor->ticks - last[i]) > pixel) {
                draw_mark_at(draw, cursor->ticks, bottom, draw->theme.marks[i]);
                last[i] = cursor->ticks;
            }
        }
    walk_close(&walk);
}

/* ---- legend ---------------------------------------------------------------------------------------- */

struct place {
    double x, y;
};

/* Makes space for an entry: a sample of 14 pixels, and its text. */
static void add_text(struct draw *draw, struct place *at, const char *text)
{
    cairo_text_extents_t extents;

    cairo_set_font_size(draw->cairo, DRAW_TEXT);
    cairo_text_extents(draw->cairo, text, &extents);
    if (at->x + 24 + extents.x_advance > draw->right) {
        at->x = 10;
        at->y += DRAW_LEGEND_LINE;
    }
    draw_colour(draw, draw->theme.text);
    draw_text(draw, at->x + 20, at->y + 10, 400, DRAW_TEXT, text);
    at->x += 20 + extents.x_advance + 14;
}

/* Returns the position of the sample of the entry just added. */
static double sample_x(const struct draw *draw, const struct place *at, const char *text)
{
    cairo_text_extents_t extents;

    cairo_text_extents(draw->cairo, text, &extents);
    return at->x - 14 - extents.x_advance - 20;
}

/* HEIGHT of the sample, at most 11. */
static void add_entry(struct draw *draw, struct place *at, struct colour colour, double height,
                      const char *text)
{
    add_text(draw, at, text);
    draw_box(draw, sample_x(draw, at, text), at->y + (11 - height) / 2, 15, height, colour);
}

static void add_stripes(struct draw *draw, struct place *at, cairo_pattern_t *pattern, const char *text)
{
    add_text(draw, at, text);
    draw_pattern(draw, sample_x(draw, at, text), at->y, 15, 11, pattern);
}

static void add_style(struct draw *draw, struct place *at, enum style style)
{
    struct process_colours some = style_of_program(draw->theme.is_dark, "fs");
    const struct style_entry *entry = &styles[style];

    if (*entry->shape == 's')
        add_stripes(draw, at, style == STYLE_LOST ? draw->lost : draw->ready, entry->text);
    else if (*entry->shape != '\0')
        add_entry(draw, at,
                  style == STYLE_PROGRAM  ? some.user
                  : style == STYLE_KERNEL ? some.kernel
                                          : draw->theme.styles[style],
                  *entry->shape == 'b' ? 11 : 2, entry->text);
}

void draw_legend(struct draw *draw)
{
    struct place at = {10, draw->options->height - draw->legend + 8};
    char text[160];

    draw_box(draw, 0, at.y - 6, draw->options->width, draw->options->height - at.y + 6, draw->theme.raised);
    for (uint32_t i = 0; i < draw->mark_count; i++) {
        snprintf(text, sizeof(text), "%s: %llu", draw->view->trace.schema.events[draw->marks[i].type]->name,
                 (unsigned long long)draw->marks[i].count);
        add_entry(draw, &at, draw->theme.marks[i], 11, text);
    }
    for (enum style style = 0; style < STYLES; style++)
        if (draw->is_drawn[style])
            add_style(draw, &at, style);
}
