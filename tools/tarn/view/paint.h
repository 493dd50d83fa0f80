/*
 * paint.h - what lanes look like: drawing commands, which the page (page/paint.js), the PNG and the SVG
 * (draw.c) execute.
 *
 * A command is a box with a look, which is numbered when it is first needed. Executors follow these rules:
 *
 * - PAINT_FILL: a box, labelled inside if it is wider than 14 pixels, up to 90 with `brief`; without one only
 *   above 40. PAINT_LINE: a line, labelled over it if it is wider than 90 pixels. PAINT_STRIPES: diagonal
 *   stripes, or a fill below 3 pixels. Everything is at least one pixel wide. Boxes of rows of calls leave a
 *   pixel free at their end.
 * - If there is `space`, the box has, on that, from `bottom` up, its shares for user, kernel and interrupts,
 *   in percent of `space`; each above 0 is at least a pixel high. The fourth share is stripes of the style
 *   `over`, from the top of that space down, or nothing.
 */
#pragma once

#include <tools/tarn/view/lanes.h>
#include <tools/tarn/view/styles.h>

enum paint_shape { PAINT_NONE, PAINT_FILL, PAINT_LINE, PAINT_STRIPES };
#define PAINT_BRIEF 90u
#define PAINT_LEAST 14u
#define PAINT_WHOLE 40u

/* How arrows are drawn, by enum arrow_kind. More than PAINT_CALM are fainter; more than PAINT_ARROWS would
 * hide the lanes, and are left out. */
struct paint_arrow {
    const char *name;
    enum style style;
    bool is_dashed;
};
extern const struct paint_arrow paint_arrows[ARROW_KINDS];
#define PAINT_CALM   60u
#define PAINT_ARROWS 400u

struct look {
    enum paint_shape shape;
    uint32_t y, height; /* pixels, in the lane without its padding */
    enum style style;
    const char *program; /* whose colour STYLE_PROGRAM and STYLE_KERNEL stand for */
    const char *label, *brief;
    /* Lines NAME, tab, VALUE, below the lane's title; PAINT_TIME stands for the box's time. With
     * shares: the name of the part without one, then such lines. */
    const char *tip;
    uint32_t bottom, space; /* of the shares; pixels */
    enum style over;        /* STYLES: none */
};
#define PAINT_TIME "\x01"

struct paint_command {
    const struct look *look;
    struct lane_box box;
};

struct paint {
    const struct view *view;
    const struct lanes *lanes;
    struct map looks;       /* struct look */
    struct buffer commands; /* struct paint_command, of the row painted last */
};

/* The view's lock is held as long as the paint is used. */
void paint_open(struct paint *paint, const struct view *view, const struct lanes *lanes);
void paint_close(struct paint *paint);
/* Makes the commands of a row: 0 has states or what a CPU does, N the calls of depth N - 1. */
void paint_row(struct paint *paint, const struct lane *lane, uint32_t row);
/* The same for a marked event type: a row whose height shows the number of events; one is already visible.
 * COLOUR: of STYLE_MARK. */
void paint_mark(struct paint *paint, uint32_t type, unsigned colour);

/* The name of a process's program, or "unknown". */
const char *paint_program(const struct view *view, uint32_t pid);
/* Texts that are kept as long as the paint. */
const char *paint_title(struct paint *paint, const struct lane *lane);
const char *paint_wait_tip(struct paint *paint, const struct lane_wait *wait);
