/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/view/draw_parts.h - what the files of the PNG share: draw.c (the page), draw_lanes.c (what is in
 * it), draw_legend.c (what explains it). */
#ifndef TARN_DRAW_PARTS_H
#define TARN_DRAW_PARTS_H

#include <cairo/cairo.h>
#include <tools/tarn/view/draw.h>

#define DRAW_MARKS_MAX 8u

struct colour {
    double red, green, blue;
};

struct theme {
    struct colour back, lane, line, text, faint;
    struct colour idle, interrupt;
    double kernel; /* how bright the kernel is beside the process that it works for */
    struct colour states[MODEL_STATES];
    struct colour activities[ACTIVITIES];
    struct colour marks[DRAW_MARKS_MAX];
};
extern const struct theme theme_light, theme_dark;

/* Which kinds of events are marked, and how many of each there are. */
struct draw_mark {
    uint32_t type;
    uint64_t count;
};

struct draw {
    const struct view *view;
    const struct draw_options *options;
    const struct theme *theme;
    cairo_t *cairo;
    struct lanes lanes;
    double left, top, right; /* of the lanes, pixels; top moves down while they are drawn */
    uint32_t frame_rows;     /* of nested calls, for each thread */
    struct draw_mark marks[DRAW_MARKS_MAX];
    uint32_t mark_count;
    bool has_state[MODEL_STATES], has_activity[ACTIVITIES]; /* were drawn */
};

#define DRAW_CPU_HEIGHT   24.0
#define DRAW_STATE_HEIGHT 13.0
#define DRAW_FRAME_HEIGHT 11.0
#define DRAW_GAP          6.0
#define DRAW_AXIS_HEIGHT  26.0
#define DRAW_TEXT         11.0

void draw_colour(const struct draw *draw, struct colour colour);
void draw_box(const struct draw *draw, double x, double y, double width, double height, struct colour colour);
/* Cut to WIDTH; nothing when not even a few letters fit. */
void draw_text(const struct draw *draw, double x, double y, double width, double size, const char *text);
struct colour draw_process_colour(const struct draw *draw, uint32_t pid);
struct colour draw_shade(struct colour colour, double share, struct colour other); /* SHARE of the first */

void draw_lanes(struct draw *draw);
void draw_axis(struct draw *draw);
void draw_marks(struct draw *draw, double bottom);
void draw_legend(struct draw *draw);
double draw_thread_height(const struct draw *draw);

#endif
