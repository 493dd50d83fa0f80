/* SPDX-License-Identifier: BSD-2-Clause */
/* relation.c - declares the relations and computes their values; see relation.h. */
#include <stdio.h>
#include <strings.h>
#include <tools/tarn/print/print_value.h>
#include <tools/tarn/relation/maker.h>
#include <tools/tarn/symbols/symbols.h>

#define PAGE_BYTES 4096u /* on all architectures */

/* ---- declarations ---- */

/* What a column means; the same in every relation. choose_value goes by their order. */
/* clang-format off */
#define MEANINGS_OF_COLUMNS \
    COLUMN(TS, "ts", UNIT_WHEN, "time on the trace's clock; of what lasts, its begin") \
    COLUMN(DUR, "dur", UNIT_SPAN, "duration") \
    COLUMN(CPU_ID, "cpu_id", UNIT_NUMBER, "CPU that logged the event") \
    COLUMN(VPID, "vpid", UNIT_NUMBER, "process that ran") \
    COLUMN(VTID, "vtid", UNIT_NUMBER, "thread that ran") \
    COLUMN(PROCNAME, "procname", UNIT_TEXT, "name of the thread that ran") \
    COLUMN(EVENT, "name", UNIT_TEXT, "event type") \
    COLUMN(CLASS, "class", UNIT_TEXT, "event class") \
    COLUMN(BYTES, "bytes", UNIT_NUMBER, "size of the event in the trace") \
    COLUMN(EVENT_NUMBER, "number", UNIT_NUMBER, "number of the event type") \
    COLUMN(STANDS_FOR, "stands_for", UNIT_NUMBER, "N: one in N events was logged; empty: all were") \
    COLUMN(VARIANCE, "variance", UNIT_NUMBER, "N * (N - 1), for the error of an estimate") \
    COLUMN(CPU, "cpu", UNIT_NUMBER, "the CPU's number; of a thread, where it runs or last ran") \
    COLUMN(UTID, "utid", UNIT_NUMBER, "number of the thread, unique in the trace; idle threads share tid 0") \
    COLUMN(TID, "tid", UNIT_NUMBER, "thread ID") \
    COLUMN(PID, "pid", UNIT_NUMBER, "process ID; 0 is the kernel") \
    COLUMN(THREAD_NAME, "thread_name", UNIT_TEXT, "name of the thread") \
    COLUMN(PROCESS_NAME, "process_name", UNIT_TEXT, "name of the process") \
    COLUMN(DEPTH, "depth", UNIT_NUMBER, "number of activities around it") \
    COLUMN(KIND, "kind", UNIT_TEXT, "libc, syscall, fault, exception, irq, ipi, request or drain; of a lock class, lock or event") \
    COLUMN(NAME, "name", UNIT_TEXT, "its name") \
    COLUMN(DETAIL, "detail", UNIT_NUMBER, "number of the call, fault type, vector, interrupt or request") \
    COLUMN(THREAD_DUR, "thread_dur", UNIT_SPAN, "part of the duration in which the thread ran") \
    COLUMN(SELF_DUR, "self_dur", UNIT_SPAN, "part of thread_dur outside of inner activities") \
    COLUMN(CHILD_DUR, "child_dur", UNIT_SPAN, "part of thread_dur in inner activities") \
    COLUMN(ARG0, "arg0", UNIT_ADDRESS, "first argument; of a fault, the address") \
    COLUMN(ARG1, "arg1", UNIT_ADDRESS, "second argument; of a fault, the instruction's address") \
    COLUMN(PAGE, "page", UNIT_ADDRESS, "page of arg0") \
    COLUMN(MAPPING, "mapping", UNIT_ADDRESS, "where the file is mapped that contains arg0; 0: none") \
    COLUMN(RESULT, "result", UNIT_NUMBER, "return value; of a fault, nanoseconds until it was handled") \
    COLUMN(IS_ERROR, "is_error", UNIT_NUMBER, "1: the result is negative") \
    COLUMN(IS_CUT, "is_cut", UNIT_NUMBER, "1: its begin or end was not seen") \
    COLUMN(STATE, "state", UNIT_TEXT, "running, ready, idle (asleep), unknown, or what the thread waited for") \
    COLUMN(WAKER_UTID, "waker_utid", UNIT_NUMBER, "thread that ended the wait; empty: a timer or an interrupt") \
    COLUMN(IS_DIRECT, "is_direct", UNIT_NUMBER, "1: an IPC handed over the CPU") \
    COLUMN(PREV_UTID, "prev_utid", UNIT_NUMBER, "thread that ran before") \
    COLUMN(END_STATE, "end_state", UNIT_TEXT, "state of that thread from then on") \
    COLUMN(IS_MIGRATION, "is_migration", UNIT_NUMBER, "1: the thread last ran on another CPU") \
    COLUMN(IS_HANDED, "is_handed", UNIT_NUMBER, "1: the thread was handed the CPU without a wait for it") \
    COLUMN(FROM_CPU, "from_cpu", UNIT_NUMBER, "sending CPU") \
    COLUMN(TO_CPU, "to_cpu", UNIT_NUMBER, "receiving CPU") \
    COLUMN(IS_TAKEN, "is_taken", UNIT_NUMBER, "1: it was taken, dur after it was sent") \
    COLUMN(IS_JOINED, "is_joined", UNIT_NUMBER, "1: the CPU took it together with an earlier one") \
    COLUMN(PARENT_PID, "parent_pid", UNIT_NUMBER, "process that started it") \
    COLUMN(PATH, "path", UNIT_TEXT, "file of the executable") \
    COLUMN(START_TS, "start_ts", UNIT_WHEN, "creation, or when it was first known") \
    COLUMN(END_TS, "end_ts", UNIT_WHEN, "end; empty: alive at the end of the trace") \
    COLUMN(STATUS, "status", UNIT_NUMBER, "exit status") \
    COLUMN(THREADS, "threads", UNIT_NUMBER, "number of its threads") \
    COLUMN(LIFE_DUR, "life_dur", UNIT_SPAN, "lifetime within the range") \
    COLUMN(WAS_CREATED, "was_created", UNIT_NUMBER, "1: its creation was seen") \
    COLUMN(IS_SELECTED, "is_selected", UNIT_NUMBER, "1: it lived in the range, and the options select it") \
    COLUMN(PRIO, "prio", UNIT_NUMBER, "priority; among ready threads, the highest runs first") \
    COLUMN(RAN_TICKS, "ran_ticks", UNIT_NUMBER, "thread_dur in ticks of the clock, of which sums are exact") \
    COLUMN(IS_IDLE, "is_idle", UNIT_NUMBER, "1: the idle thread of a CPU") \
    COLUMN(BUSY_DUR, "busy_dur", UNIT_SPAN, "time in which the CPU did not sleep") \
    COLUMN(BOOT_DUR, "boot_dur", UNIT_SPAN, "part of busy_dur until it first slept or ran a thread") \
    COLUMN(IDLE_DUR, "idle_dur", UNIT_SPAN, "time in which the CPU slept") \
    COLUMN(LOST_DUR, "lost_dur", UNIT_SPAN, "time for which events were lost") \
    COLUMN(SWITCHES, "switches", UNIT_NUMBER, "switches of threads") \
    COLUMN(BASE, "base", UNIT_ADDRESS, "address at which it is mapped") \
    COLUMN(SIZE, "size", UNIT_NUMBER, "size in bytes") \
    COLUMN(NUMBER, "number", UNIT_NUMBER, "number in events") \
    COLUMN(WATCH, "watch", UNIT_NUMBER, "one of N acquisitions is logged; 0: none") \
    COLUMN(VALUE, "value", UNIT_TEXT, "its value")

enum {
    M_FIELD,    /* of an event */
    M_DURATION, /* the same, converted from ticks */
#define COLUMN(meaning_, name_, unit_, text_) M_##meaning_,
    MEANINGS_OF_COLUMNS
#undef COLUMN
    MEANINGS
};

static const struct relation_column meanings[MEANINGS] = {
#define COLUMN(meaning_, name_, unit_, text_) \
    [M_##meaning_] = {.name = (name_), .text = (text_), .unit = (unit_)},
    MEANINGS_OF_COLUMNS
#undef COLUMN
};

#define CONTEXT M_TS, M_CPU_ID, M_VPID, M_VTID, M_PROCNAME
#define CONTEXT_COLUMNS 5u
#define WHO M_UTID, M_TID, M_PID, M_THREAD_NAME, M_PROCESS_NAME

static const struct {
    const char *name, *text;
    enum relation_source source;
    uint8_t columns[24]; /* ended by M_FIELD */
} own_relations[] = {
    {"event", "all events", SOURCE_EVENT, {CONTEXT, M_EVENT, M_CLASS, M_BYTES, M_EVENT_NUMBER, M_UTID, M_STANDS_FOR, M_VARIANCE}},
    {"activity", "calls, faults, exceptions, interrupts, requests and drains", SOURCE_ACTIVITY,
     {M_TS, M_DUR, WHO, M_CPU, M_DEPTH, M_KIND, M_NAME, M_DETAIL, M_THREAD_DUR, M_SELF_DUR, M_CHILD_DUR, M_ARG0, M_ARG1, M_PAGE, M_MAPPING, M_RESULT, M_IS_ERROR, M_IS_CUT}},
    {"thread_state", "times in which a thread was in one state", SOURCE_STATE, {M_TS, M_DUR, WHO, M_CPU, M_STATE, M_IS_IDLE}},
    {"sched", "times in which a thread ran on a CPU", SOURCE_RUN, {M_TS, M_DUR, WHO, M_CPU, M_IS_IDLE}},
    {"wakeup", "ends of waits", SOURCE_WAKEUP, {M_TS, WHO, M_CPU, M_WAKER_UTID, M_IS_DIRECT, M_IS_IDLE}},
    {"switch", "switches of a CPU from one thread to another", SOURCE_SWITCH,
     {M_TS, M_CPU, WHO, M_PREV_UTID, M_END_STATE, M_IS_MIGRATION, M_IS_HANDED, M_IS_IDLE}},
    {"ipi", "inter-processor interrupts from send to entry", SOURCE_IPI,
     {M_TS, M_DUR, M_NAME, M_FROM_CPU, M_TO_CPU, M_IS_TAKEN, M_IS_JOINED}},
    {"process", "processes", SOURCE_PROCESS, {M_PID, M_PARENT_PID, M_NAME, M_PATH, M_START_TS, M_END_TS, M_STATUS, M_THREADS, M_LIFE_DUR, M_WAS_CREATED, M_IS_SELECTED}},
    {"thread", "threads", SOURCE_THREAD,
     {M_UTID, M_TID, M_PID, M_NAME, M_IS_IDLE, M_CPU, M_PRIO, M_STATE, M_START_TS, M_END_TS, M_THREAD_DUR, M_RAN_TICKS}},
    {"cpu", "CPUs", SOURCE_CPU, {M_CPU, M_BUSY_DUR, M_BOOT_DUR, M_IDLE_DUR, M_LOST_DUR, M_SWITCHES}},
    {"executable", "programs and libraries, and where they are mapped", SOURCE_EXECUTABLE, {M_PID, M_BASE, M_SIZE, M_PATH}},
    {"lock_class", "names of lock classes", SOURCE_LOCK_CLASS, {M_NUMBER, M_NAME, M_KIND, M_WATCH}},
    {"irq", "names of interrupts", SOURCE_IRQ, {M_NUMBER, M_NAME}},
    {"event_type", "event types of the trace", SOURCE_EVENT_TYPE, {M_NUMBER, M_NAME, M_CLASS}},
    {"trace", "facts about the trace, and what it lacks", SOURCE_TRACE, {M_NAME, M_VALUE}},
};
#define OWN_RELATIONS (sizeof(own_relations) / sizeof(own_relations[0]))

static const struct maker *const makers[] = {&counted_maker, &lock_maker, &time_use_maker, &interval_maker, &scheduling_maker, &noise_maker, &ipc_maker,
                                             &ipc_path_maker, &sample_maker};
#define MAKERS (sizeof(makers) / sizeof(makers[0]))

/* Fields in ticks, which are converted to nanoseconds in columns of their own. */
static const struct {
    const char *event, *field, *column;
} durations[] = {
    {"fault_exit", "duration", "duration_ns"}, {"tlb_shootdown_end", "duration", "duration_ns"},
    {"lock_contended", "wait", "wait_ns"},     {"lock_held", "held", "held_ns"},
    {"profile_sample", "busy", "busy_ns"},     {"profile_sample", "late", "late_ns"},
    {"profile_rate", "period", "period_ns"},
};
#define DURATIONS (sizeof(durations) / sizeof(durations[0]))
/* clang-format on */

/* ---- values ---- */

struct value value_text(const char *text)
{
    return text != NULL ? (struct value){.kind = VALUE_TEXT, .text = text, .length = strlen(text)}
                        : (struct value){.kind = VALUE_NULL};
}

struct value value_plain(const struct schema *schema, struct value value)
{
    if (value.kind == VALUE_WHEN)
        return VALUE_OF(VALUE_SIGNED, schema_ns(schema, value.number));
    if (value.kind == VALUE_SPAN)
        return VALUE_NUMBER(value.begin != 0
                                ? schema_elapsed_ns(schema, value.begin, value.begin + value.number)
                                : ticks_to_ns(schema, value.number));
    return value;
}

size_t value_list_bytes(const struct schema *schema)
{
    size_t most = 1;

    for (unsigned i = 0; i < schema->event_count; i++)
        for (unsigned f = 0; f < schema->events[i]->field_count; f++) {
            size_t needed = value_capacity(&schema->events[i]->fields[f], false);

            most = needed > most ? needed : most;
        }
    return most;
}

struct value value_of_field(const struct field *field, const struct event *event, char *list_text)
{
    struct value value = {.kind = field->is_signed    ? VALUE_SIGNED
                                  : field->base == 16 ? VALUE_HEX
                                                      : VALUE_UNSIGNED};
    char number[ANALYSIS_NAME_BYTES];
    const char *label;

    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_STRING:
        return (struct value){.kind = VALUE_TEXT,
                              .text = (const char *)event->bytes + field->offset,
                              .length = field_text_length(field, event)};
    case FIELD_ARRAY:
    case FIELD_SEQUENCE:
        return (struct value){.kind = VALUE_TEXT,
                              .text = list_text,
                              .length = (size_t)(put_safe_list(list_text, event, field) - list_text)};
    case FIELD_INTEGER:
    case FIELD_ENUM:
        break;
    }
    value.number = field_integer(field, event->bytes);
    if (field->kind == FIELD_ENUM) {
        label = label_of(field, value.number, number);
        if (label != number)
            return value_text(label);
    }
    return value;
}

static struct value number_or_null(uint64_t number, bool is_known)
{
    return is_known ? VALUE_NUMBER(number) : (struct value){.kind = VALUE_NULL};
}

static struct value when_or_null(uint64_t ticks, bool is_known)
{
    return is_known ? VALUE_OF(VALUE_WHEN, ticks) : (struct value){.kind = VALUE_NULL};
}

struct value value_copy(const struct relation_row *row, const char *text)
{
    snprintf(row->relations->text, sizeof(row->relations->text), "%s", text);
    return value_text(row->relations->text);
}

/* A label is valid as long as the trace; a number without one is in a buffer. */
struct value value_of_label(const struct relation_row *row, const struct field *field, uint64_t number)
{
    char text[ANALYSIS_NAME_BYTES];
    const char *label = label_of(field, number, text);

    return label != text ? value_text(label) : value_copy(row, text);
}

static struct value of_event(const struct relation_row *row, const struct relation_column *column)
{
    const struct event *event = &row->cursor->event;
    const struct running *running;
    uint64_t every;

    switch (column->meaning) {
    case M_FIELD:
        return value_of_field(column->field, event, row->relations->list_text);
    case M_DURATION:
        return VALUE_TICKS(field_integer(column->field, event->bytes), 0);
    case M_VPID:
        running = cursor_running(row->cursor);
        return number_or_null(running->pid, running->is_known);
    case M_VTID:
        running = cursor_running(row->cursor);
        return number_or_null(running->tid, running->is_known);
    case M_PROCNAME:
        running = cursor_running(row->cursor);
        return (struct value){.kind = VALUE_TEXT, .text = running->comm, .length = running->comm_length};
    case M_EVENT:
        return value_text(event->type->name);
    case M_CLASS:
        return value_text(
            row->relations->analysis->trace->schema.classes[TRACE_ID_CLASS(event->type->id)].name);
    case M_EVENT_NUMBER:
        return VALUE_NUMBER(event->type->id);
    case M_STANDS_FOR:
    case M_VARIANCE:
        every = row->relations->analysis->model->limits[event->type->index].every;
        return number_or_null(column->meaning == M_STANDS_FOR ? every : every * (every - 1), every > 0);
    default: /* M_BYTES */
        return VALUE_NUMBER(event->words * 8ul);
    }
}

static struct value of_activity(const struct relation_row *row, const struct relation_column *column)
{
    const struct model_frame *frame = row->frame;
    const struct executable *executable;

    switch (column->meaning) {
    case M_KIND:
        return value_text(model_activity_names[frame->kind]);
    case M_NAME:
        if (frame->detail == UINT32_MAX) /* a fault that has not ended */
            return (struct value){.kind = VALUE_NULL};
        return value_of_label(row, row->relations->details[frame->kind], frame->detail);
    case M_DETAIL:
        return VALUE_NUMBER(frame->detail);
    case M_THREAD_DUR:
        return VALUE_TICKS(frame->ran, 0);
    case M_SELF_DUR:
        return VALUE_TICKS(frame->ran - frame->inner, 0);
    case M_CHILD_DUR:
        return VALUE_TICKS(frame->inner, 0);
    case M_ARG0:
        return VALUE_OF(VALUE_HEX, frame->args[0]);
    case M_ARG1:
        return VALUE_OF(VALUE_HEX, frame->args[1]);
    case M_PAGE:
        return VALUE_OF(VALUE_HEX, frame->args[0] / PAGE_BYTES * PAGE_BYTES);
    case M_MAPPING:
        executable =
            executables_find(&row->relations->analysis->model->executables, row->thread->pid, frame->args[0]);
        return VALUE_OF(VALUE_HEX, executable != NULL ? executable->base : 0);
    case M_RESULT: /* from the event that ended it; for a fault, its duration in ticks */
        return frame->kind == ACTIVITY_FAULT ? VALUE_TICKS((uint64_t)frame->result, 0)
                                             : VALUE_OF(VALUE_SIGNED, frame->result);
    case M_IS_ERROR:
        return VALUE_NUMBER(frame->result < 0);
    default: /* M_IS_CUT */
        return VALUE_NUMBER(frame->is_cut);
    }
}

/* Whether it lived in the range, and the filter selects it. */
static bool is_selected(const struct analysis *analysis, const struct model_process *process)
{
    const struct running running = {.pid = process->pid, .is_known = true};

    if (process->begin > analysis->to || (process->has_ended && process->end < analysis->from))
        return false;
    return !analysis->filter->by_running ||
           filter_running(analysis->filter, &running, &analysis->model->names);
}

static uint64_t life_of(const struct analysis *analysis, const struct model_process *process)
{
    uint64_t begin = process->begin > analysis->from ? process->begin : analysis->from;
    uint64_t end = process->has_ended && process->end < analysis->to ? process->end : analysis->to;

    return end > begin ? end - begin : 0;
}

static struct value of_process(const struct relation_row *row, const struct relation_column *column)
{
    const struct analysis *analysis = row->relations->analysis;
    const struct model_process *process = row->item;

    switch (column->meaning) {
    case M_PARENT_PID:
        return number_or_null(process->parent, process->parent != MODEL_NOBODY);
    case M_STATUS:
        return process->has_ended ? VALUE_OF(VALUE_SIGNED, process->status)
                                  : (struct value){.kind = VALUE_NULL};
    case M_LIFE_DUR:
        return VALUE_TICKS(life_of(analysis, process), 0);
    case M_WAS_CREATED:
        return VALUE_NUMBER(process->was_created);
    case M_IS_SELECTED:
        return VALUE_NUMBER(is_selected(analysis, process));
    default: /* M_THREADS */
        return VALUE_NUMBER(process->threads);
    }
}

static struct value of_cpu(const struct relation_row *row, const struct relation_column *column)
{
    const struct model_cpu *cpu = row->item;

    switch (column->meaning) {
    case M_BUSY_DUR:
        return VALUE_TICKS(cpu->busy, 0);
    case M_BOOT_DUR:
        return VALUE_TICKS(cpu->boot, 0);
    case M_IDLE_DUR:
        return VALUE_TICKS(cpu->idle, 0);
    case M_LOST_DUR:
        return VALUE_TICKS(cpu->lost, 0);
    default: /* M_SWITCHES */
        return VALUE_NUMBER(cpu->switches);
    }
}

static struct value of_thread(const struct relation_row *row, const struct relation_column *column)
{
    const struct analysis *analysis = row->relations->analysis;
    const struct model_thread *thread = row->thread;

    switch (column->meaning) {
    case M_UTID:
        return VALUE_NUMBER(thread->number);
    case M_TID:
        return VALUE_NUMBER(thread->tid);
    case M_PID:
        return number_or_null(thread->pid, thread->pid != MODEL_NOBODY);
    case M_THREAD_NAME:
        return value_text(analysis_thread_name(analysis, thread));
    case M_PROCESS_NAME:
        return value_text(analysis_process_name(analysis, thread->pid));
    case M_DEPTH:
        return VALUE_NUMBER(thread->depth);
    case M_PRIO:
        return VALUE_NUMBER(thread->prio);
    case M_RAN_TICKS:
        return VALUE_NUMBER(thread->ran);
    default: /* M_IS_IDLE */
        return VALUE_NUMBER(thread->is_idle);
    }
}

/* What is in fields of the row that several relations use. */
static struct value of_row(const struct relation_row *row, const struct relation_column *column)
{
    const struct analysis *analysis = row->relations->analysis;
    const struct trace *trace = analysis->trace;
    const struct executable *executable = row->item;
    char text[SYMBOL_NAME_BYTES];

    switch (column->meaning) {
    case M_TS:
        return VALUE_OF(VALUE_WHEN, row->begin);
    case M_DUR:
        return row->ticks != UINT64_MAX ? VALUE_TICKS(row->ticks, row->begin)
                                        : (struct value){.kind = VALUE_NULL};
    case M_CPU:
    case M_CPU_ID:
    case M_FROM_CPU:
        return VALUE_NUMBER(trace->streams[row->cpu].cpu);
    case M_STATE:
    case M_END_STATE:
        return value_text(row->is_so && row->interval != NULL ? "idle" : model_state_names[row->state]);
    case M_WAKER_UTID:
    case M_PREV_UTID:
        return number_or_null(row->other ? row->other->number : 0, row->other != NULL);
    case M_IS_TAKEN:
        return VALUE_NUMBER(row->ticks != UINT64_MAX);
    case M_IS_DIRECT:
    case M_IS_MIGRATION:
    case M_IS_JOINED:
        return VALUE_NUMBER(row->is_so);
    case M_IS_HANDED:
        return VALUE_NUMBER(row->thread->state > MODEL_READY && row->thread->state != MODEL_UNKNOWN);
    case M_START_TS:
        return VALUE_OF(VALUE_WHEN, row->begin);
    case M_END_TS:
        return when_or_null(row->end, row->is_so);
    case M_NAME:
        return value_text(row->name);
    case M_KIND:
    case M_CLASS:
    case M_PATH:
        return value_text(row->more);
    case M_VALUE:
        snprintf(text, sizeof(text), "%lld", (long long)row->number);
        return row->more != NULL ? value_text(row->more) : value_copy(row, text);
    case M_THREAD_DUR:
        return VALUE_TICKS(row->ticks, 0);
    case M_BASE:
        return VALUE_OF(VALUE_HEX, executable->base);
    case M_SIZE:
        return VALUE_NUMBER(executable->size);
    case M_PID:
    case M_NUMBER:
    case M_TO_CPU:
        return VALUE_NUMBER(row->number);
    default: /* M_WATCH */
        return VALUE_NUMBER(row->ticks);
    }
}

typedef struct value value_of(const struct relation_row *row, const struct relation_column *column);

static value_of *choose_value(enum relation_source source, unsigned meaning)
{
    if (source == SOURCE_EVENT && meaning >= M_VPID && meaning <= M_VARIANCE)
        return of_event;
    if (source == SOURCE_ACTIVITY && meaning >= M_KIND && meaning <= M_IS_CUT)
        return of_activity;
    if ((source <= SOURCE_SWITCH || source == SOURCE_THREAD) &&
        ((meaning >= M_UTID && meaning <= M_DEPTH) || (meaning >= M_PRIO && meaning <= M_IS_IDLE)))
        return of_thread;
    if (meaning >= M_BUSY_DUR && meaning <= M_SWITCHES)
        return of_cpu;
    if (meaning == M_PARENT_PID || (meaning >= M_STATUS && meaning <= M_IS_SELECTED))
        return of_process;
    return of_row;
}

/* ---- catalog ---- */

/* Adds a column that must not have a name of the context's. */
static void add_field(struct catalog *catalog, struct relation_column *column, const struct field *field)
{
    char name[80];

    *column = (struct relation_column){.name = field->name,
                                       .unit = field->kind != FIELD_INTEGER ? UNIT_TEXT
                                               : field->base == 16          ? UNIT_ADDRESS
                                                                            : UNIT_NUMBER,
                                       .meaning = M_FIELD,
                                       .field = field,
                                       .value = of_event};
    for (unsigned meaning = M_TS; meaning <= M_PROCNAME; meaning++)
        if (meaning != M_DUR && strcasecmp(field->name, meanings[meaning].name) == 0) {
            snprintf(name, sizeof(name), "event_%.60s", field->name);
            column->name = arena_string(&catalog->arena, name, strlen(name));
        }
}

static struct relation_column *add_meanings(struct relation_column *column, enum relation_source source,
                                            const uint8_t *listed)
{
    for (; *listed != M_FIELD; listed++) {
        *column = meanings[*listed];
        column->needs_model = source == SOURCE_EVENT && *listed >= M_STANDS_FOR && *listed <= M_UTID;
        column->value = choose_value(source, *listed);
        column++->meaning = *listed;
    }
    return column;
}

static void add_event(struct catalog *catalog, struct relation *relation, const struct event_type *type)
{
    static const uint8_t context[] = {CONTEXT, M_FIELD};
    struct relation_column *columns =
        arena_alloc(&catalog->arena, (CONTEXT_COLUMNS + type->field_count + DURATIONS) * sizeof(*columns));
    struct relation_column *column = add_meanings(columns, SOURCE_EVENT, context);

    for (unsigned f = 0; f < type->field_count; f++)
        add_field(catalog, column++, &type->fields[f]);
    for (size_t i = 0; i < DURATIONS; i++) {
        const struct field *field =
            strcmp(durations[i].event, type->name) == 0 ? schema_find_field(type, durations[i].field) : NULL;

        if (field != NULL && field->kind == FIELD_INTEGER &&
            schema_find_field(type, durations[i].column) == NULL)
            *column++ = (struct relation_column){.name = durations[i].column,
                                                 .unit = UNIT_SPAN,
                                                 .meaning = M_DURATION,
                                                 .field = field,
                                                 .value = of_event};
    }
    *relation = (struct relation){.name = type->name,
                                  .text = "events of this type",
                                  .source = SOURCE_EVENT,
                                  .type = type,
                                  .ip = schema_find_field(type, "ip"),
                                  .columns = columns,
                                  .column_count = (unsigned)(column - columns)};
}

static struct value of_maker(const struct relation_row *row, const struct relation_column *column)
{
    return row->cells[column->meaning];
}

static struct value of_parameter(const struct relation_row *row, const struct relation_column *column)
{
    return value_text(row->parameters[column->parameter - 1]);
}

static void add_made(struct catalog *catalog, const struct maker *maker, unsigned part)
{
    const struct made_relation *made = &maker->relations[part];
    struct relation_column *columns = arena_alloc(&catalog->arena, made->column_count * sizeof(*columns));

    memcpy(columns, made->columns, made->column_count * sizeof(*columns));
    for (unsigned c = 0; c < made->column_count; c++) {
        columns[c].meaning = c;
        if (columns[c].parameter != 0)
            columns[c].value = of_parameter;
        else if (columns[c].value == NULL)
            columns[c].value = of_maker;
    }
    catalog->relations[catalog->own++] = (struct relation){.name = made->name,
                                                           .text = made->text,
                                                           .source = SOURCE_MADE,
                                                           .maker = maker,
                                                           .part = part,
                                                           .columns = columns,
                                                           .column_count = made->column_count};
}

void catalog_open(struct catalog *catalog, const struct schema *schema)
{
    unsigned types = schema != NULL ? schema->event_count : 0;

    *catalog = (struct catalog){.own = OWN_RELATIONS};
    catalog->relations = arena_alloc(&catalog->arena, (OWN_RELATIONS + MAKERS * MAKER_RELATIONS + types) *
                                                          sizeof(catalog->relations[0]));
    for (size_t i = 0; i < OWN_RELATIONS; i++) {
        struct relation_column *columns =
            arena_alloc(&catalog->arena, sizeof(own_relations[i].columns) * sizeof(*columns));

        catalog->relations[i] = (struct relation){
            .name = own_relations[i].name,
            .text = own_relations[i].text,
            .source = own_relations[i].source,
            .columns = columns,
            .column_count =
                (unsigned)(add_meanings(columns, own_relations[i].source, own_relations[i].columns) -
                           columns)};
    }
    for (size_t i = 0; i < MAKERS; i++)
        for (unsigned part = 0; part < MAKER_RELATIONS && makers[i]->relations[part].name != NULL; part++)
            add_made(catalog, makers[i], part);
    catalog->count = catalog->own + types;
    for (unsigned i = 0; i < types; i++)
        add_event(catalog, &catalog->relations[catalog->own + i], schema->events[i]);
}

void catalog_close(struct catalog *catalog)
{
    arena_free(&catalog->arena);
}

const struct relation *catalog_find(const struct catalog *catalog, const char *name)
{
    for (unsigned i = 0; i < catalog->count; i++)
        if (strcmp(catalog->relations[i].name, name) == 0)
            return &catalog->relations[i];
    return NULL;
}

int relation_find_column(const struct relation *relation, const char *name)
{
    for (unsigned c = 0; c < relation->column_count; c++)
        if (strcasecmp(relation->columns[c].name, name) == 0)
            return (int)c;
    return -1;
}
