/* SPDX-License-Identifier: BSD-2-Clause */
/* draw_legend.c - time axis, marked events, legend of the PNG; see draw.h. */
#include <math.h>
#include <stdio.h>
#include <tools/tarn/view/draw_parts.h>

#define MARK_LINES 60u /* more marked events have no lines through the lanes, which would cover them */

/* ---- time ------------------------------------------------------------------------------------------ */

/* 1, 2 or 5 times a power of ten, so that labels fit. */
static double nice_step(double range, double labels)
{
    double step = pow(10, floor(log10(range / labels)));

    for (int i = 0; i < 3 && range / step > labels; i++)
        step *= i == 1 ? 2.5 : 2;
    return step < 1 ? 1 : step;
}

void draw_format_time(double ns, double step, char text[DRAW_TIME_BYTES])
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
    snprintf(text, DRAW_TIME_BYTES, "%.*f %s", decimals, ns / units[unit].unit, units[unit].name);
}

void draw_axis(struct draw *draw)
{
    double from = (double)view_ns(draw->view, draw->lanes.from),
           to = (double)view_ns(draw->view, draw->lanes.to);
    double step = nice_step(to - from, (draw->right - draw->left) / 110), bottom = draw->bottom;
    char text[DRAW_TIME_BYTES];

    for (double at = ceil(from / step) * step; at < to; at += step) {
        double x = draw->left + (at - from) * (draw->right - draw->left) / (to - from);

        draw_box(draw, x, draw->top + DRAW_AXIS_HEIGHT - 8, 1, bottom - draw->top - DRAW_AXIS_HEIGHT,
                 STYLE_LINE, NULL);
        draw_format_time(at, step, text);
        draw_text(draw, x + 4, draw->top + 14, 120, DRAW_TEXT, STYLE_QUIET, text);
    }
    draw->top += DRAW_AXIS_HEIGHT;
}

/* ---- marked events --------------------------------------------------------------------------------- */

static const char *mark_name(const struct draw *draw, uint32_t number)
{
    return draw->view->trace.schema.events[draw->marks[number]]->name;
}

static uint64_t mark_count(const struct draw *draw, uint32_t number)
{
    return draw->layout.tally.events[draw->marks[number]];
}

void draw_marks(struct draw *draw, double top, double bottom)
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

/* ---- legend ---------------------------------------------------------------------------------------- */

/* Adds an entry at AT: a sample of the style, and its text. Moves AT on. */
static void add_entry(const struct draw *draw, double at[2], enum style style, const char *shape,
                      const char *text)
{
    double space = draw_text_width(draw, DRAW_TEXT, text), height = *shape == 'l' ? 2 : 11;

    if (at[0] + 24 + space > draw->right) {
        at[0] = 10;
        at[1] += DRAW_LEGEND_LINE;
    }
    draw_text(draw, at[0] + 20, at[1] + 10, 400, DRAW_TEXT, STYLE_TEXT, text);
    if (*shape == 's')
        draw_stripes(draw, at[0], at[1], 15, 11, style);
    else
        draw_box(draw, at[0], at[1] + (11 - height) / 2, 15, height, style, "fs" /* for example */);
    at[0] += 20 + space + 14;
}

void draw_legend(struct draw *draw)
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
