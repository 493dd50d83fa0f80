/*
 * api_list.c - /api/list?at=TIME (or n=) &before=N&after=N: events around a time, oldest first.
 *
 * {rows: [{n, t, cpu (rank), pid, tid, comm, event, name, color, fields: {name: text}}], before, start, from,
 * to, total, walked}. The first `before` rows are earlier; start is the first event that is not. Events
 * from <= n < to were checked, `walked` of them one by one. It ends after about 60 ms: continue with n=from
 * or n=to. At most 2000 rows in either direction (after: 50). Selected by events=, cpus=, tids= (of the
 * running thread); text=, a part of the event's name, of the thread's or of a text or label in a field,
 * case-insensitive; a number is compared with all fields.
 */
#include <ctype.h>
#include <strings.h>
#include <tools/tarn/print/print.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/source/source.h>
#include <tools/tarn/view/api.h>
#include <tools/tarn/view/paint.h>

#define ROWS_MAX     2000u
#define SEARCH_MS    60    /* then the page continues with another request */
#define CLOCK_EVENTS 4096u /* between checks of the time */

/* Cached results for the last thread of a CPU, which usually still runs. */
struct match_runner {
    struct running running;
    bool is_wanted, has_text;
};

struct match {
    const struct view *view;
    bool *types, *cpus;
    const char *tids, *text;
    bool *named;    /* by type: its name contains the text */
    bool *by_index; /* by type: its name or a label contains the text, or only decoding can tell */
    bool has_number;
    uint64_t number;              /* the text as a number */
    struct match_runner *runners; /* by rank */
    struct tally sum;             /* of a stride */
    struct packet_buffer packet;
};

/* Whether TEXT contains PART, case-insensitive; fast for long texts. */
static bool has_part(const char *text, size_t length, const char *part)
{
    size_t wanted = strlen(part);
    const char *end = length >= wanted ? text + length - wanted + 1 : text;
    const char *next[2] = {text, text};
    const int first[2] = {tolower((unsigned char)part[0]), toupper((unsigned char)part[0])};
    if (wanted == 0)
        return true;
    for (const char *at = text; at < end; at++) {
        for (int i = 0; i < 2; i++)
            if (next[i] != NULL && next[i] <= at)
                next[i] = memchr(at, first[i], (size_t)(end - at));
        at = next[0] == NULL || (next[1] != NULL && next[1] < next[0]) ? next[1] : next[0];
        if (at == NULL)
            return false;
        if (strncasecmp(at, part, wanted) == 0)
            return true;
    }
    return false;
}

/* Finds out which event types can have the wanted text. */
static void learn_types(struct match *match, const struct schema *schema)
{
    for (unsigned i = 0; i < schema->event_count; i++) {
        const struct event_type *type = schema->events[i];
        match->named[i] = has_part(type->name, strlen(type->name), match->text);
        for (unsigned k = 0; k < type->field_count; k++) {
            const struct field *field = &type->fields[k];
            /* negative numbers are not searched in the bytes */
            match->by_index[i] |= field->kind == FIELD_INTEGER && match->number > INT64_MAX;
            for (const struct label *label = field->labels; label != NULL; label = label->next)
                match->by_index[i] |=
                    field->kind == FIELD_ENUM && has_part(label->name, strlen(label->name), match->text);
        }
        match->by_index[i] |= match->named[i];
    }
}

static void match_open(struct match *match, const struct view *view, const struct request *request)
{
    const struct schema *schema = &view->trace.schema;
    size_t capacity = schema->event_count + 1;
    memset(match, 0, sizeof(*match));
    match->types = request_set(request, "events", schema->event_count, true);
    match->cpus = request_set(request, "cpus", view->trace.stream_count, true);
    match->tids = request_text(request, "tids");
    match->text = request_text(request, "text");
    match->named = alloc_zero(capacity, sizeof(bool));
    match->by_index = alloc_zero(capacity, sizeof(bool));
    match->runners = alloc_zero(view->trace.stream_count + 1, sizeof(match->runners[0]));
    if (match->text != NULL && *match->text == '\0')
        match->text = NULL;
    if (match->text != NULL) {
        char *end;
        match->number = strtoull(match->text, &end, 0);
        match->has_number = *match->text >= '0' && *match->text <= '9' && *end == '\0';
        match->number = match->has_number ? match->number : 0;
        learn_types(match, schema);
    }
    match->view = view;
    tally_open(&match->sum, &view->trace);
}

static void match_close(struct match *match)
{
    free(match->types);
    free(match->cpus);
    free(match->named);
    free(match->by_index);
    free(match->runners);
    tally_close(&match->sum);
    free(match->packet.bytes);
}

static bool field_has_text(const struct match *match, const struct field *field, const struct event *event)
{
    const char *label;
    uint64_t value;
    if (field->kind == FIELD_TEXT || field->kind == FIELD_STRING)
        return has_part((const char *)event->bytes + field->offset, field_text_length(field, event),
                        match->text);
    if (field->kind != FIELD_INTEGER && field->kind != FIELD_ENUM)
        return false;
    value = field_integer(field, event->bytes);
    if (field->kind == FIELD_INTEGER)
        return match->has_number && value == match->number;
    label = field_label(field, value);
    return label != NULL && has_part(label, strlen(label), match->text);
}

static bool has_text(const struct match *match, const struct event *event, const struct match_runner *runner)
{
    const struct event_type *type = event->type;
    if (match->named[type->index] || runner->has_text)
        return true;
    for (unsigned i = 0; i < type->field_count; i++)
        if (field_has_text(match, &type->fields[i], event))
            return true;
    return false;
}

static const struct match_runner *find_runner(struct match *match, const struct cursor *cursor)
{
    const struct running *running = cursor_running(cursor);
    struct match_runner *runner = &match->runners[cursor->rank];
    const struct running *last = &runner->running;
    if (last->is_known != running->is_known || last->tid != running->tid ||
        last->comm_length != running->comm_length ||
        memcmp(last->comm, running->comm, last->comm_length) != 0) {
        runner->running = *running;
        runner->is_wanted = match->tids != NULL && running->is_known && list_has(match->tids, running->tid);
        runner->has_text = match->text != NULL && has_part(running->comm, running->comm_length, match->text);
    }
    return runner;
}

static bool match_event(struct match *match, const struct cursor *cursor)
{
    const struct event *event = &cursor->event;
    if (!match->types[event->type->index] || !match->cpus[cursor->rank])
        return false;
    if (match->tids != NULL && !find_runner(match, cursor)->is_wanted)
        return false;
    return match->text == NULL || has_text(match, event, find_runner(match, cursor));
}

/*
 * The prefilter: whether a stride may contain a match, without decoding events. If the types of its events in
 * the index do not exclude a text or a value, its bytes are searched in the packets, which is many times
 * faster than a walk: strings and the names of running threads are stored literally (a context event has the
 * name at the start of each packet), numbers in the trace's byte order. There are false positives, but no
 * false negatives.
 */

/* Whether a wanted thread ran or changed its state. */
static bool has_thread(const struct match *match)
{
    const struct tally *sum = &match->sum;
    uint32_t count = index_thread_count(&match->view->index);
    bool has = match->tids == NULL;
    for (uint32_t i = 0; i < sum->touched_count && !has; i++)
        has = sum->touched[i] >= count ||
              list_has(match->tids, index_thread(&match->view->index, sum->touched[i])->tid);
    return has;
}

/* Whether the packet begins with an event that names the running thread, as all packets of Tarn do. */
static bool tells_who_runs(const struct schema *schema, const struct packet *packet)
{
    struct event event;
    return packet->content_bytes > sizeof(struct trace_packet) &&
           event_decode(schema, packet->bytes + sizeof(struct trace_packet),
                        packet->content_bytes - sizeof(struct trace_packet), &event) == ANOMALY_NONE &&
           event.type->role == EVENT_CONTEXT;
}

/* Whether the packet contains the text, or the number without leading zeros: a field may be narrow. */
static bool has_bytes(const struct match *match, const struct packet *packet)
{
    bool big_endian = match->view->trace.schema.big_endian;
    uint64_t number = big_endian ? htobe64(match->number) : htole64(match->number);
    size_t size = (71u - (unsigned)__builtin_clzll(match->number | 1)) / 8;
    return has_part((const char *)packet->bytes, packet->content_bytes, match->text) ||
           (match->has_number && memmem(packet->bytes, packet->content_bytes,
                                        (char *)&number + (big_endian ? sizeof(number) - size : 0), size));
}

/* Whether one of the packets from BEGIN to LAST may match. A packet that is not in Tarn's form may. */
static bool scan_stream(struct match *match, const struct stream *stream, uint64_t begin, uint64_t last)
{
    const struct trace *trace = &match->view->trace;
    struct packet packet;
    for (; begin <= last && begin < stream->size; begin += packet.packet_bytes)
        if (anomaly_is_fatal(stream_packet(trace, stream, begin, &match->packet, &packet)) ||
            !tells_who_runs(&trace->schema, &packet) || has_bytes(match, &packet))
            return true;
    return false;
}

/* Returns the packet at which a stream stands before a stride. Without a checkpoint: its start for the first
 * stride, else its end. */
static uint64_t packet_before(const struct match *match, size_t stride, const struct stream *stream)
{
    struct buffer_reader reader;
    struct position position;
    if (stride == 0)
        return 0;
    reader = blob_array_get(&match->view->index.checkpoints, stride - 1);
    if (reader.failed)
        return stream->size;
    buffer_skip(&reader, stream->rank * sizeof(position));
    buffer_get(&reader, &position, sizeof(position));
    return position.packet;
}

/* Whether a stride, the blocks from one checkpoint of the index to the next, may contain an event that is
 * wanted. */
static bool match_in_stride(struct match *match, size_t stride)
{
    const struct trace *trace = &match->view->trace;
    bool has_type = false, is_found = match->text == NULL; /* is_found: without a search in the bytes */
    if (!index_sum_stride(&match->view->index, stride, &match->sum))
        return true;
    for (unsigned type = 0; type < match->sum.event_count; type++)
        if (match->sum.events[type] != 0 && match->types[type]) {
            has_type = true;
            is_found |= match->by_index[type];
        }
    if (!has_type || !has_thread(match))
        return false;
    for (unsigned i = 0; i < trace->stream_count && !is_found; i++)
        is_found = match->cpus[i] &&
                   scan_stream(match, &trace->streams[i], packet_before(match, stride, &trace->streams[i]),
                               packet_before(match, stride + 1, &trace->streams[i]));
    return is_found;
}

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
        at = put_list(start, event, field, PRINT_TEXT, false);
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
