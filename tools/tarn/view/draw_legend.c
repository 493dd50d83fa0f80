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
static void draw_density(const struct draw *draw, const struct draw_mark *mark, double y,
                         struct colour colour)
{
    double most = 1, pixel = (draw->right - draw->left) / draw->lanes.width;

    draw_box(draw, 0, y, draw->options->width, DRAW_MARK_ROW, draw->theme.raised);
    draw_box(draw, 0, y + DRAW_MARK_ROW - 1, draw->options->width, 1, draw->theme.line);
    draw_colour(draw, draw->theme.text);
    draw_text(draw, 10, y + DRAW_MARK_ROW - 4, draw->left - 16, DRAW_TEXT,
              draw->view->trace.schema.events[mark->type]->name);
    for (uint32_t i = 0; i < draw->lanes.width; i++)
        most = mark->pixels[i] > most ? mark->pixels[i] : most;
    for (uint32_t i = 0; i < draw->lanes.width; i++) {
        double height = fmax(3, (DRAW_MARK_ROW - 3) * log2(1 + mark->pixels[i]) / log2(1 + most));

        if (mark->pixels[i] != 0)
            draw_box(draw, draw->left + i * pixel, y + DRAW_MARK_ROW - 1 - height, pixel, height, colour);
    }
}

void draw_marks(struct draw *draw, double top, double bottom)
{
    if (draw->mark_count != 0)
        count_marks(draw);
    for (uint32_t i = 0; i < draw->mark_count; i++) {
        const struct draw_mark *mark = &draw->marks[i];
        double y = top + i * DRAW_MARK_ROW;

        draw_density(draw, mark, y, draw->theme.marks[i]);
        for (uint64_t line = 0; line < mark->count && mark->count <= DRAW_MARK_LINES; line++)
            draw_box(draw, draw_x(draw, mark->times[line]), y + 2, 1, bottom - y - 2, draw->theme.marks[i]);
    }
}

/* ---- legend ---------------------------------------------------------------------------------------- */

struct place {
    double x, y;
};

/* Adds an entry: its text behind a sample of 15 pixels, whose place is returned. */
static struct place add_text(const struct draw *draw, struct place *at, const char *text)
{
    double space = draw_text_width(draw, DRAW_TEXT, text);
    struct place sample;

    if (at->x + 24 + space > draw->right)
        *at = (struct place){10, at->y + DRAW_LEGEND_LINE};
    sample = *at;
    draw_colour(draw, draw->theme.text);
    draw_text(draw, at->x + 20, at->y + 10, 400, DRAW_TEXT, text);
    at->x += 20 + space + 14;
    return sample;
}

/* HEIGHT of the sample, at most 11. */
static void add_entry(const struct draw *draw, struct place *at, struct colour colour, double height,
                      const char *text)
{
    struct place sample = add_text(draw, at, text);

    draw_box(draw, sample.x, sample.y + (11 - height) / 2, 15, height, colour);
}

static void add_style(const struct draw *draw, struct place *at, enum style style)
{
    struct process_colours some = style_of_program(draw->theme.is_dark, "fs");
    const struct style_entry *entry = &styles[style];

    if (*entry->shape == 's') {
        struct place sample = add_text(draw, at, entry->text);

        draw_stripes(draw, sample.x, sample.y, 15, 11, style);
    } else if (*entry->shape != '\0') {
        add_entry(draw, at,
                  style == STYLE_PROGRAM  ? some.user
                  : style == STYLE_KERNEL ? some.kernel
                                          : draw->theme.styles[style],
                  *entry->shape == 'b' ? 11 : 2, entry->text);
    }
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
