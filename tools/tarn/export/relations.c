/* SPDX-License-Identifier: BSD-2-Clause */
/* relations.c - a trace as tables of rows; see relations.h. */
#include <stdio.h>
#include <strings.h>
#include <tools/tarn/export/relations.h>

#define OWN_COLUMNS_MAX 18u

/* Columns; a colon after the name marks text. */
static const struct {
    const char *name;
    const char *columns[OWN_COLUMNS_MAX];
} own_tables[RELATIONS] = {
    [RELATION_TRACE] = {"trace", {"name:", "value:"}},
    [RELATION_PROCESS] = {"process",
                          {"pid", "parent_pid", "procname:", "path:", "begin_ns", "end_ns", "status"}},
    [RELATION_THREAD] = {"thread",
                         {"thread", "tid", "pid", "comm:", "is_idle", "cpu_id", "begin_ns", "end_ns",
                          "ran_ns"}},
    [RELATION_STATE] = {"state", {"thread", "tid", "pid", "state:", "cpu_id", "begin_ns", "end_ns"}},
    [RELATION_ACTIVITY] = {"activity",
                           {"thread", "tid", "pid", "cpu_id", "depth", "kind:", "name:", "begin_ns", "end_ns",
                            "ran_ns", "own_ns", "arg0", "arg1", "result", "is_cut"}},
    [RELATION_CALL] = {"ipc",
                       {"call_id", "function:", "label:", "label_number", "endpoint", "client_thread",
                        "client_tid", "client_pid", "server_thread", "server_tid", "server_pid", "called_ns",
                        "received_ns", "replied_ns", "returned_ns", "error"}},
    [RELATION_LOCK_CLASS] = {"lock_class", {"number", "name:", "kind:", "watch"}},
    [RELATION_IRQ] = {"irq", {"number", "name:"}},
    [RELATION_PLACE] = {"place", {"pid", "address", "function:", "executable:"}},
};
static const char *const context_columns[] = {"time_ns", "cpu_id", "vpid", "vtid", "procname:"};
#define CONTEXT_COLUMNS 5u

#define OF(self) EXPORT_OF(ANALYSIS_OF(self, struct analysis), struct relations)

static void add_column(struct relations *relations, struct relation_table *table, const char *name,
                       bool is_text)
{
    size_t length = strlen(name);

    is_text |= name[length - 1] == ':';
    table->columns[table->column_count] =
        arena_string(&relations->export.analysis.arena, name, length - (name[length - 1] == ':'));
    table->is_text[table->column_count++] = is_text;
}

static void begin_table(struct relations *relations, struct relation_table *table, const char *name,
                        unsigned columns)
{
    table->name = name;
    table->columns = arena_alloc(&relations->export.analysis.arena, columns * sizeof(table->columns[0]));
    table->is_text = arena_alloc(&relations->export.analysis.arena, columns * sizeof(table->is_text[0]));
}

static bool is_text(const struct field *field)
{
    return field->kind != FIELD_INTEGER;
}

/* Column names are unique: a field named like a context column becomes "event_...". */
static const char *column_of(struct relations *relations, const char *field)
{
    char name[64];

    for (unsigned c = 0; c < CONTEXT_COLUMNS; c++) {
        size_t length = strcspn(context_columns[c], ":");

        if (strlen(field) != length || strncasecmp(field, context_columns[c], length) != 0)
            continue;
        snprintf(name, sizeof(name), "event_%s", field);
        return arena_string(&relations->export.analysis.arena, name, strlen(name));
    }
    return field;
}

/* Fields in ticks, which are converted to nanoseconds in columns of their own. */
static const struct {
    const char *event, *field, *column;
} durations[] = {
    {"fault_exit", "duration", "duration_ns"}, {"tlb_shootdown_end", "duration", "duration_ns"},
    {"lock_contended", "wait", "wait_ns"},     {"lock_held", "held", "held_ns"},
    {"profile_sample", "busy", "busy_ns"},     {"profile_sample", "late", "late_ns"},
    {"profile_rate", "period", "period_ns"},
};

static unsigned derived_columns(const struct event_type *type, struct derived columns[DERIVED_MAX])
{
    unsigned count = 0;

    for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]) && count < DERIVED_MAX; i++) {
        const struct field *field =
            strcmp(durations[i].event, type->name) == 0 ? schema_find_field(type, durations[i].field) : NULL;

        if (field != NULL && field->kind == FIELD_INTEGER &&
            schema_find_field(type, durations[i].column) == NULL)
            columns[count++] = (struct derived){field, durations[i].column};
    }
    return count;
}

static void declare_tables(struct relations *relations)
{
    const struct schema *schema = &relations->export.analysis.trace->schema;
    struct arena *arena = &relations->export.analysis.arena;
    unsigned most = OWN_COLUMNS_MAX;

    relations->table_count = RELATIONS + schema->event_count;
    relations->tables = arena_alloc(arena, relations->table_count * sizeof(relations->tables[0]));
    relations->derived = arena_alloc(arena, schema->event_count * sizeof(relations->derived[0]));
    relations->ips = arena_alloc(arena, schema->event_count * sizeof(relations->ips[0]));
    relations->derived_count = arena_alloc(arena, schema->event_count * sizeof(relations->derived_count[0]));
    for (unsigned i = 0; i < RELATIONS; i++) {
        begin_table(relations, &relations->tables[i], own_tables[i].name, most);
        for (unsigned c = 0; c < OWN_COLUMNS_MAX && own_tables[i].columns[c] != NULL; c++)
            add_column(relations, &relations->tables[i], own_tables[i].columns[c], false);
    }
    for (unsigned i = 0; i < schema->event_count; i++) {
        const struct event_type *type = schema->events[i];
        struct relation_table *table = &relations->tables[RELATIONS + i];

        relations->derived_count[i] = derived_columns(type, relations->derived[i]);
        begin_table(relations, table, type->name,
                    CONTEXT_COLUMNS + type->field_count + relations->derived_count[i]);
        for (unsigned c = 0; c < CONTEXT_COLUMNS; c++)
            add_column(relations, table, context_columns[c], false);
        for (unsigned f = 0; f < type->field_count; f++)
            add_column(relations, table, column_of(relations, type->fields[f].name),
                       is_text(&type->fields[f]));
        for (unsigned d = 0; d < relations->derived_count[i]; d++)
            add_column(relations, table, relations->derived[i][d].column, false);
        relations->ips[i] = schema_find_field(type, "ip");
        most = table->column_count > most ? table->column_count : most;
    }
    relations->values = arena_alloc(arena, most * sizeof(relations->values[0]));
}

static struct value time_value(const struct relations *relations, uint64_t ticks)
{
    int64_t ns = schema_ns(&relations->export.analysis.trace->schema, ticks);

    return (struct value){VALUE_SIGNED, (uint64_t)ns, NULL, 0};
}

static struct value duration_value(const struct relations *relations, uint64_t ticks)
{
    return VALUE_NUMBER(analysis_ns(&relations->export.analysis, ticks));
}

static struct value number_or_null(uint64_t number, bool is_known)
{
    return is_known ? VALUE_NUMBER(number) : value_text(NULL);
}

static struct value cpu_value(const struct relations *relations, uint32_t rank)
{
    return VALUE_NUMBER(relations->export.analysis.trace->streams[rank].cpu);
}

static void write_row(struct relations *relations, unsigned table)
{
    if (!relations->export.has_failed)
        relations->writer->row(relations, table, relations->values);
}

static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *thread)
{
    struct relations *relations = OF(self);
    const struct event_type *type = cursor->event.type;
    const struct running *running = cursor_running(cursor);
    struct value *value = relations->values;

    if (!analysis_wants_event(&relations->export.analysis, cursor, thread))
        return;
    *value++ = (struct value){VALUE_SIGNED, (uint64_t)cursor_ns(cursor), NULL, 0};
    *value++ = VALUE_NUMBER(cursor->stream->cpu);
    *value++ = number_or_null(running->pid, running->is_known);
    *value++ = number_or_null(running->tid, running->is_known);
    *value++ = (struct value){VALUE_TEXT, 0, running->comm, running->comm_length};
    for (unsigned f = 0; f < type->field_count; f++)
        *value++ = value_of_field(&relations->export, &type->fields[f], &cursor->event);
    for (unsigned d = 0; d < relations->derived_count[type->index]; d++)
        *value++ = duration_value(
            relations, field_integer(relations->derived[type->index][d].field, cursor->event.bytes));
    if (relations->ips[type->index] != NULL && running->is_known)
        *(bool *)map_at(&relations->places, running->pid,
                        field_integer(relations->ips[type->index], cursor->event.bytes), 0) = true;
    write_row(relations, RELATIONS + type->index);
}

static void write_state(struct export *export, const struct stretch *stretch)
{
    struct relations *relations = EXPORT_OF(export, struct relations);
    struct value *values = relations->values;

    if (stretch->thread->is_idle && stretch->state == MODEL_READY)
        return; /* an idle thread waits for nothing */
    *values++ = VALUE_NUMBER(stretch->thread->number);
    *values++ = VALUE_NUMBER(stretch->thread->tid);
    *values++ = VALUE_NUMBER(stretch->thread->pid);
    *values++ = value_text(stretch->is_asleep ? "idle" : model_state_names[stretch->state]);
    *values++ = cpu_value(relations, stretch->cpu);
    *values++ = time_value(relations, stretch->from);
    *values++ = time_value(relations, stretch->to);
    write_row(relations, RELATION_STATE);
}

/* The result from the event that ended it; for a fault, its duration in ticks. */
static struct value result_value(const struct relations *relations, const struct model_frame *frame)
{
    return frame->kind == ACTIVITY_FAULT ? duration_value(relations, (uint64_t)frame->result)
                                         : (struct value){VALUE_SIGNED, (uint64_t)frame->result, NULL, 0};
}

static void on_leave(struct model_observer *self, const struct model_thread *thread,
                     const struct model_frame *frame, uint64_t end)
{
    struct relations *relations = OF(self);
    struct value *values = relations->values;
    char name[ANALYSIS_NAME_BYTES];

    if (!analysis_wants(&relations->export.analysis, thread))
        return;
    *values++ = VALUE_NUMBER(thread->number);
    *values++ = VALUE_NUMBER(thread->tid);
    *values++ = VALUE_NUMBER(thread->pid);
    *values++ = cpu_value(relations, thread->cpu);
    *values++ = VALUE_NUMBER(thread->depth);
    *values++ = value_text(model_activity_names[frame->kind]);
    *values++ = value_text(activity_name(&relations->names, frame, name));
    *values++ = time_value(relations, frame->begin);
    *values++ = time_value(relations, end);
    *values++ = duration_value(relations, frame->ran);
    *values++ = duration_value(relations, frame->ran - frame->inner);
    *values++ = (struct value){VALUE_HEX, frame->args[0], NULL, 0};
    *values++ = (struct value){VALUE_HEX, frame->args[1], NULL, 0};
    *values++ = result_value(relations, frame);
    *values++ = VALUE_NUMBER(frame->is_cut);
    write_row(relations, RELATION_ACTIVITY);
}

static struct value time_or_null(const struct relations *relations, uint64_t ticks)
{
    return ticks != 0 ? time_value(relations, ticks) : value_text(NULL);
}

static struct value label_value(const struct relations *relations, uint64_t label,
                                char text[ANALYSIS_NAME_BYTES])
{
    return relations->functions.labels != NULL
               ? value_text(label_of(relations->functions.labels, label, text))
               : value_text(NULL);
}

static void write_call(struct relations *relations, const struct model_call *call)
{
    struct value *values = relations->values;
    const struct model_thread *server = call->server;
    char function[FUNCTION_NAME_BYTES], label[ANALYSIS_NAME_BYTES];

    *values++ = (struct value){VALUE_HEX, call->id, NULL, 0};
    *values++ =
        value_text(functions_name(&relations->functions, functions_whom(call), call->label, function));
    *values++ = label_value(relations, call->label, label);
    *values++ = VALUE_NUMBER(call->label);
    *values++ = VALUE_NUMBER(call->endpoint);
    *values++ = VALUE_NUMBER(call->client->number);
    *values++ = VALUE_NUMBER(call->client->tid);
    *values++ = VALUE_NUMBER(call->client->pid);
    *values++ = number_or_null(server != NULL ? server->number : 0, server != NULL);
    *values++ = number_or_null(server != NULL ? server->tid : 0, server != NULL);
    *values++ = number_or_null(server != NULL ? server->pid : 0, server != NULL);
    *values++ = time_or_null(relations, call->called);
    *values++ = time_or_null(relations, call->received);
    *values++ = time_or_null(relations, call->replied);
    *values++ = time_or_null(relations, call->returned);
    *values++ =
        call->returned != 0 ? (struct value){VALUE_SIGNED, (uint64_t)call->error, NULL, 0} : value_text(NULL);
    write_row(relations, RELATION_CALL);
}

static void on_call(struct model_observer *self, const struct model_call *call, uint64_t ticks,
                    bool has_ended)
{
    struct relations *relations = OF(self);

    functions_learn(&relations->functions, call);
    if (has_ended && analysis_wants(&relations->export.analysis, call->client))
        write_call(relations, call);
}

static void write_fact(struct relations *relations, const char *name, const char *value)
{
    relations->values[0] = value_text(name);
    relations->values[1] = value_text(value);
    write_row(relations, RELATION_TRACE);
}

static void write_facts(struct relations *relations)
{
    const struct analysis *analysis = &relations->export.analysis;
    const struct schema *schema = &analysis->trace->schema;
    struct loss_fact facts[LOSS_FACTS];
    char number[32];

    write_fact(relations, "directory", analysis->trace->directory);
    write_fact(relations, "byte_order", schema->big_endian ? "big-endian" : "little-endian");
    snprintf(number, sizeof(number), "%lld", (long long)schema_ns(schema, analysis->from));
    write_fact(relations, "begin_ns", number);
    snprintf(number, sizeof(number), "%lld", (long long)schema_ns(schema, analysis->to));
    write_fact(relations, "end_ns", number);
    snprintf(number, sizeof(number), "%llu", (unsigned long long)schema->clock_freq);
    write_fact(relations, "clock_frequency", number);
    losses_facts(relations->export.losses, facts);
    for (unsigned i = 0; i < LOSS_FACTS; i++) {
        snprintf(number, sizeof(number), "%llu", (unsigned long long)facts[i].value);
        write_fact(relations, facts[i].name, number);
    }
}

static void write_processes(struct relations *relations)
{
    const struct analysis *analysis = &relations->export.analysis;
    struct value *values = relations->values;

    for (size_t i = 0; i < analysis->model->processes.count; i++) {
        const struct model_process *process = map_value(&analysis->model->processes, i);

        values[0] = VALUE_NUMBER(process->pid);
        values[1] = number_or_null(process->parent, process->parent != MODEL_NOBODY);
        values[2] = value_text(analysis_process_name(analysis, process->pid));
        values[3] = value_text(process->path);
        values[4] = time_value(relations, process->begin);
        values[5] = process->has_ended ? time_value(relations, process->end) : value_text(NULL);
        values[6] = process->has_ended
                        ? (struct value){VALUE_SIGNED, (uint64_t)(int64_t)process->status, NULL, 0}
                        : value_text(NULL);
        write_row(relations, RELATION_PROCESS);
    }
}

static void write_threads(struct relations *relations)
{
    struct analysis *analysis = &relations->export.analysis;
    struct value *values = relations->values;

    for (uint32_t i = 0; i < analysis->model->thread_count; i++) {
        const struct model_thread *thread = analysis->model->threads[i];

        if (thread->tid == MODEL_NOBODY || !analysis_wants(analysis, thread))
            continue;
        values[0] = VALUE_NUMBER(thread->number);
        values[1] = VALUE_NUMBER(thread->tid);
        values[2] = number_or_null(thread->pid, thread->pid != MODEL_NOBODY);
        values[3] = value_text(analysis_thread_name(analysis, thread));
        values[4] = VALUE_NUMBER(thread->is_idle);
        values[5] = cpu_value(relations, thread->cpu);
        values[6] = time_value(relations, thread->begin);
        values[7] = thread->has_ended ? time_value(relations, thread->end) : value_text(NULL);
        values[8] = duration_value(relations, thread->ran);
        write_row(relations, RELATION_THREAD);
        if (thread->calling != NULL) /* in progress at the end of the trace */
            write_call(relations, thread->calling);
    }
}

/* Writes what is at the addresses in events, as in `tarn profile`. */
static void write_places(struct relations *relations)
{
    const struct analysis *analysis = &relations->export.analysis;
    struct value *values = relations->values;
    char text[SYMBOL_NAME_BYTES];

    for (size_t i = 0; i < relations->places.count; i++) {
        const struct map_entry *entry = map_entry(&relations->places, i);
        uint64_t address = entry->key[1];
        const struct executable *executable =
            executables_find(&analysis->model->executables, (uint32_t)entry->key[0], address);

        values[0] = VALUE_NUMBER(entry->key[0]);
        values[1] = (struct value){VALUE_HEX, address, NULL, 0};
        values[2] =
            analysis->symbols != NULL
                ? value_text(symbol_name(symbols_find(analysis->symbols, executable, address), address, text))
                : value_text(NULL);
        values[3] = value_text(executable_name(executable));
        write_row(relations, RELATION_PLACE);
    }
}

static void write_names(struct relations *relations)
{
    static const char *const kinds[] = {[MODEL_LOCK] = "lock", [MODEL_EVENT] = "event"};
    const struct model *model = relations->export.analysis.model;
    struct value *values = relations->values;

    for (uint32_t i = 0; i < MODEL_LOCK_CLASSES; i++) {
        const struct model_lock_class *class = &model->lock_classes[i];

        if (class->name[0] == '\0')
            continue;
        values[0] = VALUE_NUMBER(i);
        values[1] = value_text(class->name);
        values[2] = value_text(class->kind <= MODEL_EVENT ? kinds[class->kind] : NULL);
        values[3] = VALUE_NUMBER(class->sample_every);
        write_row(relations, RELATION_LOCK_CLASS);
    }
    for (uint32_t i = 0; i < model->irq_count; i++) {
        values[0] = VALUE_NUMBER(model->irqs[i].number);
        values[1] = value_text(model->irqs[i].name);
        write_row(relations, RELATION_IRQ);
    }
}

bool relations_open(struct relations *relations, const struct relation_writer *writer, struct fail *fail)
{
    struct analysis *analysis = &relations->export.analysis;

    export_open(&relations->export, write_state);
    activity_names_open(&relations->names, analysis);
    functions_open(&relations->functions, analysis);
    analysis_map(analysis, &relations->places, sizeof(bool));
    relations->writer = writer;
    declare_tables(relations);
    analysis->observer.event = on_event;
    analysis->observer.leave = on_leave;
    analysis->observer.call = on_call;
    return writer->open(relations, fail);
}

void relations_finish(struct analysis *analysis)
{
    struct relations *relations = EXPORT_OF(analysis, struct relations);

    export_finish_stretches(&relations->export);
    write_processes(relations);
    write_threads(relations);
    write_names(relations);
    write_places(relations);
    write_facts(relations);
    relations->writer->finish(relations);
}

void relations_close(struct analysis *analysis)
{
    struct relations *relations = EXPORT_OF(analysis, struct relations);

    if (relations->writer != NULL)
        relations->writer->close(relations);
}
