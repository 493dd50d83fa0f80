/* relation.c - declares the relations and computes their values; see relation.h. */
#include "trace/events.h" /* generated */
#include <stdio.h>
#include <strings.h>
#include <tools/tarn/print/print.h>
#include <tools/tarn/read/judge.h>
#include <tools/tarn/relation/maker.h>
#include <tools/tarn/symbols/symbols.h>

#define PAGE_BYTES 4096u /* on all architectures */

/* ---- values ---- */

struct value value_text(const char *text)
{
    return VALUE_IF(text != NULL, VALUE_BYTES(text, strlen(text)));
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
    const char *label;
    if (field->kind == FIELD_TEXT || field->kind == FIELD_STRING)
        return VALUE_BYTES((const char *)event->bytes + field->offset, field_text_length(field, event));
    if (field->kind == FIELD_ARRAY || field->kind == FIELD_SEQUENCE)
        return VALUE_BYTES(list_text,
                           (size_t)(put_list(list_text, event, field, PRINT_JSON, true) - list_text));
    value.number = field_integer(field, event->bytes);
    label = field->kind == FIELD_ENUM ? field_label(field, value.number) : NULL;
    return label != NULL ? value_text(label) : value;
}

/* A label is valid as long as the trace; a number without one is in a buffer. */
struct value value_of_label(const struct relation_row *row, const struct field *field, uint64_t number)
{
    return value_text(label_of(field, number, row->relations->text));
}

/* ---- columns ---- */

/* The subject of ROW. */
#define ANALYSIS   (row->relations->analysis)
#define TYPE       type_of(row)
#define RUNNING    cursor_running(row->cursor)
#define FRAME      row->frame
#define THREAD     row->thread
#define PROCESS    ((const struct model_process *)row->item)
#define PROCESSOR  ((const struct model_cpu *)row->item)
#define EXECUTABLE ((const struct executable *)row->item)
#define REPORT     ((const struct report *)row->item)
#define CPU_NUMBER NUMBER(ANALYSIS->trace->streams[row->cpu].cpu)
#define EVERY      ((uint64_t)ANALYSIS->model->limits[TYPE->index].every)

/* Name, unit, sentence and value of each column. add_event and needs_model go by their order. */
/* clang-format off */
#define COLUMNS(C) \
    C(TS, "ts", WHEN, "time on the trace's clock; a row with a duration begins then", WHEN(row->begin)) \
    C(CPU_ID, "cpu_id", NUMBER, "CPU that logged the event", CPU_NUMBER) \
    C(VPID, "vpid", NUMBER, "process that ran", IF(RUNNING->is_known, NUMBER(RUNNING->pid))) \
    C(VTID, "vtid", NUMBER, "thread that ran", IF(RUNNING->is_known, NUMBER(RUNNING->tid))) \
    C(PROCNAME, "procname", TEXT, "name of the thread that ran", \
      VALUE_BYTES(RUNNING->comm, RUNNING->comm_length)) \
    C(DUR, "dur", SPAN, "duration", IF(row->ticks != UINT64_MAX, VALUE_TICKS(row->ticks, row->begin))) \
    C(EVENT, "name", TEXT, "event type", STRING(TYPE->name)) \
    C(CLASS, "class", TEXT, "event class", \
      STRING(ANALYSIS->trace->schema.classes[TRACE_ID_CLASS(TYPE->id)].name)) \
    C(BYTES, "bytes", NUMBER, "size of the event in the trace", NUMBER(row->cursor->event.words * 8ul)) \
    C(EVENT_NUMBER, "number", NUMBER, "number of the event type", NUMBER(TYPE->id)) \
    C(STANDS_FOR, "stands_for", NUMBER, "N: one in N events was logged; empty: all were", \
      IF(EVERY > 0, NUMBER(EVERY))) \
    C(VARIANCE, "variance", NUMBER, "N * (N - 1), for the error of an estimate", \
      IF(EVERY > 0, NUMBER(EVERY * (EVERY - 1)))) \
    C(UTID, "utid", NUMBER, "number of the thread, unique in the trace; idle threads share tid 0", \
      NUMBER(THREAD->number)) \
    C(CPU, "cpu", NUMBER, "the CPU's number; of a thread, where it runs or last ran", CPU_NUMBER) \
    C(TID, "tid", NUMBER, "thread ID", NUMBER(THREAD->tid)) \
    C(PID, "pid", NUMBER, "process ID; 0 is the kernel", IF(THREAD->pid != MODEL_NOBODY, NUMBER(THREAD->pid))) \
    C(ITS_PID, "pid", NUMBER, "process ID; 0 is the kernel", NUMBER(row->number)) \
    C(THREAD_NAME, "thread_name", TEXT, "name of the thread", STRING(analysis_thread_name(ANALYSIS, THREAD))) \
    C(PROCESS_NAME, "process_name", TEXT, "name of the process", \
      STRING(analysis_process_name(ANALYSIS, THREAD->pid))) \
    C(DEPTH, "depth", NUMBER, "number of activities around it", NUMBER(THREAD->depth)) \
    C(KIND, "kind", TEXT, "libc, syscall, fault, exception, irq, ipi, request or drain", \
      STRING(model_activity_names[FRAME->kind])) \
    C(LOCK_KIND, "kind", TEXT, "lock or event", STRING(row->more)) \
    C(ACTIVITY, "name", TEXT, "its name; empty: a fault that has not ended", \
      IF(FRAME->detail != UINT32_MAX, value_of_label(row, row->relations->details[FRAME->kind], FRAME->detail))) \
    C(NAME, "name", TEXT, "its name", STRING(row->name)) \
    C(DETAIL, "detail", NUMBER, "number of the call, fault type, vector, interrupt or request", \
      NUMBER(FRAME->detail)) \
    C(ACTIVITY_RAN, "thread_dur", SPAN, "part of the duration in which the thread ran", SPAN(FRAME->ran)) \
    C(THREAD_DUR, "thread_dur", SPAN, "time that it ran", SPAN(row->ticks)) \
    C(SELF_DUR, "self_dur", SPAN, "part of thread_dur outside of inner activities", \
      SPAN(FRAME->ran - FRAME->inner)) \
    C(CHILD_DUR, "child_dur", SPAN, "part of thread_dur in inner activities", SPAN(FRAME->inner)) \
    C(ARG0, "arg0", ADDRESS, "first argument; of a fault, the address", HEX(FRAME->args[0])) \
    C(ARG1, "arg1", ADDRESS, "second argument; of a fault, the instruction's address", HEX(FRAME->args[1])) \
    C(PAGE, "page", ADDRESS, "page of arg0", HEX(FRAME->args[0] / PAGE_BYTES * PAGE_BYTES)) \
    C(MAPPING, "mapping", ADDRESS, "where the file is mapped that contains arg0; 0: none", HEX(mapping_of(row))) \
    C(RESULT, "result", NUMBER, "return value; of a fault, nanoseconds until it was handled", \
      FRAME->kind == ACTIVITY_FAULT ? SPAN((uint64_t)FRAME->result) : SIGNED(FRAME->result)) \
    C(IS_ERROR, "is_error", NUMBER, "1: the result is negative", NUMBER(FRAME->result < 0)) \
    C(IS_CUT, "is_cut", NUMBER, "1: its begin or end was not seen", NUMBER(FRAME->is_cut)) \
    C(STATE, "state", TEXT, "running, ready, idle (asleep), unknown, or what the thread waited for", \
      STRING(row->is_so && row->interval != NULL ? "idle" : model_state_names[row->state])) \
    C(WAKER_UTID, "waker_utid", NUMBER, "thread that ended the wait; empty: a timer or an interrupt", \
      THREAD_OF(row->other)) \
    C(IS_DIRECT, "is_direct", NUMBER, "1: an IPC handed over the CPU", NUMBER(row->is_so)) \
    C(PREV_UTID, "prev_utid", NUMBER, "thread that ran before", THREAD_OF(row->other)) \
    C(END_STATE, "end_state", TEXT, "state of that thread from then on", STRING(model_state_names[row->state])) \
    C(IS_MIGRATION, "is_migration", NUMBER, "1: the thread last ran on another CPU", NUMBER(row->is_so)) \
    C(IS_HANDED, "is_handed", NUMBER, "1: the thread was handed the CPU without a wait for it", \
      NUMBER(THREAD->state > MODEL_READY && THREAD->state != MODEL_UNKNOWN)) \
    C(FROM_CPU, "from_cpu", NUMBER, "sending CPU", CPU_NUMBER) \
    C(TO_CPU, "to_cpu", NUMBER, "receiving CPU", NUMBER(row->number)) \
    C(IS_TAKEN, "is_taken", NUMBER, "1: it was taken, dur after it was sent", NUMBER(row->ticks != UINT64_MAX)) \
    C(IS_JOINED, "is_joined", NUMBER, "1: the CPU took it together with an earlier one", NUMBER(row->is_so)) \
    C(PARENT_PID, "parent_pid", NUMBER, "process that started it", \
      IF(PROCESS->parent != MODEL_NOBODY, NUMBER(PROCESS->parent))) \
    C(PATH, "path", TEXT, "file of the executable", STRING(row->more)) \
    C(START_TS, "start_ts", WHEN, "creation, or when it was first known", WHEN(row->begin)) \
    C(END_TS, "end_ts", WHEN, "end; empty: alive at the end of the trace", IF(row->is_so, WHEN(row->end))) \
    C(STATUS, "status", NUMBER, "exit status", IF(PROCESS->has_ended, SIGNED(PROCESS->status))) \
    C(THREADS, "threads", NUMBER, "number of its threads", NUMBER(PROCESS->threads)) \
    C(LIFE_DUR, "life_dur", SPAN, "lifetime within the range", SPAN(life_of(ANALYSIS, PROCESS))) \
    C(WAS_CREATED, "was_created", NUMBER, "1: its creation was seen", NUMBER(PROCESS->was_created)) \
    C(IS_SELECTED, "is_selected", NUMBER, "1: it lived in the range, and the options select it", \
      NUMBER(is_selected(ANALYSIS, PROCESS))) \
    C(PRIO, "prio", NUMBER, "priority; among ready threads, the highest runs first", NUMBER(THREAD->prio)) \
    C(RAN_TICKS, "ran_ticks", NUMBER, "thread_dur in ticks of the clock, of which sums are exact", \
      NUMBER(THREAD->ran)) \
    C(IS_IDLE, "is_idle", NUMBER, "1: the idle thread of a CPU", NUMBER(THREAD->is_idle)) \
    C(BUSY_DUR, "busy_dur", SPAN, "time in which the CPU did not sleep", SPAN(PROCESSOR->busy)) \
    C(BOOT_DUR, "boot_dur", SPAN, "part of busy_dur until it first slept or ran a thread", \
      SPAN(PROCESSOR->boot)) \
    C(IDLE_DUR, "idle_dur", SPAN, "time in which the CPU slept", SPAN(PROCESSOR->idle)) \
    C(LOST_DUR, "lost_dur", SPAN, "time for which events were lost", SPAN(PROCESSOR->lost)) \
    C(SWITCHES, "switches", NUMBER, "switches of threads", NUMBER(PROCESSOR->switches)) \
    C(BASE, "base", ADDRESS, "address at which it is mapped", HEX(EXECUTABLE->base)) \
    C(SIZE, "size", NUMBER, "size in bytes", NUMBER(EXECUTABLE->size)) \
    C(ITS_NUMBER, "number", NUMBER, "number in events", NUMBER(row->number)) \
    C(WATCH, "watch", NUMBER, "one of N acquisitions is logged; 0: none", NUMBER(row->ticks)) \
    C(VALUE, "value", TEXT, "its value", row->more != NULL ? STRING(row->more) : number_text(row)) \
    C(STATE_THING, "thing", TEXT, \
      "process, thread, executable, lock_class, irq, or begin or end of the statedump", STRING(thing_of(row))) \
    C(STATE_PID, "pid", NUMBER, "process ID; 0 is the kernel", field_called(row, "pid")) \
    C(STATE_TID, "tid", NUMBER, "thread ID", field_called(row, "tid")) \
    C(STATE_PARENT, "parent_pid", NUMBER, "process that started it", \
      first_of(field_called(row, "parent_pid"), field_called(row, "ppid"))) \
    C(STATE_NUMBER, "number", NUMBER, "number of the lock class, interrupt or statedump", \
      first_of(first_of(field_called(row, "lock_class"), field_called(row, "irq")), field_called(row, "number"))) \
    C(STATE_NAME, "name", TEXT, "its name; of an executable, its path; of an interrupt, its use", \
      first_of(first_of(field_called(row, "name"), field_called(row, "filename")), field_called(row, "action"))) \
    C(STATE_KIND, "kind", TEXT, "of a lock class: lock or event", field_called(row, "kind")) \
    C(STATE_WATCH, "watch", NUMBER, "of a lock class: one of N acquisitions is logged", \
      field_called(row, "watch")) \
    C(STATE_PRIO, "prio", NUMBER, "priority of a thread", field_called(row, "prio")) \
    C(STATE_STATE, "state", TEXT, "state of a thread", state_called(row)) \
    C(STATE_BASE, "base", ADDRESS, "address at which an executable is mapped", field_called(row, "base")) \
    C(STATE_SIZE, "size", NUMBER, "size of an executable in bytes", field_called(row, "size")) \
    C(REPORT_TS, "ts", WHEN, "time before which nothing is wrong; empty: unknown", \
      IF(REPORT->begin != 0, WHEN(REPORT->begin))) \
    C(REPORT_END, "end_ts", WHEN, "time from which on nothing is wrong; empty: unknown", \
      IF(REPORT->end > REPORT->begin, WHEN(REPORT->end))) \
    C(REPORT_CPU, "cpu", NUMBER, "the CPU's number; empty: the whole trace", \
      IF(REPORT->stream != NULL, NUMBER(REPORT->stream->cpu))) \
    C(REPORT_NAME, "name", TEXT, "kind, as `tarn check` calls it", STRING(anomaly_kinds[REPORT->anomaly].name)) \
    C(REPORT_PACKET, "packet", NUMBER, "number of the packet", \
      IF(REPORT->stream != NULL, NUMBER(REPORT->packet_seq))) \
    C(REPORT_OFFSET, "offset", NUMBER, "place in the CPU's file", \
      IF(REPORT->stream != NULL, NUMBER(REPORT->offset))) \
    C(REPORT_TEXT, "text", TEXT, "the line of `tarn check`", report_text(row)) \
    C(LOST_EVENTS, "events", NUMBER, "events lost, those in lost packets too; empty: unknown", \
      lost_events(REPORT)) \
    C(LOST_PACKETS, "packets", NUMBER, "packets lost", \
      NUMBER(REPORT->anomaly == ANOMALY_LOST_PACKETS ? REPORT->count : 0))
/* clang-format on */

static const struct event_type *type_of(const struct relation_row *row)
{
    return row->cursor != NULL ? row->cursor->event.type : row->item;
}

static uint64_t mapping_of(const struct relation_row *row)
{
    const struct executable *executable =
        executables_find(&ANALYSIS->model->executables, THREAD->pid, FRAME->args[0]);
    return executable != NULL ? executable->base : 0;
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
    uint64_t begin = later(process->begin, analysis->from);
    uint64_t end = process->has_ended ? sooner(process->end, analysis->to) : analysis->to;
    return end > begin ? end - begin : 0;
}

/* The name of an event of a statedump, without what LTTng or its class adds. */
static const char *thing_of(const struct relation_row *row)
{
    static const char *const things[][2] = {{"lttng_statedump_start", "begin"},
                                            {"lttng_statedump_process_state", "thread"},
                                            {"lttng_statedump_interrupt", "irq"},
                                            {"state_image", "executable"},
                                            {"lttng_statedump_end", "end"}};
    for (size_t i = 0; i < sizeof(things) / sizeof(things[0]); i++)
        if (strcmp(things[i][0], TYPE->name) == 0)
            return things[i][1];
    return strncmp(TYPE->name, "state_", 6) == 0 ? TYPE->name + 6 : TYPE->name;
}

static struct value field_called(const struct relation_row *row, const char *name)
{
    const struct field *field = schema_find_field(TYPE, name);
    return field != NULL ? value_of_field(field, &row->cursor->event, row->relations->list_text) : NOTHING;
}

static struct value state_called(const struct relation_row *row)
{
    const struct field *field = schema_find_field(TYPE, "state");
    uint64_t state =
        field != NULL ? MODEL_STATE_OF(field_integer(field, row->cursor->event.bytes)) : MODEL_STATES;
    return IF(state < MODEL_STATES, STRING(model_state_names[state]));
}

static struct value first_of(struct value first, struct value second)
{
    return first.kind != VALUE_NULL ? first : second;
}

static struct value report_text(const struct relation_row *row)
{
    format_report(ANALYSIS->trace, REPORT, row->relations->text, sizeof(row->relations->text));
    return value_text(row->relations->text);
}

static struct value lost_events(const struct report *report)
{
    if (report->anomaly == ANOMALY_LOST_PACKETS)
        return IF(report->events != TRACE_EVENTS_UNKNOWN, NUMBER(report->events));
    return IF(report->anomaly == ANOMALY_LOST_EVENTS && report->count != UINT64_MAX, NUMBER(report->count));
}

static struct value number_text(const struct relation_row *row)
{
    snprintf(row->relations->text, sizeof(row->relations->text), "%lld", (long long)row->number);
    return value_text(row->relations->text);
}

#define FUNCTION(meaning_, name_, unit_, text_, value_)                                                \
    static struct value of_##meaning_(const struct relation_row *row, const struct relation_column *c) \
    {                                                                                                  \
        return value_;                                                                                 \
    }
COLUMNS(FUNCTION)

/* clang-format off */
#define NUMBERED(meaning_, name_, unit_, text_, value_) M_##meaning_,
enum { M_END /* of a list */, COLUMNS(NUMBERED) MEANINGS };

#define DECLARED(meaning_, name_, unit_, text_, value_) \
    [M_##meaning_] = {.name = (name_), .text = (text_), .unit = UNIT_##unit_, .value = of_##meaning_},
static const struct relation_column meanings[MEANINGS] = {COLUMNS(DECLARED)};

#define CONTEXT M_TS, M_CPU_ID, M_VPID, M_VTID, M_PROCNAME
#define CONTEXT_COLUMNS 5u
#define WHO M_UTID, M_TID, M_PID, M_THREAD_NAME, M_PROCESS_NAME

static const struct {
    const char *name, *text;
    enum relation_source source;
    uint8_t columns[24]; /* ended by M_END */
} own_relations[] = {
    {"event", "all events", SOURCE_EVENT, {CONTEXT, M_EVENT, M_CLASS, M_BYTES, M_EVENT_NUMBER, M_UTID, M_STANDS_FOR, M_VARIANCE}},
    {"activity", "calls, faults, exceptions, interrupts, requests and drains", SOURCE_ACTIVITY,
     {M_TS, M_DUR, WHO, M_CPU, M_DEPTH, M_KIND, M_ACTIVITY, M_DETAIL, M_ACTIVITY_RAN, M_SELF_DUR, M_CHILD_DUR, M_ARG0, M_ARG1, M_PAGE, M_MAPPING, M_RESULT, M_IS_ERROR, M_IS_CUT}},
    {"thread_state", "times in which a thread was in one state", SOURCE_STATE, {M_TS, M_DUR, WHO, M_CPU, M_STATE, M_IS_IDLE}},
    {"sched", "times in which a thread ran on a CPU", SOURCE_RUN, {M_TS, M_DUR, WHO, M_CPU, M_IS_IDLE}},
    {"wakeup", "ends of waits", SOURCE_WAKEUP, {M_TS, WHO, M_CPU, M_WAKER_UTID, M_IS_DIRECT, M_IS_IDLE}},
    {"switch", "switches of a CPU from one thread to another", SOURCE_SWITCH,
     {M_TS, M_CPU, WHO, M_PREV_UTID, M_END_STATE, M_IS_MIGRATION, M_IS_HANDED, M_IS_IDLE}},
    {"ipi", "inter-processor interrupts from send to entry", SOURCE_IPI,
     {M_TS, M_DUR, M_NAME, M_FROM_CPU, M_TO_CPU, M_IS_TAKEN, M_IS_JOINED}},
    {"statedump", "what the kernel told of threads, processes, executables, ... when tracing started, and later", SOURCE_STATEDUMP,
     {M_TS, M_CPU_ID, M_STATE_THING, M_STATE_PID, M_STATE_TID, M_STATE_NAME, M_STATE_NUMBER, M_STATE_PARENT, M_STATE_PRIO, M_STATE_STATE, M_STATE_KIND, M_STATE_WATCH, M_STATE_BASE, M_STATE_SIZE}},
    {"process", "processes", SOURCE_PROCESS, {M_ITS_PID, M_PARENT_PID, M_NAME, M_PATH, M_START_TS, M_END_TS, M_STATUS, M_THREADS, M_LIFE_DUR, M_WAS_CREATED, M_IS_SELECTED}},
    {"thread", "threads", SOURCE_THREAD,
     {M_UTID, M_TID, M_PID, M_NAME, M_IS_IDLE, M_CPU, M_PRIO, M_STATE, M_START_TS, M_END_TS, M_THREAD_DUR, M_RAN_TICKS}},
    {"cpu", "CPUs", SOURCE_CPU, {M_CPU, M_BUSY_DUR, M_BOOT_DUR, M_IDLE_DUR, M_LOST_DUR, M_SWITCHES}},
    {"executable", "programs and libraries, and where they are mapped", SOURCE_EXECUTABLE, {M_ITS_PID, M_BASE, M_SIZE, M_PATH}},
    {"lock_class", "names of lock classes", SOURCE_LOCK_CLASS, {M_ITS_NUMBER, M_NAME, M_LOCK_KIND, M_WATCH}},
    {"irq", "names of interrupts", SOURCE_IRQ, {M_ITS_NUMBER, M_NAME}},
    {"event_type", "event types of the trace", SOURCE_EVENT_TYPE, {M_EVENT_NUMBER, M_EVENT, M_CLASS}},
    {"anomaly", "what is damaged in the trace, and what it lost", SOURCE_ANOMALY,
     {M_REPORT_TS, M_REPORT_END, M_REPORT_CPU, M_REPORT_NAME, M_REPORT_PACKET, M_REPORT_OFFSET, M_REPORT_TEXT}},
    {"loss", "what the trace lost, for lack of space or of a complete pull", SOURCE_LOSS,
     {M_REPORT_TS, M_REPORT_END, M_REPORT_CPU, M_REPORT_NAME, M_LOST_EVENTS, M_LOST_PACKETS, M_REPORT_TEXT}},
    {"trace", "facts about the trace, and what it lacks", SOURCE_TRACE, {M_NAME, M_VALUE}},
};
#define OWN_RELATIONS (sizeof(own_relations) / sizeof(own_relations[0]))

static const struct maker *const makers[] = {&counted_maker, &lock_maker, &time_use_maker, &interval_maker, &scheduling_maker, &noise_maker, &ipc_maker,
                                             &ipc_path_maker, &sample_maker};
#define MAKERS (sizeof(makers) / sizeof(makers[0]))

/* Fields in ticks, which are converted to nanoseconds in columns of their own. */
static const struct {
    const char *event, *field;
} durations[] = {{"fault_exit", "duration"}, {"tlb_shootdown_end", "duration"}, {"lock_contended", "wait"},
                 {"lock_held", "held"},      {"profile_sample", "busy"},        {"profile_sample", "late"}};
#define DURATIONS (sizeof(durations) / sizeof(durations[0]))
/* clang-format on */

/* ---- fields of events ---- */

static struct value of_field(const struct relation_row *row, const struct relation_column *column)
{
    return value_of_field(column->field, &row->cursor->event, row->relations->list_text);
}

/* Converted from ticks; the largest number is an unknown one. */
static struct value of_duration(const struct relation_row *row, const struct relation_column *column)
{
    const uint64_t ticks = field_integer(column->field, row->cursor->event.bytes);
    return IF(ticks != UINT64_MAX, SPAN(ticks));
}

/* Whether the field is one of `durations`, or of a row (trace/format/FORMAT.md, "Rows"). */
static bool is_in_ticks(const struct event_type *type, const struct field *field)
{
    const struct trace_table_info *table = &trace_table_list[TRACE_ID_MINOR(type->id) % TRACE_TABLE_COUNT];
    bool is_one = false;
    for (size_t i = 0; i < DURATIONS; i++)
        is_one |= strcmp(durations[i].event, type->name) == 0 && strcmp(durations[i].field, field->name) == 0;
    for (unsigned c = 0; TRACE_ID_CLASS(type->id) == TRACE_CLASS_ROWS && c < table->column_count; c++)
        is_one |= table->columns[c].unit[0] == 't' && strcmp(table->columns[c].name, field->name) == 0;
    return is_one && field->kind == FIELD_INTEGER;
}

/* Adds a column that must not have a name of the context's. */
static void add_field(struct catalog *catalog, struct relation_column *column, const struct field *field)
{
    char name[80];
    *column = (struct relation_column){.name = field->name,
                                       .unit = field->kind != FIELD_INTEGER ? UNIT_TEXT
                                               : field->base == 16          ? UNIT_ADDRESS
                                                                            : UNIT_NUMBER,
                                       .field = field,
                                       .value = of_field};
    for (unsigned meaning = M_TS; meaning <= M_PROCNAME; meaning++)
        if (strcasecmp(field->name, meanings[meaning].name) == 0) {
            snprintf(name, sizeof(name), "event_%.60s", field->name);
            column->name = arena_string(&catalog->arena, name, strlen(name));
        }
}

static struct relation_column *add_meanings(struct relation_column *column, enum relation_source source,
                                            const uint8_t *listed)
{
    for (; *listed != M_END; listed++) {
        *column = meanings[*listed];
        column++->needs_model = source == SOURCE_EVENT && *listed >= M_STANDS_FOR && *listed <= M_UTID;
    }
    return column;
}

static void add_event(struct catalog *catalog, struct relation *relation, const struct event_type *type)
{
    static const uint8_t context[] = {CONTEXT, M_END};
    struct relation_column *columns =
        arena_alloc(&catalog->arena, (CONTEXT_COLUMNS + 2ul * type->field_count) * sizeof(*columns));
    struct relation_column *column = add_meanings(columns, SOURCE_EVENT, context);
    for (unsigned f = 0; f < type->field_count; f++)
        add_field(catalog, column++, &type->fields[f]);
    for (unsigned f = 0; f < type->field_count; f++) {
        const struct field *field = &type->fields[f];
        char name[80];
        snprintf(name, sizeof(name), "%.60s_ns", field->name);
        if (is_in_ticks(type, field) && schema_find_field(type, name) == NULL)
            *column++ = (struct relation_column){.name = arena_string(&catalog->arena, name, strlen(name)),
                                                 .unit = UNIT_SPAN,
                                                 .field = field,
                                                 .value = of_duration};
    }
    *relation = (struct relation){.name = type->name,
                                  .text = "events of this type",
                                  .source = SOURCE_EVENT,
                                  .type = type,
                                  .ip = schema_find_field(type, "ip"),
                                  .columns = columns,
                                  .column_count = (unsigned)(column - columns)};
}

/* ---- catalog ---- */

static struct value of_maker(const struct relation_row *row, const struct relation_column *column)
{
    return row->cells[column->cell];
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
        columns[c].cell = c;
        if (columns[c].value == NULL)
            columns[c].value = columns[c].parameter != 0 ? of_parameter : of_maker;
    }
    catalog->relations[catalog->own++] = (struct relation){
        made->name, made->text, SOURCE_MADE, maker, part, NULL, NULL, columns, made->column_count};
}

void catalog_open(struct catalog *catalog, const struct schema *schema)
{
    unsigned types = schema != NULL ? schema->event_count : 0;
    *catalog = (struct catalog){.own = OWN_RELATIONS};
    catalog->relations = arena_alloc(&catalog->arena, (OWN_RELATIONS + MAKERS * MAKER_RELATIONS + types) *
                                                          sizeof(catalog->relations[0]));
    for (size_t i = 0; i < OWN_RELATIONS; i++) {
        struct relation *relation = &catalog->relations[i];
        struct relation_column *columns =
            arena_alloc(&catalog->arena, sizeof(own_relations[i].columns) * sizeof(*columns));
        relation->name = own_relations[i].name;
        relation->text = own_relations[i].text;
        relation->source = own_relations[i].source;
        relation->columns = columns;
        relation->column_count =
            (unsigned)(add_meanings(columns, relation->source, own_relations[i].columns) - columns);
    }
    for (size_t i = 0; i < MAKERS; i++)
        for (unsigned part = 0; part < MAKER_RELATIONS && makers[i]->relations[part].name != NULL; part++)
            add_made(catalog, makers[i], part);
    catalog->count = catalog->own + types;
    for (unsigned i = 0; i < types; i++)
        add_event(catalog, &catalog->relations[catalog->own + i], schema->events[i]);
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
