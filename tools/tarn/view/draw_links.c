/* SPDX-License-Identifier: BSD-2-Clause */
/* draw_links.c - connections between lanes of the PNG: wake-ups, IPC, and waits for locks to their holders;
 * drawn as in page/links.js. */
#include <math.h>
#include <tools/tarn/view/draw_parts.h>

/* The middle of a thread's strip; -1: it is not drawn. */
static double middle_of(const struct draw *draw, uint32_t thread)
{
    for (size_t i = 0; i < layout_count(&draw->layout); i++) {
        const struct layout_row *row = layout_row(&draw->layout, i);

        if (row->kind == LAYOUT_OF_THREAD && row->number == thread && row->height != 0)
            return draw_above(draw) + row->y + DRAW_PADDING + LAYOUT_STRIP / 2;
    }
    return -1;
}

/* Draws a line, dashed if DASH is not 0. */
static void draw_line(const struct draw *draw, double x0, double y0, double x1, double y1, double dash)
{
    const double dashes[] = {dash, dash == 4 ? 3 : dash};

    cairo_set_line_width(draw->cairo, 1);
    cairo_set_dash(draw->cairo, dashes, dash != 0 ? 2 : 0, 0);
    cairo_move_to(draw->cairo, x0, y0);
    cairo_line_to(draw->cairo, x1, y1);
    cairo_stroke(draw->cairo);
    cairo_set_dash(draw->cairo, NULL, 0, 0);
}

static void draw_arrow(struct draw *draw, const struct lane_arrow *arrow, double from, double to,
                       double alpha)
{
    const struct paint_arrow *look = &paint_arrows[arrow->kind];
    double x0 = draw_x(draw, arrow->begin), x1 = draw_x(draw, arrow->end), angle = atan2(to - from, x1 - x0);

    draw->is_drawn[look->style] = true;
    draw_colour(draw, look->style, alpha);
    draw_line(draw, x0, from, x1, to, look->is_dashed ? 4 : 0);
    cairo_move_to(draw->cairo, x1, to);
    cairo_line_to(draw->cairo, x1 - 7 * cos(angle - 0.45), to - 7 * sin(angle - 0.45));
    cairo_line_to(draw->cairo, x1 - 7 * cos(angle + 0.45), to - 7 * sin(angle + 0.45));
    cairo_close_path(draw->cairo);
    cairo_fill(draw->cairo);
}

/* Counts the visible arrows first, and draws them if there are not too many. */
static void draw_arrows(struct draw *draw)
{
    const struct lane_arrow *arrows = (const struct lane_arrow *)draw->lanes.arrows.bytes;
    uint32_t count = 0;

    for (unsigned pass = 0; pass < 2 && count <= PAINT_ARROWS; pass++) {
        double alpha = count > PAINT_CALM ? 0.25 + 0.4 * PAINT_CALM / count : 0.65;

        for (size_t i = 0; i < lane_count(&draw->lanes.arrows, sizeof(*arrows)); i++) {
            double from = middle_of(draw, arrows[i].from), to = middle_of(draw, arrows[i].to);

            if (from < 0 || to < 0 || arrows[i].from == arrows[i].to)
                continue;
            if (pass == 0)
                count++;
            else
                draw_arrow(draw, &arrows[i], from, to, alpha);
        }
    }
}

/* Draws a bar under the waiter's strip, and a line from it to a bar on the holder's lane. */
static void draw_wait(struct draw *draw, const struct lane_wait *wait, double waiter, double holder)
{
    double x = draw_x(draw, wait->begin), width = draw_x(draw, wait->end) - x, middle = round(x) + 0.5;
    double under = waiter + LAYOUT_STRIP / 2 - 3, there = holder + LAYOUT_STRIP / 2 - 3;

    draw->is_drawn[STYLE_LOCK] = true;
    draw_box(draw, x, under, width < 2 ? 2 : width, 3, STYLE_LOCK, NULL);
    if (holder < 0 || holder == waiter || width < 3)
        return;
    draw_colour(draw, STYLE_LOCK, 0.45);
    cairo_rectangle(draw->cairo, x, there, width, 3);
    cairo_fill(draw->cairo);
    draw_colour(draw, STYLE_LOCK, 1);
    draw_line(draw, middle, under + 1.5, middle, there + 1.5, 2);
    cairo_arc(draw->cairo, middle, there + 1.5, 2.5, 0, 7);
    cairo_fill(draw->cairo);
}

void draw_links(struct draw *draw)
{
    const struct lane_wait *waits = (const struct lane_wait *)draw->lanes.waits.bytes;

    for (size_t i = 0; i < lane_count(&draw->lanes.waits, sizeof(*waits)); i++) {
        double waiter = middle_of(draw, waits[i].thread);

        if (waiter >= 0)
            draw_wait(draw, &waits[i], waiter, middle_of(draw, waits[i].holder));
    }
    draw_arrows(draw);
}
