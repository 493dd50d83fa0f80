/*
 * api_list.c - /api/list?at=TIME (or n=) &before=N&after=N: events around a time, oldest first.
 *
 * {rows: [{n, t, cpu (rank), pid, tid, comm, event, name, color, fields: {name: text}}], before, start, from,
 * to, total, walked}. The first `before` rows are earlier; start is the first event that is not. All events
 * from
 * <= n < to were checked, `walked` of them one by one. It ends after about 60 ms: continue with n=from or
 * n=to, as a search does, which asks for one row. At most 2000 rows in either direction (after: 50). Selected
 * by events=, cpus=, tids= (of the running thread); text=, a part of the event's name, of the thread's or of
 * a text or label in a field, case-insensitive, a number is compared with all fields.
 */
#include <stdlib.h>
#include <tools/tarn/index/index.h>
#include <tools/tarn/print/print_value.h>
#include <tools/tarn/source/source.h>
#include <tools/tarn/view/match.h>
#include <tools/tarn/view/paint.h>

#define ROWS_MAX     2000u
#define SEARCH_MS    60    /* then the page continues with another request */
#define CLOCK_EVENTS 4096u /* between checks of the time */

struct list {
    struct view *view;
    struct match match;
    uint64_t walked;         /* events checked */
    uint64_t start;          /* number of the first event at or after the time */
    uint64_t before, after;  /* rows asked for, earlier than the start and from there on ... */
    uint64_t earlier, later; /* ... and added */
    double deadline;         /* now_seconds() */
};

/* Adds the value of a field, as `tarn list` prints it, but without quotes and escapes. */
static void add_field(struct json *json, const struct field *field, const struct event *event,
                      struct buffer *text)
{
    char *start, *at;
    json_key(json, field->name, strlen(field->name));
    if (field->kind == FIELD_TEXT || field->kind == FIELD_STRING) {
        json_text(json, (const char *)event->bytes + field->offset, field_text_length(field, event));
        return;
    }
    text->used = 0;
    start = (char *)buffer_reserve(text, value_capacity(field, false));
    if (field->kind == FIELD_ENUM)
        at = put_enum(start, field_integer(field, event->bytes), field, PRINT_TEXT);
    else if (field->kind == FIELD_INTEGER)
        at = put_number(start, field_integer(field, event->bytes), field, PRINT_TEXT);
    else
        at = put_list(start, event, field, PRINT_TEXT);
    json_text(json, start, (size_t)(at - start));
}

static void add_row(const struct list *list, const struct cursor *cursor, uint64_t number, struct json *json)
{
    const struct running *running = cursor_running(cursor);
    const struct event *event = &cursor->event;
    bool has_thread = running->is_known && running->tid != 0;
    struct buffer text = {0};
    char colours[STYLE_COLOURS];
    style_colours(STYLE_PROGRAM, has_thread ? paint_program(list->view, running->pid) : "kernel", colours);
    json_add(json, "{n:%lu t:%lu cpu:%u", number, view_ns(list->view, cursor->ticks), cursor->stream->rank);
    if (running->is_known) {
        json_add(json, "pid:%u tid:%u comm:", running->pid, running->tid);
        json_text(json, running->comm, running->comm_length);
    }
    json_add(json, "event:%u name:%s color:%s fields:{", event->type->index, event->type->name, colours);
    for (unsigned i = 0; i < event->type->field_count; i++)
        add_field(json, &event->type->fields[i], event, &text);
    json_add(json, "}}");
    free(text.bytes);
}

static size_t stride_of(const struct list *list, uint64_t number)
{
    return index_find_event(&list->view->index, number) / INDEX_STRIDE;
}

static uint64_t stride_first(const struct list *list, size_t stride)
{
    return index_first(&list->view->index, stride * INDEX_STRIDE);
}

static bool is_late(const struct list *list)
{
    return now_seconds() > list->deadline;
}

/* Adds the rows of a stride from event FIRST up to END. Returns the number of the first event not checked. */
static uint64_t add_stride(struct list *list, size_t stride, uint64_t first, uint64_t end, struct json *json)
{
    struct cursor *cursor;
    struct walk walk;
    walk_open(&walk, &list->view->trace, &list->view->index, stride);
    while (walk.next < end && (walk.next < list->start || list->later < list->after)) {
        if ((cursor = walk_next(&walk)) == NULL) { /* the files were truncated */
            first = list->view->index.events;
            break;
        }
        if (walk.number < first)
            continue;
        list->walked++;
        first = walk.number + 1;
        if (match_event(&list->match, cursor)) {
            add_row(list, cursor, walk.number, json);
            ++*(walk.number < list->start ? &list->earlier : &list->later);
        }
        if (walk.number % CLOCK_EVENTS == 0 && first > list->start && is_late(list))
            break;
    }
    merge_close(&walk.merge);
    return first;
}

/* Adds the rows from event REACHED on. Returns the number of the first event not checked. */
static uint64_t add_rows(struct list *list, uint64_t reached, struct json *json)
{
    bool may_end = false; /* each request goes on by a stride, however late it is */
    while (reached < list->view->index.events &&
           (reached < list->start || (list->later < list->after && !(may_end && is_late(list))))) {
        size_t stride = stride_of(list, reached);
        uint64_t end = stride_first(list, stride + 1);
        may_end = reached >= list->start;
        reached = match_in_stride(&list->match, stride) ? add_stride(list, stride, reached, end, json) : end;
    }
    return reached;
}

/* Counts the matches before END in a stride, up to WANT. FIRST: the number of the first of the last ones. */
static uint64_t find_last(struct list *list, size_t stride, uint64_t end, uint64_t want, uint64_t *first)
{
    uint64_t *ring = alloc_zero(want, sizeof(*ring)), begin = stride_first(list, stride), count = 0;
    struct walk walk;
    struct cursor *cursor;
    walk_open(&walk, &list->view->trace, &list->view->index, stride);
    while (walk.next < end && (cursor = walk_next(&walk)) != NULL) {
        if (walk.number < begin)
            continue;
        list->walked++;
        if (match_event(&list->match, cursor))
            ring[count++ % want] = walk.number;
    }
    merge_close(&walk.merge);
    if (count > 0)
        *first = ring[count > want ? count % want : 0];
    free(ring);
    return count < want ? count : want;
}

/* Finds the events before the start, stride by stride. Returns the number before which none was checked.
 * FIRST: the number of the first row. */
static uint64_t find_earlier(struct list *list, uint64_t *first)
{
    uint64_t left = list->before, reached = list->start;
    for (bool is_first = true; left > 0 && reached > 0 && (is_first || !is_late(list)); is_first = false) {
        size_t stride = stride_of(list, reached - 1);
        if (match_in_stride(&list->match, stride))
            left -= find_last(list, stride, reached, left, first);
        reached = left == 0 ? *first : stride_first(list, stride);
    }
    return reached;
}

/* Returns the number of the first event at or after a time. */
static uint64_t number_at(struct view *view, uint64_t ns)
{
    int64_t at = schema_ns(&view->trace.schema, view->index.begin) + (int64_t)ns;
    uint64_t number = view->index.events;
    struct walk walk;
    struct cursor *cursor;
    if (number == 0 || ns >= view_duration(view))
        return number;
    walk_open(&walk, &view->trace, &view->index,
              index_find_time(&view->index, view_ticks(view, ns)) / INDEX_STRIDE);
    while (walk.next < view->index.events && (cursor = walk_next(&walk)) != NULL)
        if (cursor_ns(cursor) >= at) {
            number = walk.number;
            break;
        }
    merge_close(&walk.merge);
    return number;
}

bool api_list(struct view *view, struct request *request, struct json *json)
{
    struct list list = {.view = view,
                        .deadline = now_seconds() + SEARCH_MS / 1000.0,
                        .start = request_number(request, "n", UINT64_MAX, UINT64_MAX),
                        .before = request_number(request, "before", 0, ROWS_MAX),
                        .after = request_number(request, "after", 50, ROWS_MAX)};
    uint64_t first, from, to;
    if (list.start == UINT64_MAX)
        list.start = number_at(view, request_number(request, "at", 0, INT64_MAX / 2));
    if (list.start > view->index.events)
        list.start = view->index.events;
    match_open(&list.match, view, request);
    json_add(json, "rows:[");
    first = list.start;
    from = find_earlier(&list, &first);
    to = add_rows(&list, first, json);
    json_add(json, "] before:%lu start:%lu from:%lu to:%lu total:%lu walked:%lu", list.earlier, list.start,
             from, to, view->index.events, list.walked);
    match_close(&list.match);
    return true;
}
