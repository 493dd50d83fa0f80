/* scan.c - the rows of one relation, one by one; see scan.h. */
#include <tools/tarn/relation/scan.h>

#define STEPS_BEFORE_STOP 4096u /* events between two checks of `stop` */

struct scan {
    struct scan_source source;
    const struct relation *relation;
    struct scan_limits limits;
    uint64_t from, to; /* ticks: of the limits and the filter */
    bool *streams;     /* by rank: those to read; NULL: all */
    struct analysis *analysis;
    struct relations relations;
    struct relation_sink sink;
    struct model model;
    struct merge merge;
    struct cursor *cursor;
    struct names names; /* of a scan without a model */
    bool has_model, has_merge, has_ended;
    unsigned steps, checked;
    /* Rows of the model's current event: values of the used columns, row after row. A row without any has
     * one. */
    unsigned *place, used_count; /* place: of each column */
    struct value *queue;
    size_t queued, taken, size; /* in values */
    struct buffer texts;        /* of the queue: `number` is the place of a text */
    struct relation_row row;    /* of other scans: the current one */
    uint64_t number;
};

static bool is_value(const struct value *value, const struct value *wanted)
{
    if (wanted->kind == VALUE_TEXT)
        return value->kind == VALUE_TEXT && value->length == wanted->length &&
               memcmp(value->text, wanted->text, value->length) == 0;
    return value->kind != VALUE_NULL && value->kind != VALUE_TEXT && value->number == wanted->number;
}

static bool wants_row(const struct scan *scan, const struct relation_row *row)
{
    for (unsigned i = 0; i < scan->limits.condition_count; i++) {
        const struct scan_condition *condition = &scan->limits.conditions[i];
        struct value value = value_plain(&scan->source.trace->schema,
                                         relation_value(row, &scan->relation->columns[condition->column]));
        if (!is_value(&value, &condition->value))
            return false;
    }
    return true;
}

static void queue_value(struct scan *scan, struct value value)
{
    if (scan->queued == scan->size) {
        scan->size = 2 * scan->size + 64;
        scan->queue = alloc_more(scan->queue, scan->size, sizeof(scan->queue[0]));
    }
    if (value.kind == VALUE_TEXT) {
        value.number = scan->texts.used;
        buffer_add(&scan->texts, value.text, value.length);
    }
    scan->queue[scan->queued++] = value;
}

static bool is_used(const struct scan *scan, unsigned column)
{
    return (scan->limits.columns >> (column < 63 ? column : 63) & 1) != 0;
}

static void take_row(struct relation_sink *self, const struct relation_row *row)
{
    struct scan *scan = OUTER(self, struct scan, sink);
    if (row->begin < scan->from || row->begin >= scan->to || !wants_row(scan, row))
        return;
    for (unsigned c = 0; c < scan->relation->column_count; c++)
        if (is_used(scan, c))
            queue_value(scan, value_plain(&scan->source.trace->schema,
                                          relation_value(row, &scan->relation->columns[c])));
}

/* ---- events ---- */

/* Reads the filter's streams, or only that of a condition on the CPU. */
static void open_events(struct scan *scan)
{
    const struct trace *trace = scan->source.trace;
    const bool *chosen = scan->source.filter->streams;
    bool by_name = scan->source.filter->process != NULL; /* it needs all names from the start on */
    scan->streams = alloc_zero(trace->stream_count + 1, sizeof(bool));
    for (unsigned i = 0; i < trace->stream_count; i++) {
        scan->streams[i] = chosen == NULL || chosen[i];
        for (unsigned c = 0; c < scan->limits.condition_count; c++) {
            const struct scan_condition *condition = &scan->limits.conditions[c];
            if (strcmp(scan->relation->columns[condition->column].name, "cpu_id") == 0)
                scan->streams[i] &= trace->streams[i].cpu == condition->value.number;
        }
    }
    names_open(&scan->names, &trace->schema);
    merge_open(&scan->merge, trace, scan->streams, by_name ? 0 : scan->from, scan->source.reporter);
    scan->has_merge = true;
}

static bool next_event(struct scan *scan)
{
    const struct filter *filter = scan->source.filter;
    const struct event_type *type = scan->relation->type;
    struct cursor *cursor;
    while ((cursor = merge_next(&scan->merge)) != NULL && cursor->ticks < scan->to) {
        if (filter->process != NULL)
            names_learn(&scan->names, &cursor->event);
        if (++scan->steps % STEPS_BEFORE_STOP == 0 && *scan->source.stop)
            return false;
        if ((type != NULL && cursor->event.type != type) || cursor->ticks < scan->from ||
            !filter_wants(filter, cursor, &scan->names))
            continue;
        scan->row.cpu = cursor->stream->rank;
        scan->row.begin = cursor->ticks;
        scan->row.cursor = cursor;
        if (wants_row(scan, &scan->row))
            return true;
    }
    return false;
}

/* ---- the model ---- */

/* Such conditions hold for all rows. */
static void take_parameters(struct scan *scan)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < scan->limits.condition_count; i++) {
        const struct scan_condition condition = scan->limits.conditions[i];
        unsigned parameter = scan->relation->columns[condition.column].parameter;
        if (parameter != 0)
            scan->sink.parameters[parameter - 1] =
                arena_string(&scan->analysis->arena, condition.value.text, condition.value.length);
        else
            scan->limits.conditions[kept++] = condition;
    }
    scan->limits.condition_count = kept;
}

struct analysis *scan_walk_open(const struct scan_source *source, uint64_t begin, struct model *model,
                                struct merge *merge)
{
    model_open(model, source->trace, source->filter->from_ticks, source->filter->to_ticks);
    walk_open_late(model, merge, begin, source->reporter);
    return analysis_plain(source->trace, source->filter, source->symbols, model);
}

static bool open_model(struct scan *scan, struct fail *fail)
{
    scan->limits.columns |= scan->limits.columns == 0;
    scan->place = arena_alloc(&scan->analysis->arena, (scan->relation->column_count + 1) * sizeof(unsigned));
    for (unsigned c = 0; c < scan->relation->column_count; c++)
        scan->place[c] = is_used(scan, c) ? scan->used_count++ : 0;
    relations_open(&scan->relations, scan->analysis);
    scan->sink = (struct relation_sink){.relation = scan->relation, .take = take_row};
    take_parameters(scan);
    relations_add(&scan->relations, &scan->sink);
    if (!relations_observe(&scan->relations))
        return fail_set(fail, "%s", scan->relations.fail.text);
    scan->cursor = merge_next(&scan->merge);
    walk_begin(&scan->model, &scan->merge);
    return true;
}

/* Whether rows may depend on any event before: those of makers, and interrupts sent before they are taken. */
static bool needs_past(const struct scan *scan)
{
    return scan->relation->source == SOURCE_MADE || scan->relation->source == SOURCE_IPI;
}

/* ---- the end: rows with a duration come behind the limit ---- */

static bool is_within(const struct scan *scan, uint64_t begin)
{
    return begin >= scan->from && begin < scan->to;
}

/* Whether the thread may be in what will be a row within the limits. */
static bool is_open(struct scan *scan, const struct model_thread *thread)
{
    const struct thread_state *interval = slots_at(&scan->relations.states.slots, thread->number);
    bool goes_on = interval->state == thread->state && interval->to == thread->segment, is_open = false;
    if (scan->relation->source != SOURCE_ACTIVITY)
        return (scan->relation->source == SOURCE_STATE || thread->state == MODEL_RUNNING) &&
               (is_within(scan, thread->segment) || (goes_on && is_within(scan, interval->from)));
    for (uint32_t i = 0; i < thread->depth && i < MODEL_DEPTH_MAX; i++)
        is_open |= is_within(scan, thread->frames[i].begin);
    return is_open;
}

/* Moves on to where one of the threads that are in such rows does something. False: none is. */
static bool find_ends(struct scan *scan)
{
    const struct filter *filter = scan->source.filter;
    uint64_t *segments = alloc_zero(scan->model.thread_count + 1, sizeof(*segments));
    uint32_t count = 0;
    for (const struct model_thread *thread = scan->model.live; thread != NULL; thread = thread->next)
        if (is_open(scan, thread)) {
            segments[thread->number] = thread->segment;
            count++;
        }
    /* a checkpoint does not have what depends on the range or the drain */
    if (count > 0 && filter->from_ticks <= scan->source.trace->begin && !filter->without_drain &&
        walk_skip(&scan->model, &scan->merge, segments)) {
        scan->cursor = merge_next(&scan->merge);
        walk_begin(&scan->model, &scan->merge);
    }
    free(segments);
    return count > 0;
}

/* Whether no later event has a row within the limits. */
static bool is_past(struct scan *scan)
{
    enum relation_source source = scan->relation->source;
    if (scan->cursor->ticks < scan->to || needs_past(scan))
        return false;
    if (source != SOURCE_STATE && source != SOURCE_RUN && source != SOURCE_ACTIVITY)
        return true;
    return scan->checked++ % STEPS_BEFORE_STOP == 0 && !find_ends(scan);
}

/* Steps until an event has rows. */
static bool next_of_model(struct scan *scan)
{
    if (scan->taken < scan->queued) {
        scan->taken += scan->used_count;
        if (scan->taken < scan->queued)
            return true;
    }
    scan->queued = scan->taken = scan->texts.used = 0;
    while (scan->queued == 0 && scan->cursor != NULL && scan->cursor->ticks < scan->model.to) {
        if (++scan->steps % STEPS_BEFORE_STOP == 0 && *scan->source.stop)
            return false;
        if (is_past(scan))
            break;
        scan->cursor = model_apply_next(&scan->model, &scan->merge, scan->cursor);
    }
    if (scan->queued == 0 && !scan->has_ended) {
        scan->has_ended = true;
        if (scan->cursor == NULL || scan->cursor->ticks >= scan->model.to)
            model_finish_range(&scan->model, &scan->merge);
        scan->cursor = NULL;
        relations_finish(&scan->relations);
    }
    return scan->queued != 0;
}

struct scan *scan_open(const struct scan_source *source, const struct relation *relation,
                       const struct scan_limits *limits, struct fail *fail)
{
    const struct schema *schema = &source->trace->schema;
    struct scan *scan = alloc_zero(1, sizeof(*scan));
    scan->source = *source;
    scan->relation = relation;
    scan->limits = *limits;
    scan->from = later(source->filter->from_ticks,
                       limits->from_ns == INT64_MIN ? 0 : schema_ticks(schema, limits->from_ns));
    scan->to = limits->to_ns == INT64_MAX ? UINT64_MAX : schema_ticks(schema, limits->to_ns + 1);
    if (scan->to > source->filter->to_ticks)
        scan->to = source->filter->to_ticks;
    if (relation->source >= SOURCE_STREAMS) {
        /* a thread is found by its number */
        for (unsigned i = 0; relation->source == SOURCE_THREAD && i < limits->condition_count; i++)
            if (strcmp(relation->columns[limits->conditions[i].column].name, "utid") == 0) {
                scan->number = limits->conditions[i].value.number;
                scan->has_ended = true;
            }
        return scan;
    }
    scan->has_model = relation->source != SOURCE_EVENT || source->filter->without_drain;
    for (unsigned c = 0; c < relation->column_count; c++)
        scan->has_model |= relation->columns[c].needs_model && is_used(scan, c);
    if (scan->has_model) {
        scan->has_merge = true;
        scan->analysis = scan_walk_open(source, needs_past(scan) ? source->filter->from_ticks : scan->from,
                                        &scan->model, &scan->merge);
        if (open_model(scan, fail))
            return scan;
        scan_close(scan);
        return NULL;
    }
    scan->analysis = analysis_plain(source->trace, source->filter, source->symbols, NULL);
    relations_open(&scan->relations, scan->analysis);
    scan->row.relations = &scan->relations;
    open_events(scan);
    return scan;
}

void scan_close(struct scan *scan)
{
    if (scan->has_merge)
        merge_close(&scan->merge);
    if (scan->has_model)
        model_close(&scan->model);
    else if (scan->has_merge)
        names_close(&scan->names);
    if (scan->analysis != NULL)
        analysis_free(scan->analysis);
    free(scan->streams);
    free(scan->queue);
    free(scan->texts.bytes);
    free(scan);
}

bool scan_next(struct scan *scan)
{
    enum relation_source source = scan->relation->source;
    bool is_one;
    if (source < SOURCE_STREAMS)
        return scan->has_model ? next_of_model(scan) : next_event(scan);
    if (scan->has_ended && scan->row.relations != NULL)
        return false;
    while (relations_final(scan->source.final, source, scan->number++, &scan->row, &is_one))
        if (is_one && wants_row(scan, &scan->row))
            return true;
    return false;
}

struct value scan_value(struct scan *scan, unsigned column)
{
    struct value value;
    if (!scan->has_model)
        return value_plain(&scan->source.trace->schema,
                           relation_value(&scan->row, &scan->relation->columns[column]));
    value = scan->queue[scan->taken + scan->place[column]];
    if (value.kind == VALUE_TEXT)
        value.text = (const char *)scan->texts.bytes + value.number;
    return value;
}
