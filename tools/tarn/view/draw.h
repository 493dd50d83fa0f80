/*
 * draw.h - the lanes as a picture: title, time axis, a row per marked event type, a lane per CPU, a lane per
 * chosen thread with its nested calls, legend.
 */
#pragma once

#include <cairo/cairo.h>
#include <tools/tarn/view/layout.h>
#include <tools/tarn/view/paint.h>

#define DRAW_SIDE_MAX 16384u /* pixels */

struct draw_options {
    const char *file;  /* PNG, or SVG by its name */
    uint64_t from, to; /* nanoseconds since the start */
    uint32_t width, height;
    /* number of the busiest threads to show, if there is space; UINT64_MAX: as many as fit */
    uint64_t threads;
    const char *tids;  /* or these threads; NULL: the busiest */
    const char *marks; /* patterns of event names; NULL: none */
    bool is_dark;
};

/* The view's lock is held. */
bool draw_picture(const struct view *view, const struct draw_options *options, struct fail *fail);

/* For draw.c (what is around the lanes) and draw_lanes.c (lanes and connections). */

struct draw {
    const struct view *view;
    const struct draw_options *options;
    cairo_t *cairo;
    cairo_pattern_t *ready, *lost; /* stripes */
    struct lanes lanes;
    struct layout layout;
    struct paint paint;
    double left, top, right, bottom; /* of the lanes, in pixels; top moves down while they are drawn */
    double legend;                   /* its height */
    uint32_t marks[STYLE_MARKS];     /* event types */
    uint32_t mark_count;
    bool is_drawn[STYLES]; /* for the legend */
};

#define DRAW_PADDING     2u
#define DRAW_TITLE       30.0
#define DRAW_DEPTH_MAX   4u /* of calls */
#define DRAW_AXIS_HEIGHT 26.0
#define DRAW_TEXT        11.0

static inline double draw_x(const struct draw *draw, uint64_t ticks)
{
    const struct lanes *lanes = &draw->lanes;
    return draw->left +
           (double)(ticks - lanes->from) * (draw->right - draw->left) / (double)(lanes->to - lanes->from);
}

static inline struct lane *lane_of_row(const struct draw *draw, const struct layout_row *row)
{
    return (row->kind == LAYOUT_OF_CPU ? draw->lanes.cpus : draw->lanes.threads)[row->number];
}

/* The height of all above the lanes: title, time axis, rows of marks. */
static inline double draw_above(const struct draw *draw)
{
    return DRAW_TITLE + DRAW_AXIS_HEIGHT + draw->mark_count * LAYOUT_MARK;
}

/* Draws a box on whole pixels, at least one wide. PROGRAM as for style_colour. */
void draw_box(const struct draw *draw, double x, double y, double width, double height, enum style style,
              const char *program);
/* The same with stripes, of a style that has them. */
void draw_stripes(const struct draw *draw, double x, double y, double width, double height, enum style style);
cairo_pattern_t *draw_make_stripes(uint32_t colour);
double draw_text_width(const struct draw *draw, double size, const char *text);
/* Draws text, cut to WIDTH; nothing if not even a few letters fit. */
void draw_text(const struct draw *draw, double x, double y, double width, double size, enum style style,
               const char *text);

void draw_lanes(struct draw *draw);
void draw_mark(struct draw *draw, uint32_t number, double y); /* the row of a marked event type */
void draw_links(struct draw *draw);
