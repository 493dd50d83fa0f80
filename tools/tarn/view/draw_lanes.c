/* draw_lanes.c - executes the drawing commands of lanes (paint.h) for the PNG and the SVG, and draws the
 * connections between them as page/links.js does; see draw.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/print/print_value.h>
#include <tools/tarn/view/draw.h>

#define TEXT_BYTES 160u

static void set_colour(cairo_t *cairo, uint32_t colour, double alpha)
{
    cairo_set_source_rgba(cairo, (colour >> 16) / 255.0, (colour >> 8 & 255) / 255.0, (colour & 255) / 255.0,
                          alpha);
}

static void draw_colour(const struct draw *draw, enum style style, double alpha)
{
    set_colour(draw->cairo, style_colour(draw->options->is_dark, style, NULL), alpha);
}

static void fill_box(const struct draw *draw, double x, double y, double width, double height)
{
    double from = round(x), to = round(x + width), over = round(y), under = round(y + height);
    cairo_rectangle(draw->cairo, from, over, to > from ? to - from : 1, under > over ? under - over : 1);
    cairo_fill(draw->cairo);
}

void draw_box(const struct draw *draw, double x, double y, double width, double height, enum style style,
              const char *program)
{
    set_colour(draw->cairo, style_colour(draw->options->is_dark, style, program), 1);
    fill_box(draw, x, y, width, height);
}

void draw_stripes(const struct draw *draw, double x, double y, double width, double height, enum style style)
{
    cairo_set_source(draw->cairo, style == STYLE_LOST ? draw->lost : draw->ready);
    fill_box(draw, x, y, width, height);
}

/* Diagonal stripes, recognizable without colours. */
cairo_pattern_t *draw_make_stripes(uint32_t colour)
{
    cairo_surface_t *tile = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 8, 8);
    cairo_t *cairo = cairo_create(tile);
    cairo_pattern_t *pattern;
    set_colour(cairo, colour, 1);
    cairo_set_line_width(cairo, 2.5);
    for (int x = -8; x <= 8; x += 8) {
        cairo_move_to(cairo, x - 2, 10);
        cairo_line_to(cairo, x + 10, -2);
    }
    cairo_stroke(cairo);
    cairo_destroy(cairo);
    pattern = cairo_pattern_create_for_surface(tile);
    cairo_pattern_set_extend(pattern, CAIRO_EXTEND_REPEAT);
    cairo_surface_destroy(tile);
    return pattern;
}

/* Copies text. A trace may contain anything, but cairo needs UTF-8. */
static size_t copy_text(const char *text, char part[TEXT_BYTES])
{
    struct buffer valid = {0};
    size_t length;
    buffer_utf8(&valid, text, strlen(text));
    length = valid.used < TEXT_BYTES ? valid.used : TEXT_BYTES - 1;
    while (length < valid.used && (valid.bytes[length] & 0xc0) == 0x80)
        length--;
    memcpy(part, valid.used != 0 ? (const char *)valid.bytes : "", length);
    part[length] = '\0';
    free(valid.bytes);
    return length;
}

double draw_text_width(const struct draw *draw, double size, const char *text)
{
    cairo_text_extents_t extents;
    char part[TEXT_BYTES];
    copy_text(text, part);
    cairo_set_font_size(draw->cairo, size);
    cairo_text_extents(draw->cairo, part, &extents);
    return extents.x_advance;
}

void draw_text(const struct draw *draw, double x, double y, double width, double size, enum style style,
               const char *text)
{
    char part[TEXT_BYTES];
    size_t length = copy_text(text, part);
    double space;
    while ((space = draw_text_width(draw, size, part)) > width && length > 2) {
        while (length > 1 && (part[length - 1] & 0xc0) == 0x80)
            length--;
        part[--length] = '\0';
    }
    if (space > width)
        return;
    draw_colour(draw, style, 1);
    cairo_move_to(draw->cairo, x, y);
    cairo_show_text(draw->cairo, part);
}

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

static void draw_shape(struct draw *draw, const struct look *look, double x, double width, bool is_call)
{
    double y = draw->top + look->y;
    draw->is_drawn[look->style] = true;
    if (look->shape == PAINT_STRIPES && width >= 3)
        draw_stripes(draw, x, y, width, look->height, look->style);
    else if (look->shape != PAINT_NONE)
        draw_box(draw, x, y, is_call && width > 2 ? width - 1 : width, look->height, look->style,
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

/* Executes the commands of the row that was painted last. */
static void execute(struct draw *draw, bool are_calls)
{
    BUFFER_EACH (const struct paint_command, command, &draw->paint.commands) {
        const struct lane_box *box = &command->box;
        double x = draw_x(draw, box->begin), width = draw_x(draw, box->end) - x;
        draw_shape(draw, command->look, x, width, are_calls);
        if (command->look->space != 0)
            draw_shares(draw, command->look, box->shares, x, width);
    }
}

void draw_mark(struct draw *draw, uint32_t number, double y)
{
    draw->top = y;
    paint_mark(&draw->paint, draw->marks[number], number);
    execute(draw, false);
}

static void label_lane(const struct draw *draw, const struct layout_row *row)
{
    double height = row->kind == LAYOUT_OF_CPU ? LAYOUT_CPU : LAYOUT_STRIP;
    double y = draw->top + height / 2 + DRAW_TEXT * 0.36;
    struct layout_texts texts;
    layout_name(&draw->layout, row, &texts);
    draw_text(draw, 26, y, draw->left - 80, DRAW_TEXT, STYLE_TEXT, texts.label);
    draw_text(draw, draw->left - 52, y, 48, DRAW_TEXT - 1, STYLE_QUIET, texts.number);
    if (row->kind == LAYOUT_OF_THREAD)
        draw_box(draw, 11, draw->top + LAYOUT_STRIP / 2 - 4, 9, 9, STYLE_PROGRAM,
                 paint_program(draw->view, row->pid));
}

void draw_lanes(struct draw *draw)
{
    double top = draw->top, bottom = top;
    BUFFER_EACH (const struct layout_row, row, &draw->layout.rows) {
        const struct lane *lane = lane_of_row(draw, row);
        if (lane == NULL || lane->height == 0)
            continue;
        draw->top = top + lane->y + (lane->is_cpu ? 0 : DRAW_PADDING);
        label_lane(draw, row);
        for (uint32_t depth = 0; depth <= lane->depth && depth <= DRAW_DEPTH_MAX; depth++) {
            paint_row(&draw->paint, lane, depth);
            execute(draw, depth > 0);
        }
        bottom = top + lane->y + lane->height;
        if (!lane->is_cpu)
            draw_box(draw, 0, bottom - 1, draw->right, 1, STYLE_LINE, NULL);
    }
    draw->top = bottom;
}

/* The middle of a thread's strip; -1: it is not drawn. */
static double middle_of(const struct draw *draw, uint32_t thread)
{
    const struct lane *lane = thread < draw->lanes.thread_count ? draw->lanes.threads[thread] : NULL;
    return lane != NULL && lane->height != 0 ? draw_above(draw) + lane->y + DRAW_PADDING + LAYOUT_STRIP / 2
                                             : -1;
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
    uint32_t count = 0;
    for (unsigned pass = 0; pass < 2 && count <= PAINT_ARROWS; pass++) {
        double alpha = count > PAINT_CALM ? 0.25 + 0.4 * PAINT_CALM / count : 0.65;
        BUFFER_EACH (const struct lane_arrow, arrow, &draw->lanes.arrows) {
            double from = middle_of(draw, arrow->from), to = middle_of(draw, arrow->to);
            if (from < 0 || to < 0 || arrow->from == arrow->to)
                continue;
            if (pass == 0)
                count++;
            else
                draw_arrow(draw, arrow, from, to, alpha);
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
    BUFFER_EACH (const struct lane_wait, wait, &draw->lanes.waits)
        if (middle_of(draw, wait->thread) >= 0)
            draw_wait(draw, wait, middle_of(draw, wait->thread), middle_of(draw, wait->holder));
    draw_arrows(draw);
}
