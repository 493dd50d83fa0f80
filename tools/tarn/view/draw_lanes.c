/* SPDX-License-Identifier: BSD-2-Clause */
/* draw_lanes.c - the lanes of the PNG; see draw.h. */
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/view/draw_parts.h>

#define FRAME_ROWS 4u

static const struct index_thread *thread_of(const struct draw *draw, uint32_t number)
{
    return number < index_thread_count(&draw->view->index) ? index_thread(&draw->view->index, number) : NULL;
}

static bool is_idle(const struct draw *draw, uint32_t number)
{
    const struct index_thread *thread = thread_of(draw, number);

    return thread != NULL && thread->is_idle;
}

/* What the kernel does while no thread runs has its own colour. */
static struct process_colours colours_of(const struct draw *draw, uint32_t number)
{
    const struct index_thread *thread = thread_of(draw, number);

    if (thread == NULL || thread->is_idle)
        return theme_process(&draw->theme, "kernel");
    return draw_process_colours(draw, thread->pid);
}

static const char *thread_name(const struct draw *draw, const struct index_thread *thread, char text[32])
{
    return thread->name[0] != '\0' ? thread->name : draw_process_name(draw, thread->pid, text);
}

static void label_box(const struct draw *draw, double x, double y, double width, double height, double size,
                      struct colour colour, const char *text)
{
    draw_colour(draw, colour);
    draw_text(draw, x + 3, y + height / 2 + size * 0.36, width - 5, size, text);
}

/* ---- names of details ------------------------------------------------------------------------------ */

static bool is_named(const struct draw *draw, uint32_t kind, uint32_t detail, char text[64])
{
    const struct field *field = model_detail_field(&draw->view->trace.schema, kind);
    const struct model_irq *irqs = (const struct model_irq *)draw->view->index.irqs.bytes;

    for (const struct tsdl_label *label = field != NULL ? field->labels : NULL; label != NULL;
         label = label->next)
        if (label->low == detail) {
            snprintf(text, 64, "%s%s", kind == ACTIVITY_FAULT ? "fault " : "", label->name);
            return true;
        }
    for (size_t i = 0; kind == ACTIVITY_IRQ && i < draw->view->index.irqs.used / sizeof(*irqs); i++)
        if (irqs[i].number == detail) {
            snprintf(text, 64, "interrupt %.*s", (int)sizeof(irqs[i].name), irqs[i].name);
            return true;
        }
    return false;
}

static void format_activity(const struct draw *draw, uint32_t kind, uint32_t detail, char text[64])
{
    if (is_named(draw, kind, detail, text))
        return;
    if (detail == UINT32_MAX || kind == ACTIVITY_REQUEST) /* requests have no names */
        snprintf(text, 64, "%s", model_activity_names[kind]);
    else
        snprintf(text, 64, "%s %u", model_activity_names[kind], detail);
}

/* ---- CPUs ------------------------------------------------------------------------------------------ */

static bool is_interrupt(uint32_t kind)
{
    return kind == ACTIVITY_IRQ || kind == ACTIVITY_IPI;
}

static bool is_kernel(uint32_t kind)
{
    return kind == ACTIVITY_SYSCALL || kind == ACTIVITY_FAULT || kind == ACTIVITY_EXCEPTION;
}

/* A sleeping CPU is a line at the bottom. */
static void draw_idle(const struct draw *draw, double x, double width)
{
    draw_box(draw, x, draw->top + DRAW_CPU_HEIGHT - 3, width, 2, draw->theme.idle);
}

static void draw_cpu_box(struct draw *draw, const struct lane_box *box)
{
    double x = draw_x(draw, box->begin), width = draw_x(draw, box->end) - x;
    const struct index_thread *thread = thread_of(draw, box->what);
    struct process_colours colours = colours_of(draw, box->what);
    bool has_activity = box->kind != ACTIVITIES, sleeps = !has_activity && box->detail != 0;
    bool runs_kernel = has_activity ? is_kernel(box->kind) : is_idle(draw, box->what);
    char text[32];

    draw_box(draw, x, draw->top, width, DRAW_CPU_HEIGHT, draw->theme.background);
    if (sleeps) {
        draw_idle(draw, x, width);
        return;
    }
    draw_box(draw, x, draw->top + 1, width, DRAW_CPU_HEIGHT - 2,
             is_interrupt(box->kind) ? draw->theme.interrupt
             : runs_kernel           ? colours.kernel
                                     : colours.user);
    if (width > 30 && thread != NULL && !thread->is_idle)
        label_box(draw, x, draw->top, width, DRAW_CPU_HEIGHT, DRAW_TEXT,
                  is_interrupt(box->kind) ? draw->theme.background : draw->theme.box_text,
                  thread_name(draw, thread, text));
}

static void draw_shares(const struct draw *draw, double x, double bottom, double width, double room,
                        const uint8_t *shares, const struct colour colours[3])
{
    double y = bottom;

    for (unsigned i = 0; i < 3; i++) {
        double height = shares[i] == 0               ? 0
                        : shares[i] * room / 100 < 1 ? 1
                                                     : (int)(shares[i] * room / 100 + 0.5);

        if (height == 0)
            continue;
        y -= height;
        draw_box(draw, x, y, width, height, colours[i]);
    }
}

static void draw_cpu_runs(struct draw *draw, const struct lane *lane)
{
    const struct lane_run *run = (const struct lane_run *)lane->runs.bytes;
    double pixel = (draw->right - draw->left) / draw->lanes.width, x = draw->left;

    for (size_t i = 0; i < lane_count(&lane->runs, sizeof(*run)); i++, run++) {
        struct process_colours colours = colours_of(draw, run->what);
        const struct colour parts[] = {colours.user, colours.kernel, draw->theme.interrupt};
        double width = run->pixels * pixel;

        if (run->shares[0] + run->shares[1] + run->shares[2] + run->shares[3] > 0) { /* otherwise unknown */
            draw_box(draw, x, draw->top, width, DRAW_CPU_HEIGHT, draw->theme.background);
            draw_idle(draw, x, width);
            draw_shares(draw, x, draw->top + DRAW_CPU_HEIGHT - 1, width, DRAW_CPU_HEIGHT - 2, run->shares,
                        parts);
        } else {
            draw->has_lost = true;
        }
        x += width;
    }
}

/* ---- threads --------------------------------------------------------------------------------------- */

/* Running fills the lane, ready is striped, waiting is a line. */
static void draw_state(struct draw *draw, uint32_t state, struct colour running, double x, double width)
{
    draw->has_state[state] |= state != MODEL_DEAD;
    switch (state) {
    case MODEL_RUNNING:
        draw_box(draw, x, draw->top, width, DRAW_STATE_HEIGHT, running);
        break;
    case MODEL_READY:
        draw_pattern(draw, x, draw->top + 3, width, DRAW_STATE_HEIGHT - 6, draw->ready);
        break;
    case MODEL_UNKNOWN:
        draw_pattern(draw, x, draw->top + 3, width, DRAW_STATE_HEIGHT - 6, draw->lost);
        draw->has_lost = true;
        break;
    case MODEL_DEAD:
        break;
    default:
        draw_box(draw, x, draw->top + DRAW_STATE_HEIGHT / 2 - 1, width, 2, draw->theme.states[state]);
    }
}

static void draw_states(struct draw *draw, const struct lane *lane, struct colour running)
{
    const struct lane_box *box = (const struct lane_box *)lane->boxes.bytes;

    for (size_t i = 0; i < lane_count(&lane->boxes, sizeof(*box)); i++, box++) {
        double x = draw_x(draw, box->begin);

        draw_state(draw, box->what, running, x, draw_x(draw, box->end) - x);
    }
}

static void draw_frames(struct draw *draw, const struct lane *lane)
{
    const struct lane_box *box = (const struct lane_box *)lane->frames.bytes;
    char text[64];

    for (size_t i = 0; i < lane_count(&lane->frames, sizeof(*box)); i++, box++) {
        double x = draw_x(draw, box->begin), width = draw_x(draw, box->end) - x;
        double y = draw->top + DRAW_STATE_HEIGHT + 1 + box->what * DRAW_FRAME_HEIGHT;

        if (box->what >= FRAME_ROWS || box->kind >= ACTIVITIES)
            continue;
        draw->has_activity[box->kind] = true;
        draw_box(draw, x, y, width > 3 ? width - 1 : width, DRAW_FRAME_HEIGHT - 1,
                 draw->theme.activities[box->kind]);
        if (width > 24 && box->merged == 1) {
            format_activity(draw, box->kind, box->detail, text);
            label_box(draw, x, y, width, DRAW_FRAME_HEIGHT - 1, DRAW_TEXT - 1, draw->theme.box_text, text);
        }
    }
}

static void draw_thread_runs(struct draw *draw, const struct lane *lane, struct process_colours colours)
{
    const struct lane_run *run = (const struct lane_run *)lane->runs.bytes;
    double pixel = (draw->right - draw->left) / draw->lanes.width, x = draw->left;
    const struct colour parts[] = {colours.user, colours.kernel, draw->theme.interrupt};

    for (size_t i = 0; i < lane_count(&lane->runs, sizeof(*run)); i++, run++) {
        double width = run->pixels * pixel, ready = DRAW_STATE_HEIGHT * run->shares[NODE_READY] / 100;

        if (run->what < MODEL_STATES)
            draw_state(draw, run->what, colours.user, x, width);
        draw_shares(draw, x, draw->top + DRAW_STATE_HEIGHT, width, DRAW_STATE_HEIGHT, run->shares, parts);
        if (ready > 0) /* from the top down */
            draw_pattern(draw, x, draw->top, width, ready, draw->ready);
        draw->has_state[MODEL_READY] |= ready > 0;
        x += width;
    }
}

static double thread_height(const struct lane *lane)
{
    const struct lane_box *box = (const struct lane_box *)lane->frames.bytes;
    uint32_t rows = 0;

    for (size_t i = 0; i < lane_count(&lane->frames, sizeof(*box)); i++)
        rows = box[i].what + 1 > rows ? box[i].what + 1 : rows;
    return DRAW_STATE_HEIGHT + (rows < FRAME_ROWS ? rows : FRAME_ROWS) * DRAW_FRAME_HEIGHT;
}

/* ---- labels, all lanes ----------------------------------------------------------------------------- */

static void label_lane(const struct draw *draw, double height, const char *text, const char *more)
{
    draw_colour(draw, draw->theme.text);
    draw_text(draw, 26, draw->top + height / 2 + DRAW_TEXT * 0.36, draw->left - 80, DRAW_TEXT, text);
    draw_colour(draw, draw->theme.quiet);
    draw_text(draw, draw->left - 52, draw->top + height / 2 + DRAW_TEXT * 0.36, 48, DRAW_TEXT - 1, more);
}

static void draw_cpu(struct draw *draw, const struct lane *lane)
{
    const struct lane_box *box = (const struct lane_box *)lane->boxes.bytes;
    uint64_t known = 0;
    char text[32];

    /* Wherever nothing is drawn on top, the state is unknown. */
    draw_pattern(draw, draw->left, draw->top + 1, draw->right - draw->left, DRAW_CPU_HEIGHT - 2, draw->lost);
    snprintf(text, sizeof(text), "CPU %u", draw->view->trace.streams[lane->number].cpu);
    label_lane(draw, DRAW_CPU_HEIGHT, text, "");
    for (size_t i = 0; i < lane_count(&lane->boxes, sizeof(*box)); i++) {
        draw_cpu_box(draw, box + i);
        known += box[i].end - box[i].begin;
    }
    if (!draw->lanes.is_exact)
        draw_cpu_runs(draw, lane);
    else
        draw->has_lost |= known < draw->lanes.to - draw->lanes.from;
    draw->top += DRAW_CPU_HEIGHT + 1;
}

static void draw_thread(struct draw *draw, const struct lane *lane)
{
    const struct index_thread *thread = index_thread(&draw->view->index, lane->number);
    struct process_colours colours = draw_process_colours(draw, thread->pid);
    char text[32], tid[16];

    snprintf(tid, sizeof(tid), "%u", thread->tid);
    label_lane(draw, DRAW_STATE_HEIGHT, thread_name(draw, thread, text), tid);
    draw_box(draw, 11, draw->top + DRAW_STATE_HEIGHT / 2 - 4, 9, 9, colours.user);
    if (draw->lanes.is_exact) {
        draw_states(draw, lane, colours.user);
        draw_frames(draw, lane);
    } else {
        draw_thread_runs(draw, lane, colours);
    }
    draw->top += thread_height(lane) + DRAW_GAP;
    draw_box(draw, 0, draw->top - 3, draw->right, 1, draw->theme.line);
}

/* By CPU number, because streams are sorted by name. */
static int by_cpu(const void *left, const void *right, void *context)
{
    const struct lane *a = left, *b = right;
    const struct view *view = context;

    return view->trace.streams[a->number].cpu < view->trace.streams[b->number].cpu ? -1 : 1;
}

void draw_lanes(struct draw *draw)
{
    qsort_r(draw->lanes.cpus, draw->lanes.cpu_count, sizeof(draw->lanes.cpus[0]), by_cpu, (void *)draw->view);
    for (uint32_t i = 0; i < draw->lanes.cpu_count; i++)
        draw_cpu(draw, &draw->lanes.cpus[i]);
    draw->top += DRAW_GAP;
    for (uint32_t i = 0; i < draw->lanes.thread_count; i++) {
        bool fits = draw->top + thread_height(&draw->lanes.threads[i]) <= draw->bottom;

        draw->tops[i] = fits ? draw->top : -1;
        if (fits)
            draw_thread(draw, &draw->lanes.threads[i]);
    }
}
