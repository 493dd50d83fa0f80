/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/view/draw_legend.c - colours, time axis, marked events, legend of the PNG; see draw.h. */
#include <math.h>
#include <stdio.h>
#include <tools/tarn/view/draw_parts.h>
#include <tools/tarn/view/walk.h>

/* clang-format off */
const struct theme theme_light = {
    .back = {1, 1, 1}, .lane = {0.965, 0.97, 0.98}, .line = {0.84, 0.86, 0.89}, .text = {0.13, 0.15, 0.19},
    .faint = {0.47, 0.51, 0.57}, .idle = {0.925, 0.935, 0.95}, .interrupt = {0.85, 0.18, 0.15}, .kernel = 0.62,
    .states = {
        [MODEL_READY] = {0.96, 0.68, 0.20}, [MODEL_BLOCKED_SEND] = {0.72, 0.55, 0.85},
        [MODEL_BLOCKED_RECEIVE] = {0.80, 0.83, 0.87}, [MODEL_BLOCKED_REPLY] = {0.58, 0.45, 0.82},
        [MODEL_BLOCKED_NOTIFICATION] = {0.62, 0.78, 0.86}, [MODEL_BLOCKED_FUTEX] = {0.87, 0.50, 0.65},
        [MODEL_SLEEPING] = {0.74, 0.80, 0.72}, [MODEL_BLOCKED_FAULT] = {0.88, 0.42, 0.35},
        [MODEL_SUSPENDED] = {0.70, 0.70, 0.72}, [MODEL_UNKNOWN] = {0.30, 0.30, 0.32}},
    .activities = {
        [ACTIVITY_LIBC] = {0.35, 0.66, 0.62}, [ACTIVITY_SYSCALL] = {0.30, 0.50, 0.80},
        [ACTIVITY_FAULT] = {0.88, 0.42, 0.35}, [ACTIVITY_EXCEPTION] = {0.75, 0.30, 0.60},
        [ACTIVITY_IRQ] = {0.85, 0.18, 0.15}, [ACTIVITY_IPI] = {0.70, 0.40, 0.20},
        [ACTIVITY_REQUEST] = {0.55, 0.70, 0.32}},
    .marks = {{0.80, 0.10, 0.45}, {0.05, 0.45, 0.75}, {0.10, 0.55, 0.25}, {0.75, 0.45, 0.0},
              {0.45, 0.25, 0.75}, {0.0, 0.55, 0.55}, {0.60, 0.15, 0.15}, {0.35, 0.35, 0.35}}};

const struct theme theme_dark = {
    .back = {0.10, 0.11, 0.14}, .lane = {0.135, 0.15, 0.185}, .line = {0.24, 0.27, 0.32}, .text = {0.90, 0.92, 0.95},
    .faint = {0.58, 0.62, 0.68}, .idle = {0.17, 0.19, 0.23}, .interrupt = {0.95, 0.33, 0.30}, .kernel = 0.62,
    .states = {
        [MODEL_READY] = {0.95, 0.68, 0.25}, [MODEL_BLOCKED_SEND] = {0.66, 0.50, 0.82},
        [MODEL_BLOCKED_RECEIVE] = {0.33, 0.37, 0.43}, [MODEL_BLOCKED_REPLY] = {0.58, 0.45, 0.85},
        [MODEL_BLOCKED_NOTIFICATION] = {0.30, 0.48, 0.56}, [MODEL_BLOCKED_FUTEX] = {0.80, 0.42, 0.58},
        [MODEL_SLEEPING] = {0.38, 0.45, 0.36}, [MODEL_BLOCKED_FAULT] = {0.90, 0.42, 0.35},
        [MODEL_SUSPENDED] = {0.40, 0.40, 0.43}, [MODEL_UNKNOWN] = {0.75, 0.75, 0.78}},
    .activities = {
        [ACTIVITY_LIBC] = {0.32, 0.68, 0.63}, [ACTIVITY_SYSCALL] = {0.36, 0.56, 0.88},
        [ACTIVITY_FAULT] = {0.90, 0.45, 0.38}, [ACTIVITY_EXCEPTION] = {0.80, 0.38, 0.66},
        [ACTIVITY_IRQ] = {0.95, 0.33, 0.30}, [ACTIVITY_IPI] = {0.78, 0.50, 0.28},
        [ACTIVITY_REQUEST] = {0.58, 0.74, 0.36}},
    .marks = {{1.0, 0.40, 0.70}, {0.40, 0.75, 1.0}, {0.45, 0.85, 0.50}, {1.0, 0.75, 0.30},
              {0.75, 0.60, 1.0}, {0.35, 0.85, 0.85}, {1.0, 0.50, 0.45}, {0.75, 0.75, 0.75}}};
/* clang-format on */

/* ---- time ---------------------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten, so that labels have room. */
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
    double step = nice_step(to - from, (draw->right - draw->left) / 110), bottom = draw->options->height - 70;
    char text[48];

    for (double at = ceil(from / step) * step; at < to; at += step) {
        double x = draw->left + (at - from) * (draw->right - draw->left) / (to - from);

        draw_box(draw, x, draw->top + DRAW_AXIS_HEIGHT - 8, 1, bottom - draw->top - DRAW_AXIS_HEIGHT,
                 draw->theme->line);
        draw_colour(draw, draw->theme->faint);
        format_time(at, step, text);
        draw_text(draw, x + 4, draw->top + 14, 120, DRAW_TEXT, text);
    }
    draw->top += DRAW_AXIS_HEIGHT;
}

/* ---- marked events ------------------------------------------------------------------------------- */

static void draw_mark_at(const struct draw *draw, uint64_t ticks, double bottom, struct colour colour)
{
    const struct lanes *lanes = &draw->lanes;
    double x = draw->left +
               (double)(ticks - lanes->from) * (draw->right - draw->left) / (double)(lanes->to - lanes->from);

    draw_box(draw, x, draw->top - 2, 1, bottom - draw->top + 2, colour);
    draw_colour(draw, colour);
    cairo_move_to(draw->cairo, x - 3.5, draw->top - 7);
    cairo_line_to(draw->cairo, x + 4.5, draw->top - 7);
    cairo_line_to(draw->cairo, x + 0.5, draw->top - 1);
    cairo_fill(draw->cairo);
}

/* One for a pixel of each kind. */
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
                draw_mark_at(draw, cursor->ticks, bottom, draw->theme->marks[i]);
                last[i] = cursor->ticks;
            }
        }
    walk_close(&walk);
}

/* ---- legend -------------------------------------------------------------------------------------- */

static void add_entry(struct draw *draw, double *x, double *y, struct colour colour, const char *text)
{
    cairo_text_extents_t extents;

    cairo_set_font_size(draw->cairo, DRAW_TEXT);
    cairo_text_extents(draw->cairo, text, &extents);
    if (*x + 24 + extents.x_advance > draw->right) {
        *x = 10;
        *y += 18;
    }
    draw_box(draw, *x, *y, 11, 11, colour);
    draw_colour(draw, draw->theme->text);
    draw_text(draw, *x + 16, *y + 10, 400, DRAW_TEXT, text);
    *x += 16 + extents.x_advance + 16;
}

void draw_legend(struct draw *draw)
{
    double x = 10, y = draw->options->height - 58;
    struct colour some = draw_process_colour(draw, 1);
    char text[160];

    add_entry(draw, &x, &y, some, "runs (colour of its process)");
    add_entry(draw, &x, &y, draw_shade(some, draw->theme->kernel, draw->theme->back), "in the kernel");
    add_entry(draw, &x, &y, draw->theme->interrupt, "interrupt");
    add_entry(draw, &x, &y, draw->theme->idle, "idle");
    for (unsigned state = MODEL_READY; state < MODEL_STATES; state++)
        if (draw->has_state[state])
            add_entry(draw, &x, &y, draw->theme->states[state], model_state_names[state]);
    for (unsigned kind = 0; kind < ACTIVITIES; kind++)
        if (draw->has_activity[kind])
            add_entry(draw, &x, &y, draw->theme->activities[kind], model_activity_names[kind]);
    for (uint32_t i = 0; i < draw->mark_count; i++) {
        snprintf(text, sizeof(text), "%s (%llu)", draw->view->trace.schema.events[draw->marks[i].type]->name,
                 (unsigned long long)draw->marks[i].count);
        add_entry(draw, &x, &y, draw->theme->marks[i], text);
    }
}
