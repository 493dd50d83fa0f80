/* SPDX-License-Identifier: BSD-2-Clause */
/* draw.c - the PNG as a whole: choice of threads, layout; see draw.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/view/cover.h>
#include <tools/tarn/view/draw_parts.h>
#include <tools/tarn/view/puller.h>

#define LEFT        200.0
#define TITLE       30.0
#define THREADS_MIN 14.0 /* minimum height of a thread's lane in pixels */
#define ARROWS_MOST 2000u

void draw_colour(const struct draw *draw, struct colour colour)
{
    cairo_set_source_rgb(draw->cairo, colour.red, colour.green, colour.blue);
}

static void fill_box(const struct draw *draw, double x, double y, double width, double height)
{
    double from = round(x), to = round(x + width), over = round(y), under = round(y + height);

    cairo_rectangle(draw->cairo, from, over, to > from ? to - from : 1, under > over ? under - over : 1);
    cairo_fill(draw->cairo);
}

void draw_box(const struct draw *draw, double x, double y, double width, double height, struct colour colour)
{
    draw_colour(draw, colour);
    fill_box(draw, x, y, width, height);
}

void draw_pattern(const struct draw *draw, double x, double y, double width, double height,
                  cairo_pattern_t *pattern)
{
    cairo_set_source(draw->cairo, pattern);
    fill_box(draw, x, y, width, height);
}

/* Diagonal stripes, recognizable without colours. */
static cairo_pattern_t *make_stripes(struct colour colour)
{
    cairo_surface_t *tile = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 8, 8);
    cairo_t *cairo = cairo_create(tile);
    cairo_pattern_t *pattern;

    cairo_set_source_rgb(cairo, colour.red, colour.green, colour.blue);
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

void draw_text(const struct draw *draw, double x, double y, double width, double size, const char *text)
{
    cairo_text_extents_t extents;
    char part[128];
    size_t length = (size_t)snprintf(part, sizeof(part), "%s", text);

    if (length >= sizeof(part))
        length = sizeof(part) - 1;
    cairo_set_font_size(draw->cairo, size);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)part[i] < 0x20 || (unsigned char)part[i] >= 0x7f)
            part[i] = '?'; /* a trace may contain anything, but cairo needs UTF-8 */
    for (cairo_text_extents(draw->cairo, part, &extents); extents.x_advance > width && length > 2;
         cairo_text_extents(draw->cairo, part, &extents))
        part[--length] = '\0';
    if (extents.x_advance > width)
        return;
    cairo_move_to(draw->cairo, x, y);
    cairo_show_text(draw->cairo, part);
}

/* ---- processes ------------------------------------------------------------------------------------- */

/* Returns the name of the last process with this pid, as on the page. */
const char *draw_process_name(const struct draw *draw, uint32_t pid, char text[32])
{
    const struct index *index = &draw->view->index;

    for (size_t i = index_process_count(index); i > 0; i--)
        if (index_process(index, i - 1)->pid == pid)
            return index_process(index, i - 1)->name;
    if (pid == MODEL_NOBODY)
        return "unknown";
    snprintf(text, 32, "process %u", pid);
    return text;
}

struct process_colours draw_process_colours(const struct draw *draw, uint32_t pid)
{
    char text[32];

    return theme_process(&draw->theme, draw_process_name(draw, pid, text));
}

/* ---- choice of threads ----------------------------------------------------------------------------- */

/* A thread's CPU time, and that of its process. */
struct busy {
    uint32_t number, pid;
    uint64_t ran, together;
};

static int by_time(const void *left, const void *right)
{
    const struct busy *a = left, *b = right;

    return a->ran != b->ran ? (a->ran > b->ran ? -1 : 1) : a->number < b->number ? -1 : 1;
}

static int by_pid(const void *left, const void *right)
{
    const struct busy *a = left, *b = right;

    return a->pid != b->pid ? (a->pid < b->pid ? -1 : 1) : 0;
}

/* Keeps processes together: the busiest first, and in each the busiest thread first. */
static int by_process(const void *left, const void *right)
{
    const struct busy *a = left, *b = right;

    if (a->together != b->together)
        return a->together > b->together ? -1 : 1;
    return by_pid(left, right) ? by_pid(left, right) : by_time(left, right);
}

/* Returns all threads with events in the range; the caller frees them. */
static struct busy *find_busy(const struct draw *draw, uint32_t *count, struct fail *fail)
{
    const struct view *view = draw->view;
    struct tally tally;
    struct busy *busy;
    bool fine;

    *count = 0;
    tally_open(&tally, &view->trace);
    fine = cover_sum(&view->index, &view->trace, draw->lanes.from, draw->lanes.to, &tally, fail);
    busy = alloc_zero(tally.touched_count + 1, sizeof(*busy));
    for (uint32_t i = 0; fine && i < tally.touched_count; i++) {
        uint32_t number = tally.touched[i];
        const uint64_t *ticks = tally.threads[number].ticks;

        if (number < index_thread_count(&view->index) && !index_thread(&view->index, number)->is_idle)
            busy[(*count)++] =
                (struct busy){.number = number,
                              .pid = index_thread(&view->index, number)->pid,
                              .ran = ticks[NODE_USER] + ticks[NODE_KERNEL] + ticks[NODE_INTERRUPT]};
    }
    tally_close(&tally);
    if (fine)
        return busy;
    free(busy);
    return NULL;
}

static void choose_busiest(struct busy *busy, uint32_t count, uint32_t most, bool *threads)
{
    qsort(busy, count, sizeof(*busy), by_time);
    for (uint32_t i = 0; i < count && i < most; i++)
        threads[busy[i].number] = busy[i].ran > 0;
}

static bool choose_by_tid(const struct draw *draw, bool *threads, struct fail *fail)
{
    bool any = false;

    for (uint32_t i = 0; i < index_thread_count(&draw->view->index); i++)
        any |= threads[i] = list_has(draw->options->tids, index_thread(&draw->view->index, i)->tid);
    return any || fail_set(fail, "the trace has no thread %.100s; `tarn threads --top 0` lists its threads",
                           draw->options->tids);
}

static void sum_processes(struct busy *busy, uint32_t count)
{
    qsort(busy, count, sizeof(*busy), by_pid);
    for (uint32_t first = 0, end; first < count; first = end) {
        uint64_t together = 0;

        for (end = first; end < count && busy[end].pid == busy[first].pid; end++)
            together += busy[end].ran;
        for (uint32_t i = first; i < end; i++)
            busy[i].together = together;
    }
}

static void order_lanes(struct lanes *lanes, const struct view *view, struct busy *busy, uint32_t count)
{
    uint32_t threads = index_thread_count(&view->index), *places = lanes_places(lanes, threads), used = 0;
    struct lane *ordered = alloc_zero(lanes->thread_count + 1, sizeof(*ordered));

    sum_processes(busy, count);
    qsort(busy, count, sizeof(*busy), by_process);
    for (uint32_t i = 0; i < count; i++)
        if (places[busy[i].number] != UINT32_MAX) {
            ordered[used++] = lanes->threads[places[busy[i].number]];
            places[busy[i].number] = UINT32_MAX;
        }
    for (uint32_t i = 0; i < lanes->thread_count; i++) /* those without CPU time */
        if (places[lanes->threads[i].number] != UINT32_MAX)
            ordered[used++] = lanes->threads[i];
    free(places);
    free(lanes->threads);
    lanes->threads = ordered;
}

static bool choose_lanes(struct draw *draw, struct fail *fail)
{
    const struct view *view = draw->view;
    double left = draw->bottom - TITLE - DRAW_AXIS_HEIGHT - view->trace.stream_count * (DRAW_CPU_HEIGHT + 1);
    uint32_t count, room = left > 0 ? (uint32_t)(left / (THREADS_MIN + DRAW_GAP)) : 0;
    struct busy *busy = find_busy(draw, &count, fail);
    bool *threads, *cpus, fine = true;

    if (busy == NULL)
        return false;
    threads = alloc_zero(index_thread_count(&view->index) + 1, sizeof(bool));
    cpus = alloc_zero(view->trace.stream_count + 1, sizeof(bool));
    memset(cpus, true, view->trace.stream_count);
    if (draw->options->tids != NULL)
        fine = choose_by_tid(draw, threads, fail);
    else
        choose_busiest(busy, count, room < draw->options->threads ? room : draw->options->threads, threads);
    lanes_ask(&draw->lanes, view, cpus, threads);
    order_lanes(&draw->lanes, view, busy, count);
    free(busy);
    free(threads);
    free(cpus);
    return fine;
}

/* More types than colours could not be distinguished. */
static bool refuse_marks(const struct draw *draw, unsigned count, struct fail *fail)
{
    const struct schema *schema = &draw->view->trace.schema;
    char names[200] = "";
    size_t used = 0;

    for (unsigned i = 0; i < draw->mark_count && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "",
                                 schema->events[draw->marks[i].type]->name);
    return fail_set(
        fail, "--mark %.60s matches %u event types, but a picture can mark only %u; choose fewer of %s, ...",
        draw->options->marks, count, DRAW_MARKS_MAX, names);
}

static bool choose_marks(struct draw *draw, struct fail *fail)
{
    const struct schema *schema = &draw->view->trace.schema;
    unsigned count = 0;

    for (unsigned i = 0; draw->options->marks != NULL && i < schema->event_count; i++)
        if (list_matches(draw->options->marks, schema->events[i]->name) && count++ < DRAW_MARKS_MAX)
            draw->marks[draw->mark_count++].type = i;
    if (count > DRAW_MARKS_MAX)
        return refuse_marks(draw, count, fail);
    return draw->options->marks == NULL || draw->mark_count != 0 ||
           fail_set(fail, "the trace's schema has no event %.100s; `tarn stats` lists those in the trace",
                    draw->options->marks);
}

/* ---- the picture ----------------------------------------------------------------------------------- */

/* Returns the most specific end of the trace's path; for a source, the whole name. */
static const char *short_name(const char *name)
{
    size_t slashes = is_source(name) ? 2 : 0;

    for (const char *at = name + strlen(name); at > name && slashes < 2; at--)
        if (at[-1] == '/' && at[0] != '\0' && ++slashes == 2)
            return at;
    return name;
}

static void draw_title(struct draw *draw)
{
    const struct view *view = draw->view;
    double from = (double)view_ns(view, draw->lanes.from) * 1e-9,
           to = (double)view_ns(view, draw->lanes.to) * 1e-9;
    char text[200];

    draw_box(draw, 0, 0, draw->options->width, TITLE, draw->theme.raised);
    cairo_select_font_face(draw->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    draw_colour(draw, draw->theme.text);
    draw_text(draw, 10, 20, LEFT - 20, 13, short_name(view_name(view)));
    cairo_select_font_face(draw->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    snprintf(text, sizeof(text), "%.9f s to %.9f s, %.4g %s, %llu events", from, to,
             (to - from) * (to - from < 0.9995e-3 ? 1e6
                            : to - from < 0.9995  ? 1e3
                                                  : 1),
             to - from < 0.9995e-3 ? "us"
             : to - from < 0.9995  ? "ms"
                                   : "s",
             (unsigned long long)index_events_in(&view->index, draw->lanes.from, draw->lanes.to));
    draw_text(draw, LEFT, 20, draw->right - LEFT, DRAW_TEXT + 1, text);
    draw->top = TITLE;
}

static bool draw_all(struct draw *draw, struct fail *fail)
{
    double top;

    draw_box(draw, 0, 0, draw->options->width, draw->options->height, draw->theme.background);
    draw_title(draw);
    draw_axis(draw);
    top = draw->top;
    draw_lanes(draw);
    draw_links(draw);
    draw->bottom = draw->top < draw->bottom ? draw->top : draw->bottom;
    draw->top = top;
    draw_marks(draw, draw->bottom);
    draw_legend(draw);
    if (cairo_surface_write_to_png(cairo_get_target(draw->cairo), draw->options->file) !=
        CAIRO_STATUS_SUCCESS)
        return fail_set(fail, "cannot write %s", draw->options->file);
    return true;
}

static void open_picture(struct draw *draw)
{
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)draw->options->width, (int)draw->options->height);

    draw->cairo = cairo_create(surface);
    cairo_surface_destroy(surface); /* the drawing owns it */
    theme_load(&draw->theme, draw->options->is_dark);
    draw->ready = make_stripes(draw->theme.states[MODEL_READY]);
    draw->lost = make_stripes(draw->theme.lost);
}

static void close_picture(struct draw *draw)
{
    cairo_pattern_destroy(draw->ready);
    cairo_pattern_destroy(draw->lost);
    cairo_destroy(draw->cairo);
}

bool draw_png(const struct view *view, const struct draw_options *options, struct fail *fail)
{
    struct draw draw = {.view = view, .options = options, .left = LEFT, .right = options->width - 12.0};
    bool fine;

    draw.lanes.from = view_ticks(view, options->from);
    draw.lanes.to = view_ticks(view, options->to);
    draw.lanes.width = (uint32_t)(draw.right - draw.left);
    draw.lanes.arrow_most = ARROWS_MOST;
    if (draw.lanes.from >= draw.lanes.to)
        return fail_set(fail, "nothing in this range");
    if (!choose_marks(&draw, fail))
        return false;
    draw.legend = DRAW_LEGEND + DRAW_LEGEND_LINE * ceil(draw.mark_count * DRAW_LEGEND_MARK / options->width);
    draw.bottom = options->height - draw.legend;
    open_picture(&draw);
    fine = choose_lanes(&draw, fail) && lanes_find(&draw.lanes, view, fail);
    if (fine) {
        draw.tops = alloc_zero(draw.lanes.thread_count + 1, sizeof(draw.tops[0]));
        fine = draw_all(&draw, fail);
    }
    free(draw.tops);
    lanes_free(&draw.lanes);
    close_picture(&draw);
    return fine;
}
