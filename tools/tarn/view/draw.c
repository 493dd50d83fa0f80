/* draw.c - the picture as a whole: what is around the lanes; see draw.h. */
#include <cairo/cairo-svg.h>
#include <errno.h>
#include <math.h>
#include <tools/tarn/print/print.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/view/draw.h>
#include <tools/tarn/view/layout.h>
#include <tools/tarn/view/paint.h>

#define LEFT             200.0
#define TIME_BYTES       48u
#define TEXT_BYTES       160u
#define LEGEND           64.0 /* without marks */
#define LEGEND_LINE      18.0
#define LEGEND_MARK      200.0 /* maximum width of a mark in its line */
#define MARK_LINES       60u /* more marked events have no lines through the lanes, which would cover them */
#define DRAW_PADDING     2u
#define DRAW_TITLE       30.0
#define DRAW_DEPTH_MAX   4u /* of calls */
#define DRAW_AXIS_HEIGHT 26.0
#define DRAW_TEXT        11.0

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

static double draw_x(const struct draw *draw, uint64_t ticks)
{
    const struct lanes *lanes = &draw->lanes;
    return draw->left +
           (double)(ticks - lanes->from) * (draw->right - draw->left) / (double)(lanes->to - lanes->from);
}

static struct lane *lane_of_row(const struct draw *draw, const struct layout_row *row)
{
    return (row->kind == LAYOUT_OF_CPU ? draw->lanes.cpus : draw->lanes.threads)[row->number];
}

/* The height of all above the lanes: title, time axis, rows of marks. */
static double draw_above(const struct draw *draw)
{
    return DRAW_TITLE + DRAW_AXIS_HEIGHT + draw->mark_count * LAYOUT_MARK;
}

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

/* Draws a box on whole pixels, at least one wide. PROGRAM as for style_colour. */
static void draw_box(const struct draw *draw, double x, double y, double width, double height,
                     enum style style, const char *program)
{
    set_colour(draw->cairo, style_colour(draw->options->is_dark, style, program), 1);
    fill_box(draw, x, y, width, height);
}

/* The same with stripes, of a style that has them. */
static void draw_stripes(const struct draw *draw, double x, double y, double width, double height,
                         enum style style)
{
    cairo_set_source(draw->cairo, style == STYLE_LOST ? draw->lost : draw->ready);
    fill_box(draw, x, y, width, height);
}

/* Diagonal stripes, recognizable without colours. */
static cairo_pattern_t *draw_make_stripes(uint32_t colour)
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

static double draw_text_width(const struct draw *draw, double size, const char *text)
{
    cairo_text_extents_t extents;
    char part[TEXT_BYTES];
    copy_text(text, part);
    cairo_set_font_size(draw->cairo, size);
    cairo_text_extents(draw->cairo, part, &extents);
    return extents.x_advance;
}

/* Draws text, cut to WIDTH; nothing if not even a few letters fit. */
static void draw_text(const struct draw *draw, double x, double y, double width, double size,
                      enum style style, const char *text)
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

static void draw_lanes(struct draw *draw)
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

static void draw_links(struct draw *draw)
{
    BUFFER_EACH (const struct lane_wait, wait, &draw->lanes.waits)
        if (middle_of(draw, wait->thread) >= 0)
            draw_wait(draw, wait, middle_of(draw, wait->thread), middle_of(draw, wait->holder));
    draw_arrows(draw);
}

/* Asks for the lanes of the layout's threads. */
static void ask_for_lanes(struct draw *draw)
{
    bool *threads = alloc_zero(index_thread_count(&draw->view->index) + 1, sizeof(bool));
    bool *marked = alloc_zero(draw->view->trace.schema.event_count + 1, sizeof(bool));
    BUFFER_EACH (const struct layout_row, row, &draw->layout.rows)
        if (row->kind == LAYOUT_OF_THREAD)
            threads[row->number] = true;
    for (uint32_t i = 0; i < draw->mark_count; i++)
        marked[draw->marks[i]] = true;
    lanes_ask(&draw->lanes, draw->view, NULL, threads, marked);
    free(threads);
    free(marked);
}

/* Rows that end below the bottom get no height. */
static void place_rows(struct draw *draw)
{
    uint32_t y = 0, bottom = (uint32_t)fmax(0, draw->bottom - draw_above(draw));
    BUFFER_EACH (const struct layout_row, row, &draw->layout.rows) {
        struct lane *lane = lane_of_row(draw, row);
        uint32_t height = LAYOUT_CPU;
        if (lane == NULL)
            continue;
        if (!lane->is_cpu)
            height = LAYOUT_STRIP + 2 * DRAW_PADDING +
                     LAYOUT_CALL * (lane->depth < DRAW_DEPTH_MAX ? lane->depth : DRAW_DEPTH_MAX);
        lane->y = y;
        lane->height = y + height <= bottom ? height : 0;
        y += lane->height;
    }
}

static bool choose_lanes(struct draw *draw, struct fail *fail)
{
    double space = draw->bottom - draw_above(draw) - lanes_cpu_count(draw->view) * LAYOUT_CPU;
    uint32_t most = space > 0 ? (uint32_t)(space / (LAYOUT_STRIP + 2 * DRAW_PADDING)) : 0;
    const struct layout_options options = {
        .from = draw->lanes.from,
        .to = draw->lanes.to,
        .tids = draw->options->tids,
        .chosen = LANES_NOBODY,
        .most = most < draw->options->threads ? most : (uint32_t)draw->options->threads,
    };
    if (!layout_open(&draw->layout, draw->view, &options, fail))
        return false;
    ask_for_lanes(draw);
    lanes_find(&draw->lanes, draw->view);
    paint_open(&draw->paint, draw->view, &draw->lanes);
    place_rows(draw);
    return true;
}

/* More types than colours could not be distinguished. */
static bool choose_marks(struct draw *draw, struct fail *fail)
{
    const struct schema *schema = &draw->view->trace.schema;
    unsigned count = 0;
    for (unsigned i = 0; draw->options->marks != NULL && i < schema->event_count; i++)
        if (list_matches(draw->options->marks, schema->events[i]->name) && count++ < STYLE_MARKS)
            draw->marks[draw->mark_count++] = i;
    if (count > STYLE_MARKS)
        return fail_set(
            fail, "--mark %.60s matches %u event types, a picture can mark only %u; choose fewer of them",
            draw->options->marks, count, STYLE_MARKS);
    return draw->options->marks == NULL || draw->mark_count != 0 ||
           fail_set(fail, "the trace's schema has no event %.100s; `tarn stats` lists those in the trace",
                    draw->options->marks);
}

/* 1, 2 or 5 times a power of ten, so that labels fit. */
static double nice_step(double range, double labels)
{
    double step = pow(10, floor(log10(range / labels)));
    for (int i = 0; i < 3 && range / step > labels; i++)
        step *= i == 1 ? 2.5 : 2;
    return step < 1 ? 1 : step;
}

static void format_time(double ns, double step, char text[TIME_BYTES])
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
    snprintf(text, TIME_BYTES, "%.*f %s", decimals, ns / units[unit].unit, units[unit].name);
}

static void draw_axis(struct draw *draw)
{
    double from = (double)view_ns(draw->view, draw->lanes.from),
           to = (double)view_ns(draw->view, draw->lanes.to);
    double step = nice_step(to - from, (draw->right - draw->left) / 110), bottom = draw->bottom;
    char text[TIME_BYTES];
    for (double at = ceil(from / step) * step; at < to; at += step) {
        double x = draw->left + (at - from) * (draw->right - draw->left) / (to - from);
        draw_box(draw, x, draw->top + DRAW_AXIS_HEIGHT - 8, 1, bottom - draw->top - DRAW_AXIS_HEIGHT,
                 STYLE_LINE, NULL);
        format_time(at, step, text);
        draw_text(draw, x + 4, draw->top + 14, 120, DRAW_TEXT, STYLE_QUIET, text);
    }
    draw->top += DRAW_AXIS_HEIGHT;
}

static const char *mark_name(const struct draw *draw, uint32_t number)
{
    return draw->view->trace.schema.events[draw->marks[number]]->name;
}

static uint64_t mark_count(const struct draw *draw, uint32_t number)
{
    return draw->layout.tally.events[draw->marks[number]];
}

static void draw_marks(struct draw *draw, double top, double bottom)
{
    double pixel = (draw->right - draw->left) / draw->lanes.width;
    for (uint32_t i = 0; i < draw->mark_count; i++) {
        double y = top + i * LAYOUT_MARK;
        draw_box(draw, 0, y, draw->options->width, LAYOUT_MARK, STYLE_RAISED, NULL);
        draw_box(draw, 0, y + LAYOUT_MARK - 1, draw->options->width, 1, STYLE_LINE, NULL);
        draw_text(draw, 10, y + LAYOUT_MARK - 4, draw->left - 16, DRAW_TEXT, STYLE_TEXT, mark_name(draw, i));
        draw->top = y;
        paint_mark(&draw->paint, draw->marks[i], i);
        execute(draw, false);
        for (uint32_t at = 0; at < draw->lanes.width && mark_count(draw, i) <= MARK_LINES; at++)
            if (draw->lanes.counts[draw->marks[i]][at] > 0)
                draw_box(draw, draw->left + at * pixel, y + 2, 1, bottom - y - 2, STYLE_MARK + i, NULL);
    }
}

/* Adds an entry at AT: a sample of the style, and its text. Moves AT on. */
static void add_entry(const struct draw *draw, double at[2], enum style style, const char *shape,
                      const char *text)
{
    double space = draw_text_width(draw, DRAW_TEXT, text), height = *shape == 'l' ? 2 : 11;
    if (at[0] + 24 + space > draw->right) {
        at[0] = 10;
        at[1] += LEGEND_LINE;
    }
    draw_text(draw, at[0] + 20, at[1] + 10, 400, DRAW_TEXT, STYLE_TEXT, text);
    if (*shape == 's')
        draw_stripes(draw, at[0], at[1], 15, 11, style);
    else
        draw_box(draw, at[0], at[1] + (11 - height) / 2, 15, height, style, "fs" /* for example */);
    at[0] += 20 + space + 14;
}

static void draw_legend(struct draw *draw)
{
    double at[2] = {10, draw->options->height - draw->legend + 8};
    char text[160];
    draw_box(draw, 0, at[1] - 6, draw->options->width, draw->options->height - at[1] + 6, STYLE_RAISED, NULL);
    for (uint32_t i = 0; i < draw->mark_count; i++) {
        snprintf(text, sizeof(text), "%s: %llu", mark_name(draw, i), (unsigned long long)mark_count(draw, i));
        add_entry(draw, at, STYLE_MARK + i, "box", text);
    }
    for (enum style style = 0; style < STYLES; style++)
        if (draw->is_drawn[style] && styles[style].shape != NULL)
            add_entry(draw, at, style, styles[style].shape, styles[style].text);
}

static void draw_title(struct draw *draw)
{
    const struct view *view = draw->view;
    double from = (double)view_ns(view, draw->lanes.from), to = (double)view_ns(view, draw->lanes.to);
    char text[200], length[TIME_BYTES];
    draw_box(draw, 0, 0, draw->options->width, DRAW_TITLE, STYLE_RAISED, NULL);
    cairo_select_font_face(draw->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    draw_text(draw, 10, 20, LEFT - 20, 13, STYLE_TEXT, view_title(view));
    cairo_select_font_face(draw->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    format_time(to - from, (to - from) / 1000, length);
    snprintf(text, sizeof(text), "%.9f s to %.9f s, %s, %llu events", from * 1e-9, to * 1e-9, length,
             (unsigned long long)index_events_in(&view->index, draw->lanes.from, draw->lanes.to));
    draw_text(draw, LEFT, 20, draw->right - LEFT, DRAW_TEXT + 1, STYLE_TEXT, text);
    draw->top = DRAW_TITLE;
}

static bool is_svg(const struct draw_options *options)
{
    size_t length = strlen(options->file);
    return length > 4 && strcmp(options->file + length - 4, ".svg") == 0;
}

static bool write_picture(const struct draw *draw, struct fail *fail)
{
    cairo_surface_t *surface = cairo_get_target(draw->cairo);
    cairo_status_t status;
    errno = 0;
    if (!is_svg(draw->options)) {
        status = cairo_surface_write_to_png(surface, draw->options->file);
    } else {
        cairo_surface_finish(surface);
        status = cairo_surface_status(surface);
    }
    return status == CAIRO_STATUS_SUCCESS || fail_set(fail, "cannot write %s: %s", draw->options->file,
                                                      errno != 0 ? strerror(errno) : "Cairo could not");
}

static bool draw_all(struct draw *draw, struct fail *fail)
{
    double top;
    draw->is_drawn[STYLE_PROGRAM] = draw->is_drawn[STYLE_KERNEL] = true;
    draw->is_drawn[STYLE_INTERRUPT] = draw->is_drawn[STYLE_IDLE] = true;
    draw_box(draw, 0, 0, draw->options->width, draw->options->height, STYLE_BACKGROUND, NULL);
    draw_title(draw);
    draw_axis(draw);
    top = draw->top;
    draw->top = draw_above(draw);
    draw_lanes(draw);
    draw_links(draw);
    draw->bottom = draw->top < draw->bottom ? draw->top : draw->bottom;
    draw_marks(draw, top, draw->bottom);
    draw_legend(draw);
    return write_picture(draw, fail);
}

static void open_picture(struct draw *draw)
{
    const struct draw_options *options = draw->options;
    cairo_surface_t *surface =
        is_svg(options)
            ? cairo_svg_surface_create(options->file, options->width, options->height)
            : cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)options->width, (int)options->height);
    draw->cairo = cairo_create(surface);
    cairo_surface_destroy(surface); /* the drawing owns it */
    draw->ready = draw_make_stripes(style_colour(options->is_dark, STYLE_STATE + MODEL_READY, NULL));
    draw->lost = draw_make_stripes(style_colour(options->is_dark, STYLE_LOST, NULL));
}

bool draw_picture(const struct view *view, const struct draw_options *options, struct fail *fail)
{
    struct draw draw = {.view = view, .options = options, .left = LEFT, .right = options->width - 12.0};
    bool ok;
    draw.lanes = (struct lanes){.from = view_ticks(view, options->from),
                                .to = view_ticks(view, options->to),
                                .width = (uint32_t)(draw.right - draw.left)};
    ok = (draw.lanes.from < draw.lanes.to || fail_set(fail, "nothing in this range")) &&
         choose_marks(&draw, fail);
    draw.legend = LEGEND + LEGEND_LINE * ceil(draw.mark_count * LEGEND_MARK / options->width);
    draw.bottom = options->height - draw.legend;
    if (ok) {
        open_picture(&draw);
        ok = choose_lanes(&draw, fail) && draw_all(&draw, fail);
        cairo_pattern_destroy(draw.ready);
        cairo_pattern_destroy(draw.lost);
        cairo_destroy(draw.cairo);
    }
    paint_close(&draw.paint);
    layout_close(&draw.layout);
    lanes_free(&draw.lanes);
    return ok;
}
