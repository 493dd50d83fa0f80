/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/view/draw_lanes.c - the lanes of the PNG; see draw.h. */
#include <stdio.h>
#include <tools/tarn/view/draw_parts.h>

#define LABEL_BRIGHT 0.6 /* above: dark letters */

static double x_of(const struct draw *draw, uint64_t ticks)
{
    const struct lanes *lanes = &draw->lanes;

    return draw->left +
           (double)(ticks - lanes->from) * (draw->right - draw->left) / (double)(lanes->to - lanes->from);
}

static uint32_t pid_of(const struct draw *draw, uint32_t thread)
{
    return thread < index_thread_count(&draw->view->index) ? index_thread(&draw->view->index, thread)->pid
                                                           : MODEL_NOBODY;
}

static bool is_idle(const struct draw *draw, uint32_t thread)
{
    return thread < index_thread_count(&draw->view->index) &&
           index_thread(&draw->view->index, thread)->is_idle;
}

/* In a box, in letters that can be read on its colour. */
static void label_box(const struct draw *draw, double x, double y, double width, double height, double size,
                      struct colour colour, const char *text)
{
    static const struct colour dark = {0.1, 0.1, 0.12}, bright = {1, 1, 1};
    double brightness = 0.3 * colour.red + 0.6 * colour.green + 0.1 * colour.blue;

    draw_colour(draw, brightness > LABEL_BRIGHT ? dark : bright);
    draw_text(draw, x + 3, y + height / 2 + size * 0.36, width - 5, size, text);
}

/* ---- names of details ---------------------------------------------------------------------------- */

static void format_activity(const struct draw *draw, uint32_t kind, uint32_t detail, char text[64])
{
    const struct field *field = model_detail_field(&draw->view->trace.schema, kind);

    for (const struct tsdl_label *label = field != NULL ? field->labels : NULL; label != NULL;
         label = label->next)
        if (label->low == detail) {
            snprintf(text, 64, "%s%s", kind == ACTIVITY_FAULT ? "fault " : "", label->name);
            return;
        }
    if (detail == UINT32_MAX)
        snprintf(text, 64, "%s", model_activity_names[kind]);
    else
        snprintf(text, 64, "%s %u", model_activity_names[kind], detail);
}

/* ---- processors ---------------------------------------------------------------------------------- */

static struct colour cpu_colour(struct draw *draw, const struct lane_box *box)
{
    struct colour colour = draw_process_colour(draw, pid_of(draw, box->what));

    switch (box->kind) {
    case ACTIVITY_IRQ:
    case ACTIVITY_IPI:
        return draw->theme->interrupt;
    case ACTIVITY_SYSCALL:
    case ACTIVITY_FAULT:
    case ACTIVITY_EXCEPTION:
        return draw_shade(colour, draw->theme->kernel, draw->theme->back);
    default:
        return is_idle(draw, box->what) ? draw->theme->idle : colour;
    }
}

static void draw_cpu_boxes(struct draw *draw, const struct lane *lane)
{
    const struct lane_box *box = (const struct lane_box *)lane->boxes.bytes;

    for (size_t i = 0; i < lane_count(&lane->boxes, sizeof(*box)); i++, box++) {
        double x = x_of(draw, box->begin), width = x_of(draw, box->end) - x;
        struct colour colour = cpu_colour(draw, box);

        draw_box(draw, x, draw->top, width, DRAW_CPU_HEIGHT, colour);
        if (width > 30 && !is_idle(draw, box->what) && box->what < index_thread_count(&draw->view->index))
            label_box(draw, x, draw->top, width, DRAW_CPU_HEIGHT, DRAW_TEXT, colour,
                      index_thread(&draw->view->index, box->what)->name);
    }
}

static void draw_cpu_runs(struct draw *draw, const struct lane *lane)
{
    const struct lane_run *run = (const struct lane_run *)lane->runs.bytes;
    double pixel = (draw->right - draw->left) / draw->lanes.width, x = draw->left;

    for (size_t i = 0; i < lane_count(&lane->runs, sizeof(*run)); i++, run++) {
        struct colour colour = draw_process_colour(draw, pid_of(draw, run->what));
        const struct colour parts[CPU_KINDS] = {colour,
                                                draw_shade(colour, draw->theme->kernel, draw->theme->back),
                                                draw->theme->interrupt, draw->theme->idle};
        double y = draw->top + DRAW_CPU_HEIGHT, width = run->pixels * pixel;

        for (int kind = 0; kind < CPU_KINDS; kind++) {
            double height = DRAW_CPU_HEIGHT * run->shares[kind] / 100;

            y -= height;
            draw_box(draw, x, y, width, height, parts[kind]);
        }
        x += width;
    }
}

/* ---- threads ------------------------------------------------------------------------------------- */

/* Waiting is a thin line, so that what happens stands out. */
static void draw_state(struct draw *draw, uint32_t state, struct colour running, double x, double width)
{
    bool is_active = state == MODEL_RUNNING || state == MODEL_READY;
    double height = is_active ? DRAW_STATE_HEIGHT : 4;

    if (state >= MODEL_DEAD && state != MODEL_UNKNOWN)
        return;
    draw->has_state[state] = true;
    draw_box(draw, x, draw->top + (DRAW_STATE_HEIGHT - height) / 2, width, height,
             state == MODEL_RUNNING ? running : draw->theme->states[state]);
}

static void draw_states(struct draw *draw, const struct lane *lane, struct colour running)
{
    const struct lane_box *box = (const struct lane_box *)lane->boxes.bytes;

    for (size_t i = 0; i < lane_count(&lane->boxes, sizeof(*box)); i++, box++) {
        double x = x_of(draw, box->begin);

        draw_state(draw, box->what, running, x, x_of(draw, box->end) - x);
    }
}

static void draw_frames(struct draw *draw, const struct lane *lane)
{
    const struct lane_box *box = (const struct lane_box *)lane->frames.bytes;
    char text[64];

    for (size_t i = 0; i < lane_count(&lane->frames, sizeof(*box)); i++, box++) {
        double x = x_of(draw, box->begin), width = x_of(draw, box->end) - x;
        double y = draw->top + DRAW_STATE_HEIGHT + 1 + box->what * (DRAW_FRAME_HEIGHT + 1);

        if (box->what >= draw->frame_rows || box->kind >= ACTIVITIES)
            continue;
        draw->has_activity[box->kind] = true;
        draw_box(draw, x, y, width, DRAW_FRAME_HEIGHT, draw->theme->activities[box->kind]);
        if (width > 24 && box->merged == 1) {
            format_activity(draw, box->kind, box->detail, text);
            label_box(draw, x, y, width, DRAW_FRAME_HEIGHT, 9, draw->theme->activities[box->kind], text);
        }
    }
}

static void draw_thread_runs(struct draw *draw, const struct lane *lane, struct colour running)
{
    const struct lane_run *run = (const struct lane_run *)lane->runs.bytes;
    double pixel = (draw->right - draw->left) / draw->lanes.width, x = draw->left;
    const struct colour parts[] = {running, draw_shade(running, draw->theme->kernel, draw->theme->back),
                                   draw->theme->interrupt, draw->theme->states[MODEL_READY]};

    for (size_t i = 0; i < lane_count(&lane->runs, sizeof(*run)); i++, run++) {
        double y = draw->top + DRAW_STATE_HEIGHT, width = run->pixels * pixel;

        if (run->what < MODEL_STATES)
            draw_state(draw, run->what, running, x, width);
        for (size_t part = 0; part < sizeof(parts) / sizeof(parts[0]); part++) {
            double height = DRAW_STATE_HEIGHT * run->shares[part] / 100;

            y -= height;
            draw_box(draw, x, y, width, height, parts[part]);
            draw->has_state[part == NODE_READY ? MODEL_READY : MODEL_RUNNING] |= height > 0;
        }
        x += width;
    }
}

double draw_thread_height(const struct draw *draw)
{
    return DRAW_STATE_HEIGHT + draw->frame_rows * (DRAW_FRAME_HEIGHT + 1);
}

/* ---- all of them --------------------------------------------------------------------------------- */

static void label_lane(const struct draw *draw, double height, const char *text, const char *more)
{
    draw_colour(draw, draw->theme->text);
    draw_text(draw, 10, draw->top + height / 2 + DRAW_TEXT * 0.36, draw->left - 60, DRAW_TEXT, text);
    draw_colour(draw, draw->theme->faint);
    draw_text(draw, draw->left - 48, draw->top + height / 2 + DRAW_TEXT * 0.36, 44, DRAW_TEXT - 1, more);
}

static void draw_cpu(struct draw *draw, const struct lane *lane)
{
    char text[32];

    draw_box(draw, draw->left, draw->top, draw->right - draw->left, DRAW_CPU_HEIGHT, draw->theme->lane);
    snprintf(text, sizeof(text), "processor %u", draw->view->trace.streams[lane->number].cpu);
    label_lane(draw, DRAW_CPU_HEIGHT, text, "");
    if (draw->lanes.is_exact)
        draw_cpu_boxes(draw, lane);
    else
        draw_cpu_runs(draw, lane);
    draw->top += DRAW_CPU_HEIGHT + DRAW_GAP;
}

static void draw_thread(struct draw *draw, const struct lane *lane)
{
    const struct index_thread *thread = index_thread(&draw->view->index, lane->number);
    struct colour running = draw_process_colour(draw, thread->pid);
    char tid[16];

    draw_box(draw, draw->left, draw->top, draw->right - draw->left, draw_thread_height(draw),
             draw->theme->lane);
    snprintf(tid, sizeof(tid), "%u", thread->tid);
    label_lane(draw, DRAW_STATE_HEIGHT, thread->name, tid);
    if (draw->lanes.is_exact) {
        draw_states(draw, lane, running);
        draw_frames(draw, lane);
    } else {
        draw_thread_runs(draw, lane, running);
    }
    draw->top += draw_thread_height(draw) + DRAW_GAP;
}

void draw_lanes(struct draw *draw)
{
    for (uint32_t i = 0; i < draw->lanes.cpu_count; i++)
        draw_cpu(draw, &draw->lanes.cpus[i]);
    draw->top += DRAW_GAP;
    for (uint32_t i = 0; i < draw->lanes.thread_count; i++)
        draw_thread(draw, &draw->lanes.threads[i]);
}
