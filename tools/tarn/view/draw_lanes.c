/* SPDX-License-Identifier: BSD-2-Clause */
/* draw_lanes.c - the lanes of the PNG; see draw.h. */
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/view/draw_parts.h>

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
        return style_of_program(draw->theme.is_dark, "kernel");
    return draw_process_colours(draw, thread->pid);
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
        snprintf(text, 64, "%s", styles[STYLE_ACTIVITY + kind].text);
    else
        snprintf(text, 64, "%s %u", styles[STYLE_ACTIVITY + kind].text, detail);
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
    draw_box(draw, x, draw->top + LAYOUT_CPU - 3, width, 2, draw->theme.styles[STYLE_IDLE]);
}

static void draw_cpu_box(struct draw *draw, const struct lane_box *box)
{
    double x = draw_x(draw, box->begin), width = draw_x(draw, box->end) - x;
    const struct index_thread *thread = thread_of(draw, box->what);
    struct process_colours colours = colours_of(draw, box->what);
    bool has_activity = box->kind != ACTIVITIES, sleeps = !has_activity && box->detail != 0;
    bool runs_kernel = has_activity ? is_kernel(box->kind) : is_idle(draw, box->what);
    char text[VIEW_NAME_BYTES];

    draw_box(draw, x, draw->top, width, LAYOUT_CPU, draw->theme.background);
    if (sleeps) {
        draw_idle(draw, x, width);
        return;
    }
    draw_box(draw, x, draw->top + 1, width, LAYOUT_CPU - 2,
             is_interrupt(box->kind) ? draw->theme.styles[STYLE_INTERRUPT]
             : runs_kernel           ? colours.kernel
                                     : colours.user);
    if (width > 30 && thread != NULL)
        label_box(draw, x, draw->top, width, LAYOUT_CPU, DRAW_TEXT,
                  is_interrupt(box->kind) ? draw->theme.background : draw->theme.box_text,
                  thread->is_idle ? "kernel work" : view_thread_name(draw->view, box->what, text));
}

static void draw_shares(const struct draw *draw, double x, double bottom, double width, double capacity,
                        const uint8_t *shares, const struct colour colours[3])
{
    double y = bottom;

    for (unsigned i = 0; i < 3; i++) {
        double height = shares[i] == 0                   ? 0
                        : shares[i] * capacity / 100 < 1 ? 1
                                                         : (int)(shares[i] * capacity / 100 + 0.5);

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
        const struct colour parts[] = {colours.user, colours.kernel, draw->theme.styles[STYLE_INTERRUPT]};
        double width = run->pixels * pixel;

        if (run->shares[0] + run->shares[1] + run->shares[2] + run->shares[3] > 0) { /* otherwise unknown */
            draw_box(draw, x, draw->top, width, LAYOUT_CPU, draw->theme.background);
            draw_idle(draw, x, width);
            draw_shares(draw, x, draw->top + LAYOUT_CPU - 1, width, LAYOUT_CPU - 2, run->shares, parts);
        } else {
            draw->is_drawn[STYLE_LOST] = true;
        }
        x += width;
    }
}

/* ---- threads --------------------------------------------------------------------------------------- */

/* Running fills the lane, ready is striped, waiting is a line. */
static void draw_state(struct draw *draw, uint32_t state, struct colour running, double x, double width)
{
    draw->is_drawn[STYLE_STATE + state] = true;
    switch (state) {
    case MODEL_RUNNING:
        draw_box(draw, x, draw->top, width, LAYOUT_STRIP, running);
        break;
    case MODEL_READY:
        draw_pattern(draw, x, draw->top + 3, width, LAYOUT_STRIP - 6, draw->ready);
        break;
    case MODEL_UNKNOWN:
        draw_pattern(draw, x, draw->top + 3, width, LAYOUT_STRIP - 6, draw->lost);
        draw->is_drawn[STYLE_LOST] = true;
        break;
    case MODEL_DEAD:
        break;
    default:
        draw_box(draw, x, draw->top + LAYOUT_STRIP / 2 - 1, width, 2,
                 draw->theme.styles[STYLE_STATE + state]);
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
        double y = draw->top + LAYOUT_STRIP + 1 + box->what * LAYOUT_CALL;

        if (box->what >= DRAW_DEPTH_MAX || box->kind >= ACTIVITIES)
            continue;
        draw->is_drawn[STYLE_ACTIVITY + box->kind] = true;
        draw_box(draw, x, y, width > 3 ? width - 1 : width, LAYOUT_CALL - 1,
                 draw->theme.styles[STYLE_ACTIVITY + box->kind]);
        if (width > 24 && box->merged == 1) {
            format_activity(draw, box->kind, box->detail, text);
            label_box(draw, x, y, width, LAYOUT_CALL - 1, DRAW_TEXT - 1, draw->theme.box_text, text);
        }
    }
}

static void draw_thread_runs(struct draw *draw, const struct lane *lane, struct process_colours colours)
{
    const struct lane_run *run = (const struct lane_run *)lane->runs.bytes;
    double pixel = (draw->right - draw->left) / draw->lanes.width, x = draw->left;
    const struct colour parts[] = {colours.user, colours.kernel, draw->theme.styles[STYLE_INTERRUPT]};

    for (size_t i = 0; i < lane_count(&lane->runs, sizeof(*run)); i++, run++) {
        double width = run->pixels * pixel, ready = LAYOUT_STRIP * run->shares[NODE_READY] / 100;

        if (run->what < MODEL_STATES)
            draw_state(draw, run->what, colours.user, x, width);
        draw_shares(draw, x, draw->top + LAYOUT_STRIP, width, LAYOUT_STRIP, run->shares, parts);
        if (ready > 0) /* from the top down */
            draw_pattern(draw, x, draw->top, width, ready, draw->ready);
        draw->is_drawn[STYLE_STATE + MODEL_READY] |= ready > 0;
        x += width;
    }
}

/* ---- labels, all lanes ----------------------------------------------------------------------------- */

static void label_lane(const struct draw *draw, double height, const char *text, const char *more)
{
    draw_colour(draw, draw->theme.text);
    draw_text(draw, 26, draw->top + height / 2 + DRAW_TEXT * 0.36, draw->left - 80, DRAW_TEXT, text);
    draw_colour(draw, draw->theme.quiet);
    draw_text(draw, draw->left - 52, draw->top + height / 2 + DRAW_TEXT * 0.36, 48, DRAW_TEXT - 1, more);
}

/* Wherever nothing is drawn on top, the state is unknown. */
static void draw_unknown_cpu(struct draw *draw, uint32_t cpu)
{
    char text[VIEW_NAME_BYTES];

    draw_pattern(draw, draw->left, draw->top + 1, draw->right - draw->left, LAYOUT_CPU - 2, draw->lost);
    snprintf(text, sizeof(text), "CPU %u", cpu);
    label_lane(draw, LAYOUT_CPU, text, "");
}

static void draw_cpu(struct draw *draw, const struct lane *lane)
{
    const struct lane_box *box = (const struct lane_box *)lane->boxes.bytes;
    uint64_t known = 0;

    for (size_t i = 0; i < lane_count(&lane->boxes, sizeof(*box)); i++) {
        draw_cpu_box(draw, box + i);
        known += box[i].end - box[i].begin;
    }
    if (!draw->lanes.is_exact)
        draw_cpu_runs(draw, lane);
    else
        draw->is_drawn[STYLE_LOST] |= known < draw->lanes.to - draw->lanes.from;
}

static void draw_thread(struct draw *draw, const struct lane *lane)
{
    const struct index_thread *thread = index_thread(&draw->view->index, lane->number);
    struct process_colours colours = draw_process_colours(draw, thread->pid);
    char text[VIEW_NAME_BYTES], tid[16];

    snprintf(tid, sizeof(tid), "%u", thread->tid);
    label_lane(draw, LAYOUT_STRIP, view_thread_name(draw->view, lane->number, text), tid);
    draw_box(draw, 11, draw->top + LAYOUT_STRIP / 2 - 4, 9, 9, colours.user);
    if (draw->lanes.is_exact) {
        draw_states(draw, lane, colours.user);
        draw_frames(draw, lane);
    } else {
        draw_thread_runs(draw, lane, colours);
    }
}

void draw_lanes(struct draw *draw)
{
    uint32_t count = index_thread_count(&draw->view->index), *places = lanes_places(&draw->lanes, count);
    double top = draw->top, bottom = top;

    draw->tops = alloc_zero(count + 1, sizeof(draw->tops[0]));
    for (uint32_t i = 0; i < count; i++)
        draw->tops[i] = -1;
    for (size_t i = 0; i < layout_count(&draw->layout); i++) {
        const struct layout_row *row = layout_row(&draw->layout, i);
        bool is_cpu = row->kind == LAYOUT_OF_CPU;
        uint32_t place = is_cpu ? row->number : places[row->number];

        if (row->height == 0 || (!is_cpu && place >= draw->lanes.thread_count))
            continue;
        draw->top = top + row->y;
        if (is_cpu) {
            draw_unknown_cpu(draw, row->cpu);
            if (place < draw->lanes.cpu_count)
                draw_cpu(draw, &draw->lanes.cpus[place]);
            else
                draw->is_drawn[STYLE_LOST] = true;
        } else {
            draw->top += DRAW_PADDING;
            draw->tops[row->number] = draw->top;
            draw_thread(draw, &draw->lanes.threads[place]);
            draw_box(draw, 0, top + row->y + row->height - 1, draw->right, 1, draw->theme.line);
        }
        bottom = top + row->y + row->height;
    }
    draw->top = bottom;
    free(places);
}
