/* relations.c - the rows of relations during a walk; see relation.h. */
#include <stdio.h>
#include <tools/tarn/read/judge.h>
#include <tools/tarn/relation/maker.h>

#define OF(self) OUTER(self, struct relations, observer)

static void give(struct relations *relations, struct relation_sink *sink, struct relation_row *row)
{
    row->relations = relations;
    for (; sink != NULL; sink = sink->next)
        sink->take(sink, row);
}

/* Several of a kind that are sent to a CPU before it takes one are taken together: the first has the time
 * from send to entry, and the others join it. */
struct pending_ipi {
    uint64_t sent; /* ticks */
    uint32_t from; /* rank */
    bool is_sent;
};

static void give_ipi(struct relations *relations, struct pending_ipi ipi, uint64_t to, uint64_t kind,
                     uint64_t ticks, bool is_joined)
{
    char text[ANALYSIS_NAME_BYTES];
    struct relation_row row = {.begin = ipi.sent, .ticks = ticks, .cpu = ipi.from, .number = to};
    row.name = label_of(relations->details[ACTIVITY_IPI], kind, text);
    row.is_so = is_joined;
    give(relations, relations->sinks[SOURCE_IPI], &row);
}

/* Not filtered. The clocks of CPUs may differ slightly: then the time is 0. */
static void follow_ipi(struct relations *relations, const struct cursor *cursor)
{
    const uint8_t *bytes = cursor->event.bytes;
    if (cursor->event.type == relations->ipi_send) {
        const struct pending_ipi ipi = {cursor->ticks, cursor->stream->rank, true};
        uint64_t kind = field_integer(relations->ipi_send_fields[0], bytes),
                 to = field_integer(relations->ipi_send_fields[1], bytes);
        struct pending_ipi *pending = map_at(&relations->ipis, to, kind, 0);
        if (pending->is_sent)
            give_ipi(relations, ipi, to, kind, UINT64_MAX, true);
        else
            *pending = ipi;
    } else if (cursor->event.type == relations->ipi_entry) {
        uint64_t kind = field_integer(relations->ipi_entry_fields[0], bytes);
        struct pending_ipi *pending = map_find(&relations->ipis, cursor->stream->cpu, kind, 0);
        if (pending == NULL || !pending->is_sent)
            return;
        give_ipi(relations, *pending, cursor->stream->cpu, kind,
                 cursor->ticks > pending->sent ? cursor->ticks - pending->sent : 0, false);
        pending->is_sent = false;
    }
}

static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *thread)
{
    struct relations *relations = OF(self);
    struct relation_sink *sink = relations->of_type[cursor->event.type->index];
    if (relations->sinks[SOURCE_IPI] != NULL)
        follow_ipi(relations, cursor);
    if ((sink == NULL && relations->sinks[SOURCE_EVENT] == NULL &&
         relations->sinks[SOURCE_STATEDUMP] == NULL) ||
        !analysis_wants_event(relations->analysis, cursor, thread))
        return;
    struct relation_row row = {
        .thread = thread, .cpu = cursor->stream->rank, .begin = cursor->ticks, .cursor = cursor};
    give(relations, sink, &row);
    give(relations, relations->sinks[SOURCE_EVENT], &row);
    if (TRACE_ID_CLASS(cursor->event.type->id) == relations->statedump_class)
        give(relations, relations->sinks[SOURCE_STATEDUMP], &row);
}

static void on_leave(struct model_observer *self, const struct model_thread *thread,
                     const struct model_frame *frame, uint64_t end)
{
    struct relations *relations = OF(self);
    struct relation_row row = {.thread = thread, .cpu = thread->cpu, .begin = frame->begin, .frame = frame};
    row.ticks = model_span(frame, end);
    if (analysis_wants(relations->analysis, thread))
        give(relations, relations->sinks[SOURCE_ACTIVITY], &row);
}

static void end_state(struct thread_states *states, struct thread_state *interval)
{
    if (interval->thread != NULL && interval->from != interval->to)
        states->take(states, interval);
}

void thread_states_open(struct thread_states *states, struct analysis *analysis,
                        void (*take)(struct thread_states *self, const struct thread_state *interval))
{
    states->take = take;
    analysis_slots(analysis, &states->slots, sizeof(struct thread_state));
}

void thread_states_add(struct thread_states *states, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    bool runs = thread->state == MODEL_RUNNING, is_asleep = runs && model_is_asleep(thread);
    struct thread_state *interval = slots_at(&states->slots, thread->number);
    /* A waiting thread is on no CPU, so a new CPU does not end its interval. */
    if (interval->thread == NULL || interval->state != thread->state || interval->to != from ||
        interval->is_asleep != is_asleep || (interval->cpu != thread->cpu && runs)) {
        end_state(states, interval);
        *interval = (struct thread_state){thread, thread->state, thread->cpu, is_asleep, from, to, 0};
    }
    interval->to = to;
    interval->ticks += model_segment_ticks(thread, from, to);
}

void thread_states_finish(struct thread_states *states)
{
    for (uint32_t i = 0; i < states->slots.count; i++)
        end_state(states, slots_at(&states->slots, i));
}

/* An idle thread waits for nothing. */
static void take_state(struct thread_states *self, const struct thread_state *interval)
{
    struct relations *relations = OUTER(self, struct relations, states);
    struct relation_row row = {.thread = interval->thread, .cpu = interval->cpu, .interval = interval};
    row.begin = interval->from;
    row.ticks = interval->ticks;
    row.state = interval->state;
    row.is_so = interval->is_asleep;
    if (!interval->thread->is_idle || interval->state != MODEL_READY)
        give(relations, relations->sinks[SOURCE_STATE], &row);
    if (interval->state == MODEL_RUNNING && !interval->is_asleep)
        give(relations, relations->sinks[SOURCE_RUN], &row);
}

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct relations *relations = OF(self);
    if (analysis_wants(relations->analysis, thread))
        thread_states_add(&relations->states, thread, from, to);
}

static void on_wakeup(struct model_observer *self, const struct model_thread *by,
                      const struct model_thread *thread, uint64_t ticks, bool direct)
{
    struct relations *relations = OF(self);
    struct relation_row row = {.thread = thread, .other = by, .cpu = thread->cpu, .begin = ticks};
    row.is_so = direct;
    if (analysis_wants(relations->analysis, thread))
        give(relations, relations->sinks[SOURCE_WAKEUP], &row);
}

static void on_switch(struct model_observer *self, uint32_t cpu, const struct model_thread *prev,
                      enum model_state new_state, const struct model_thread *next, uint64_t ticks)
{
    struct relations *relations = OF(self);
    struct relation_row row = {.thread = next, .other = prev, .cpu = cpu, .begin = ticks, .state = new_state};
    row.is_so = next->has_run && next->cpu != cpu;
    if (analysis_wants_on(relations->analysis, next, cpu) &&
        !model_leaves_out(relations->analysis->model, next))
        give(relations, relations->sinks[SOURCE_SWITCH], &row);
}

void relations_open(struct relations *relations, struct analysis *analysis)
{
    static const char *const ipi_fields[] = {"kind", "target_cpu"};
    const struct schema *schema = &analysis->trace->schema;
    const struct event_type *dump = schema_find_event(schema, "lttng_statedump_start");
    *relations = (struct relations){.analysis = analysis};
    relations->of_type =
        arena_alloc(&analysis->arena, (schema->event_count + 1) * sizeof(relations->of_type[0]));
    relations->list_text = arena_alloc(&analysis->arena, value_list_bytes(schema));
    thread_states_open(&relations->states, analysis, take_state);
    relations->functions.analysis = analysis;
    relations->functions.labels = analysis_field(analysis, "ipc_call", "label");
    analysis_map(analysis, &relations->functions.servers, sizeof(uint64_t));
    for (unsigned kind = 0; kind < ACTIVITIES; kind++)
        relations->details[kind] = model_detail_field(schema, kind);
    analysis_map(analysis, &relations->ipis, sizeof(struct pending_ipi));
    relations->ipi_send =
        analysis_fields(analysis, "irq_ipi_send", ipi_fields, 2, relations->ipi_send_fields);
    relations->ipi_entry =
        analysis_fields(analysis, "irq_ipi_entry", ipi_fields, 1, relations->ipi_entry_fields);
    relations->statedump_class = dump != NULL ? TRACE_ID_CLASS(dump->id) : UINT32_MAX;
}

static bool has_parameters(const struct making *making, const struct relation_sink *sink)
{
    for (unsigned i = 0; i < RELATION_PARAMETERS; i++) {
        const char *a = making->parameters[i], *b = sink->parameters[i];
        if ((a == NULL) != (b == NULL) || (a != NULL && strcmp(a, b) != 0))
            return false;
    }
    return true;
}

/* Sinks with the same parameters share it. */
static struct making *making_of(struct relations *relations, const struct relation_sink *sink)
{
    const struct maker *maker = sink->relation->maker;
    struct making *making = relations->makings;
    while (making != NULL && (making->maker != maker || !has_parameters(making, sink)))
        making = making->next;
    if (making != NULL)
        return making;
    making = arena_alloc(&relations->analysis->arena, maker->size);
    making->maker = maker;
    making->observer = maker->observer;
    making->relations = relations;
    making->analysis = relations->analysis;
    making->parameters = sink->parameters;
    making->next = relations->makings;
    return relations->makings = making;
}

void making_give(struct making *making, unsigned which, uint64_t begin, const struct value *cells)
{
    give(making->relations, making->sinks[which],
         &(struct relation_row){.begin = begin, .cells = cells, .parameters = making->parameters});
}

void relations_add(struct relations *relations, struct relation_sink *sink)
{
    enum relation_source source = sink->relation->source;
    struct model_observer *observer = &relations->observer;
    struct relation_sink **last = &relations->sinks[source];
    if (sink->relation->type != NULL)
        last = &relations->of_type[sink->relation->type->index];
    if (sink->relation->maker != NULL)
        last = &making_of(relations, sink)->sinks[sink->relation->part];
    while (*last != NULL)
        last = &(*last)->next;
    *last = sink;
    sink->next = NULL;
    relations->needs_activities |=
        source == SOURCE_STATE || source == SOURCE_WAKEUP || (source == SOURCE_RUN && !sink->is_without_idle);
    if (source == SOURCE_EVENT || source == SOURCE_IPI || source == SOURCE_STATEDUMP)
        observer->event = on_event;
    else if (source == SOURCE_ACTIVITY)
        observer->leave = on_leave;
    else if (source == SOURCE_STATE || source == SOURCE_RUN)
        observer->segment = on_segment;
    else if (source == SOURCE_WAKEUP)
        observer->wakeup = on_wakeup;
    else if (source == SOURCE_SWITCH)
        observer->switched = on_switch;
}

bool relations_observe(struct relations *relations)
{
    relations->observer.only_scheduling = relations->observer.leave == NULL && !relations->needs_activities;
    relations->analysis->only_scheduling = relations->observer.only_scheduling;
    model_observe(relations->analysis->model, &relations->observer);
    for (struct making *making = relations->makings; making != NULL; making = making->next) {
        making->maker->open(making);
        model_observe(relations->analysis->model, &making->observer);
    }
    return relations->fail.text[0] == '\0';
}

void relations_finish(struct relations *relations)
{
    thread_states_finish(&relations->states);
    for (struct making *making = relations->makings; making != NULL; making = making->next)
        if (making->maker->finish != NULL)
            making->maker->finish(making);
    for (size_t i = 0; relations->sinks[SOURCE_IPI] != NULL && i < relations->ipis.count; i++) {
        const struct map_entry *entry = map_entry(&relations->ipis, i);
        const struct pending_ipi *pending = (const void *)entry->value;
        if (pending->is_sent)
            give_ipi(relations, *pending, entry->key[0], entry->key[1], UINT64_MAX, false);
    }
}

/* ---- names of functions ---- */

void functions_learn(struct functions *functions, const struct model_call *call)
{
    if (call->received != 0 && call->server != NULL)
        *(uint64_t *)map_at(&functions->servers, call->endpoint, 0, 0) = (uint64_t)call->server->pid + 1;
}

uint32_t functions_pid(const struct functions *functions, uint64_t whom)
{
    const uint64_t *pid;
    if (!(whom & FUNCTION_BY_ENDPOINT))
        return (uint32_t)whom;
    pid = map_find(&functions->servers, whom & UINT32_MAX, 0, 0);
    return pid != NULL ? (uint32_t)(*pid - 1) : MODEL_NOBODY;
}

const char *functions_server(const struct functions *functions, uint64_t whom, char text[FUNCTION_NAME_BYTES])
{
    uint32_t pid = functions_pid(functions, whom);
    if (pid == MODEL_NOBODY && (whom & FUNCTION_BY_ENDPOINT))
        snprintf(text, FUNCTION_NAME_BYTES, "endpoint %u", (unsigned)whom);
    else
        snprintf(text, FUNCTION_NAME_BYTES, "%s", analysis_process_name(functions->analysis, pid));
    return text;
}

static const char *without_prefix(const char *label, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(label, prefix, length) == 0 && label[length] == '_' ? label + length + 1 : label;
}

/* The names of requests in the metadata begin with the server's name, or apply to all servers. */
const char *functions_name(const struct functions *functions, uint64_t whom, uint64_t label,
                           char text[FUNCTION_NAME_BYTES])
{
    char number[ANALYSIS_NAME_BYTES];
    const char *name = label_of(functions->labels, label, number);
    size_t length = strlen(functions_server(functions, whom, text));
    name = without_prefix(without_prefix(name, text), "server");
    snprintf(text + length, FUNCTION_NAME_BYTES - length, " %s", name);
    return text;
}

/* ---- rows made at the end -------- */

static void fill_process(struct relations *relations, const struct model_process *process,
                         struct relation_row *row)
{
    row->item = process;
    row->number = process->pid;
    row->name = analysis_process_name(relations->analysis, process->pid);
    row->more = process->path;
    row->begin = process->begin;
    row->end = process->end;
    row->is_so = process->has_ended;
}

static bool fill_thread(struct relations *relations, const struct model_thread *thread,
                        struct relation_row *row)
{
    /* whatever CPUs are chosen: a thread runs on several */
    if (thread == NULL || thread->tid == MODEL_NOBODY ||
        (relations->analysis->filter->by_running && !analysis_wants_slow(relations->analysis, thread)))
        return false;
    row->thread = thread;
    row->name = analysis_thread_name(relations->analysis, thread);
    row->cpu = thread->cpu;
    row->begin = thread->begin;
    row->end = thread->end;
    row->is_so = thread->has_ended;
    row->ticks = thread->ran;
    row->state = thread->has_ended ? MODEL_DEAD : thread->state;
    return true;
}

static bool fill_lock_class(const struct model_lock_class *class, struct relation_row *row)
{
    static const char *const kinds[] = {[MODEL_LOCK] = "lock", [MODEL_EVENT] = "event"};
    row->name = class->name;
    row->more = class->kind <= MODEL_EVENT ? kinds[class->kind] : NULL;
    row->ticks = class->sample_every;
    return class->name[0] != '\0';
}

static int compare_reports(const void *left, const void *right)
{
    const struct report *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

/* The trace is verified once, when the first row is asked for. */
static const struct report *find_report(struct relations *relations, uint64_t number)
{
    if (relations->reports == NULL) {
        struct findings findings;
        trace_check(relations->analysis->trace, &findings);
        relations->report_count = findings.count;
        relations->reports =
            arena_alloc(&relations->analysis->arena, (findings.count + 1) * sizeof(struct report));
        if (findings.count > 0)
            memcpy(relations->reports, findings.reports, findings.count * sizeof(struct report));
        qsort(relations->reports, findings.count, sizeof(struct report), compare_reports);
        findings_free(&findings);
    }
    return number < relations->report_count ? &relations->reports[number] : NULL;
}

/* Of the range and the chosen CPUs. */
static bool wants_report(const struct analysis *analysis, const struct report *report)
{
    const bool *streams = analysis->filter->streams;
    uint64_t end = later(report->begin, report->end);
    return (report->stream == NULL || streams == NULL || streams[report->stream->rank]) &&
           (report->begin == 0 ||
            (report->begin < analysis->filter->to_ticks && end >= analysis->filter->from_ticks));
}

/* The facts, then the losses. */
static bool fill_fact(struct relations *relations, uint64_t number, struct relation_row *row)
{
    const struct analysis *analysis = relations->analysis;
    const struct schema *schema = &analysis->trace->schema;
    const struct model_sampling *sampling = &analysis->model->sampling;
    const char *system = schema_other_system(schema);
    struct loss_fact facts[LOSS_FACTS];
    const struct {
        const char *name, *text; /* text: NULL: the value */
        uint64_t value;
    } own[] = {{"directory", analysis->trace->directory, 0},
               {"byte_order", schema->big_endian ? "big-endian" : "little-endian", 0},
               {"system", system != NULL ? system : "Tarn", 0},
               {"begin_ns", NULL, (uint64_t)schema_ns(schema, analysis->from)},
               {"end_ns", NULL, (uint64_t)schema_ns(schema, analysis->to)},
               {"clock_frequency", NULL, schema->clock_freq},
               {"sampling_period", NULL, sampling->period},
               {"sampling_counter", sampling->counter, 0},
               {"sampling_counts_instructions", NULL, sampling->counts_instructions}};
    const unsigned own_count = sizeof(own) / sizeof(own[0]);
    if (number >= own_count + (relations->losses != NULL ? LOSS_FACTS : 0))
        return false;
    if (number >= own_count)
        losses_facts(relations->losses, facts);
    row->name = number < own_count ? own[number].name : facts[number - own_count].name;
    row->number = number < own_count ? own[number].value : facts[number - own_count].value;
    row->more = number < own_count ? own[number].text : NULL;
    return true;
}

bool relations_final(struct relations *relations, enum relation_source source, uint64_t number,
                     struct relation_row *row, bool *is_one)
{
    const struct model *model = relations->analysis->model;
    const struct trace *trace = relations->analysis->trace;
    const struct filter *filter = relations->analysis->filter;
    const struct executable *executable;
    const struct known_name *name;
    const struct report *report;
    *row = (struct relation_row){.relations = relations, .number = number};
    *is_one = true;
    switch (source) {
    case SOURCE_PROCESS:
        if (number < model->processes.count)
            fill_process(relations, map_value(&model->processes, number), row);
        return number < model->processes.count;
    case SOURCE_THREAD:
        *is_one = number < model->thread_count && fill_thread(relations, model->threads[number], row);
        return number < model->thread_count;
    case SOURCE_CPU:
        row->cpu = (uint32_t)number;
        row->item = &model->cpus[number];
        *is_one = number < trace->stream_count && model->cpus[number].thread != NULL &&
                  (filter->streams == NULL || filter->streams[number]);
        return number < trace->stream_count;
    case SOURCE_EXECUTABLE:
        if (number >= model->executables.all.count)
            return false;
        row->item = executable = map_value(&model->executables.all, number);
        row->number = executable->pid;
        row->more = executable->path;
        return true;
    case SOURCE_LOCK_CLASS:
        *is_one = number < MODEL_LOCK_CLASSES && fill_lock_class(&model->lock_classes[number], row);
        return number < MODEL_LOCK_CLASSES;
    case SOURCE_IRQ:
        if (number >= model->names.table.count)
            return false;
        name = map_value(&model->names.table, number);
        row->number = name->thing;
        row->name = name->name;
        *is_one = name->pid == NAMES_OF_IRQS;
        return true;
    case SOURCE_EVENT_TYPE:
        row->item = number < trace->schema.event_count ? trace->schema.events[number] : NULL;
        return row->item != NULL;
    case SOURCE_ANOMALY:
    case SOURCE_LOSS:
        row->item = report = find_report(relations, number);
        *is_one = report != NULL && wants_report(relations->analysis, report) &&
                  (source == SOURCE_ANOMALY || anomaly_kinds[report->anomaly].is_loss);
        return report != NULL;
    default: /* SOURCE_TRACE */
        return fill_fact(relations, number, row);
    }
}
