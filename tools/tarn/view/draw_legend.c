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
                 STYLE_LINE, NULL);
        format_time(at, step, text);
        draw_text(draw, x + 4, draw->top + 14, 120, DRAW_TEXT, STYLE_QUIET, text);
    }
    draw->top += DRAW_AXIS_HEIGHT;
}

/* ---- marked events --------------------------------------------------------------------------------- */

static void count_marks(struct draw *draw)
{
    double pixel = (double)(draw->lanes.to - draw->lanes.from) / draw->lanes.width;
    struct walk walk;
    struct cursor *cursor;

    for (uint32_t i = 0; i < draw->mark_count; i++)
        draw->marks[i].pixels = alloc_zero(draw->lanes.width + 1, sizeof(uint32_t));
    walk_open(&walk, &draw->view->trace, &draw->view->index,
              index_find_time(&draw->view->index, draw->lanes.from));
    while ((cursor = walk_next(&walk)) != NULL && cursor->ticks < draw->lanes.to)
        for (uint32_t i = 0; i < draw->mark_count; i++) {
            struct draw_mark *mark = &draw->marks[i];

            if (cursor->event.type->index != mark->type || cursor->ticks < draw->lanes.from)
                continue;
            if (mark->count < DRAW_MARK_LINES)
                mark->times[mark->count] = cursor->ticks;
            mark->count++;
            mark->pixels[(uint32_t)((double)(cursor->ticks - draw->lanes.from) / pixel)]++;
        }
    walk_close(&walk);
}

/* A row under the time axis. The height shows the number of events in a pixel; one is already visible. */
static void draw_density(const struct draw *draw, const struct draw_mark *mark, double y, enum style style)
{
    double most = 1, pixel = (draw->right - draw->left) / draw->lanes.width;

    draw_box(draw, 0, y, draw->options->width, DRAW_MARK_ROW, STYLE_RAISED, NULL);
    draw_box(draw, 0, y + DRAW_MARK_ROW - 1, draw->options->width, 1, STYLE_LINE, NULL);
    draw_text(draw, 10, y + DRAW_MARK_ROW - 4, draw->left - 16, DRAW_TEXT, STYLE_TEXT,
              draw->view->trace.schema.events[mark->type]->name);
    for (uint32_t i = 0; i < draw->lanes.width; i++)
        most = mark->pixels[i] > most ? mark->pixels[i] : most;
    for (uint32_t i = 0; i < draw->lanes.width; i++) {
        double height = fmax(3, (DRAW_MARK_ROW - 3) * log2(1 + mark->pixels[i]) / log2(1 + most));

        if (mark->pixels[i] != 0)
            draw_box(draw, draw->left + i * pixel, y + DRAW_MARK_ROW - 1 - height, pixel, height, style,
                     NULL);
    }
}

void draw_marks(struct draw *draw, double top, double bottom)
{
    if (draw->mark_count != 0)
        count_marks(draw);
    for (uint32_t i = 0; i < draw->mark_count; i++) {
        const struct draw_mark *mark = &draw->marks[i];
        double y = top + i * DRAW_MARK_ROW;

        draw_density(draw, mark, y, STYLE_MARK + i);
        for (uint64_t line = 0; line < mark->count && mark->count <= DRAW_MARK_LINES; line++)
            draw_box(draw, draw_x(draw, mark->times[line]), y + 2, 1, bottom - y - 2, STYLE_MARK + i, NULL);
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
        snprintf(text, sizeof(text), "%s: %llu", draw->view->trace.schema.events[draw->marks[i].type]->name,
                 (unsigned long long)draw->marks[i].count);
        add_entry(draw, at, STYLE_MARK + i, "box", text);
    }
    for (enum style style = 0; style < STYLES; style++)
        if (draw->is_drawn[style] && styles[style].shape != NULL)
            add_entry(draw, at, style, styles[style].shape, styles[style].text);
}
