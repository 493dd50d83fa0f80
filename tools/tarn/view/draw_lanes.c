/* SPDX-License-Identifier: BSD-2-Clause */
/* draw_lanes.c - executes the drawing commands of lanes (paint.h) for the PNG and the SVG; see draw.h. */
#include <math.h>
#include <stdio.h>
#include <tools/tarn/view/draw_parts.h>

struct executor {
    struct painter painter;
    struct draw *draw;
    bool are_calls;
};

static void label_fill(const struct draw *draw, const struct look *look, double x, double width)
{
    bool is_narrow = width <= PAINT_BRIEF && look->brief[0] != '\0';

    if (width <= (look->brief[0] != '\0' ? PAINT_LEAST : PAINT_WHOLE))
        return;
    draw_text(draw, x + 3, draw->top + look->y + look->height / 2.0 + DRAW_TEXT * 0.34, width - 6,
              DRAW_TEXT - 1, look->style == STYLE_INTERRUPT ? STYLE_BACKGROUND : STYLE_BOX_TEXT,
              is_narrow ? look->brief : look->label);
}

static void label_line(const struct draw *draw, const struct look *look, double x, double width)
{
    double y = draw->top + look->y + 1,
           space = fmin(draw_text_width(draw, DRAW_TEXT - 1, look->label), width - 20);

    draw_box(draw, x + 5, y - 6, space + 6, 11, STYLE_BACKGROUND, NULL);
    draw_text(draw, x + 8, y + 3, space + 1, DRAW_TEXT - 1, STYLE_QUIET, look->label);
}

static void draw_shape(const struct executor *executor, const struct look *look, double x, double width)
{
    struct draw *draw = executor->draw;
    double y = draw->top + look->y;

    draw->is_drawn[look->style] = true;
    if (look->shape == PAINT_STRIPES && width >= 3)
        draw_stripes(draw, x, y, width, look->height, look->style);
    else if (look->shape != PAINT_NONE)
        draw_box(draw, x, y, executor->are_calls && width > 2 ? width - 1 : width, look->height, look->style,
                 look->program);
    if (look->shape == PAINT_FILL && look->label[0] != '\0')
        label_fill(draw, look, x, width);
    if (look->shape == PAINT_LINE && look->label[0] != '\0' && width > PAINT_BRIEF)
        label_line(draw, look, x, width);
}

/* The shares of user, kernel and interrupts. */
static void draw_shares(struct draw *draw, const struct look *look, const uint8_t *shares, double x,
                        double width)
{
    static const enum style parts[] = {STYLE_PROGRAM, STYLE_KERNEL, STYLE_INTERRUPT};
    double y = draw->top + look->bottom;

    for (unsigned i = 0; i < 3; i++) {
        double height = fmax(1, round(look->space * shares[i] / 100.0));

        if (shares[i] == 0)
            continue;
        y -= height;
        draw_box(draw, x, y, width, height, parts[i], look->program);
    }
    if (look->over == STYLES || shares[3] == 0)
        return;
    draw->is_drawn[look->over] = true;
    draw_stripes(draw, x, draw->top + look->bottom - look->space, width,
                 fmax(1, round(look->space * shares[3] / 100.0)), look->over);
}

static void execute_box(struct painter *self, const struct look *look, const struct lane_box *box)
{
    const struct executor *executor = (struct executor *)self;
    double x = draw_x(executor->draw, box->begin), width = draw_x(executor->draw, box->end) - x;

    draw_shape(executor, look, x, width);
    if (look->space != 0)
        draw_shares(executor->draw, look, box->shares, x, width);
}

static void draw_lane(struct draw *draw, const struct lane *lane)
{
    struct executor executor = {.painter = {.box = execute_box}, .draw = draw};

    for (uint32_t row = 0; row <= lane->depth && row <= DRAW_DEPTH_MAX; row++) {
        executor.are_calls = row > 0;
        paint_row(&draw->paint, lane, row, &executor.painter);
    }
}

void draw_mark(struct draw *draw, uint32_t number, double y)
{
    struct executor executor = {.painter = {.box = execute_box}, .draw = draw};

    draw->top = y;
    paint_mark(&draw->paint, draw->marks[number], number, &executor.painter);
}

/* ---- names, all lanes ------------------------------------------------------------------------------ */

static void label_lane(const struct draw *draw, double height, const char *text, const char *more)
{
    double y = draw->top + height / 2 + DRAW_TEXT * 0.36;

    draw_text(draw, 26, y, draw->left - 80, DRAW_TEXT, STYLE_TEXT, text);
    draw_text(draw, draw->left - 52, y, 48, DRAW_TEXT - 1, STYLE_QUIET, more);
}

static void name_thread(const struct draw *draw, uint32_t number)
{
    const struct index_thread *thread = index_thread(&draw->view->index, number);
    char text[VIEW_NAME_BYTES], tid[16];

    draw_box(draw, 11, draw->top + LAYOUT_STRIP / 2 - 4, 9, 9, STYLE_PROGRAM,
             paint_program(draw->view, thread->pid));
    snprintf(tid, sizeof(tid), "%u", thread->tid);
    label_lane(draw, LAYOUT_STRIP, view_thread_name(draw->view, number, text), tid);
}

void draw_lanes(struct draw *draw)
{
    double top = draw->top, bottom = top;
    char text[16];

    for (size_t i = 0; i < layout_count(&draw->layout); i++) {
        const struct layout_row *row = layout_row(&draw->layout, i);
        bool is_cpu = row->kind == LAYOUT_OF_CPU;
        uint32_t place = is_cpu ? row->number : draw->places[row->number];

        if (row->height == 0 || place >= (is_cpu ? draw->lanes.cpu_count : draw->lanes.thread_count))
            continue;
        draw->top = top + row->y;
        if (is_cpu) {
            snprintf(text, sizeof(text), "CPU %u", row->cpu);
            label_lane(draw, LAYOUT_CPU, text, "");
        } else {
            draw->top += DRAW_PADDING;
            name_thread(draw, row->number);
        }
        draw_lane(draw, is_cpu ? &draw->lanes.cpus[place] : &draw->lanes.threads[place]);
        bottom = top + row->y + row->height;
        if (!is_cpu)
            draw_box(draw, 0, bottom - 1, draw->right, 1, STYLE_LINE, NULL);
    }
    draw->top = bottom;
}
