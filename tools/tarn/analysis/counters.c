/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counters.c - `tarn counters`: what hardware counters counted, by thread, process, system call, and interval
 * of a program.
 *
 * The events of class counter have counts by slot; counter_bound names the counter of a slot, which then
 * heads its columns. If a slot gets another counter, counts from before are dropped, since they do not add up
 * with later ones.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tools/tarn/analysis/kinds.h>
#include <tools/tarn/analysis/rows.h>

#define SLOTS      4u
#define NAME_BYTES 24u

enum { BY_COUNTER, BY_THREAD, BY_PROCESS, BY_SYSCALL, BY_INTERVAL, TABLES };

/* Counts by slot, and how often something was counted. */
struct counts {
    uint64_t times, count[SLOTS];
};

struct thread_counts {
    struct counts counts;
    const struct model_thread *thread; /* NULL: never known */
    uint32_t tid, pid;
};

struct slot {
    char name[NAME_BYTES]; /* "": unknown */
    uint64_t bits;
};

/* Fields of an event type with counts; `type` is NULL if the trace does not have it. */
struct counted_type {
    const struct event_type *type;
    const struct field *key, *tid, *pid, *ended, *count[SLOTS];
};

struct counters {
    struct analysis analysis;
    struct map threads;    /* struct thread_counts by tid and pid */
    struct map syscalls;   /* struct counts by number */
    struct map intervals;  /* struct counts by id */
    struct slots previous; /* by rank of CPU: struct model_thread *, the thread that it ran before */
    struct counts all;     /* of all runs */
    struct counted_type run, syscall, interval;
    const struct event_type *bound;
    const struct field *place, *slots, *bits, *name;
    struct slot slot[SLOTS];
    uint32_t slot_count; /* the most that were bound */
    bool has_changed;    /* a slot got another counter */
};

/* Slots that are not bound lose their columns, so these come last. */
#define COUNT_COLUMNS \
    COUNT_COLUMN("count0"), COUNT_COLUMN("count1"), COUNT_COLUMN("count2"), COUNT_COLUMN("count3")
#define MEAN_COLUMNS                                                                                  \
    COUNT_COLUMN("count0"), MEAN_COLUMN("mean0", 1), COUNT_COLUMN("count1"), MEAN_COLUMN("mean1", 1), \
        COUNT_COLUMN("count2"), MEAN_COLUMN("mean2", 1), COUNT_COLUMN("count3"), MEAN_COLUMN("mean3", 1)
static const struct table_column counter_columns[] = {NUMBER_COLUMN("slot"), NUMBER_COLUMN("bits"),
                                                      COUNT_COLUMN("total"), REAL_COLUMN("per_second", 0)};
static const struct table_column thread_columns[] = {
    NUMBER_COLUMN("tid"), NUMBER_COLUMN("pid"), COUNT_COLUMN("runs"), MEAN_COLUMN("ipc", 3), COUNT_COLUMNS};
static const struct table_column process_columns[] = {NUMBER_COLUMN("pid"), COUNT_COLUMN("runs"),
                                                      MEAN_COLUMN("ipc", 3), COUNT_COLUMNS};
static const struct table_column syscall_columns[] = {NUMBER_COLUMN("number"), COUNT_COLUMN("calls"),
                                                      MEAN_COLUMN("ipc", 3), MEAN_COLUMNS};
static const struct table_column interval_columns[] = {NUMBER_COLUMN("id"), COUNT_COLUMN("intervals"),
                                                       MEAN_COLUMN("ipc", 3), MEAN_COLUMNS};
static const struct table tables[TABLES] = {
    [BY_COUNTER] = TABLE("counter", "counter", "counters", counter_columns, TABLE_AS_FILLED,
                         "the counters, and what they counted on all CPUs"),
    [BY_THREAD] =
        TABLE("thread", "thread", "threads", thread_columns, "count0", "counts while each thread ran"),
    [BY_PROCESS] = TABLE("process", "process", "processes", process_columns, "count0",
                         "counts while the threads of each process ran"),
    [BY_SYSCALL] = TABLE("syscall", "system call", "system calls", syscall_columns, "count0",
                         "counts of each system call"),
    [BY_INTERVAL] = TABLE("interval", "interval", "intervals", interval_columns, "count0",
                          "counts of each interval that programs logged"),
};

/* ---- the walk -------------------------------------------------------------------------------------- */

static void forget_counts(struct counters *counters)
{
    struct map *maps[] = {&counters->threads, &counters->syscalls, &counters->intervals};

    for (size_t m = 0; m < sizeof(maps) / sizeof(maps[0]); m++)
        for (size_t i = 0; i < maps[m]->count; i++) /* struct thread_counts begins with struct counts */
            *(struct counts *)map_value(maps[m], i) = (struct counts){0};
    counters->all = (struct counts){0};
    counters->has_changed = true;
}

static void on_bound(struct counters *counters, const struct event *event)
{
    uint64_t place = field_integer(counters->place, event->bytes);
    uint64_t slots = field_integer(counters->slots, event->bytes);
    const char *name = (const char *)event->bytes + counters->name->offset;
    size_t length = event->words * 8ul - counters->name->offset;
    struct slot *slot;

    if (place >= SLOTS || slots > SLOTS || slots == 0)
        return;
    slot = &counters->slot[place];
    length = strnlen(name, length < NAME_BYTES - 1 ? length : NAME_BYTES - 1);
    if (slot->name[0] != '\0' && (strlen(slot->name) != length || memcmp(slot->name, name, length) != 0))
        forget_counts(counters);
    memcpy(slot->name, name, length);
    slot->name[length] = '\0';
    slot->bits = field_integer(counters->bits, event->bytes);
    counters->slot_count = slots > counters->slot_count ? (uint32_t)slots : counters->slot_count;
}

static void add_event(struct counts *counts, const struct counted_type *counted, const struct event *event,
                      uint64_t times)
{
    counts->times += times;
    for (unsigned i = 0; i < SLOTS; i++)
        counts->count[i] += field_integer(counted->count[i], event->bytes);
}

static void on_run(struct counters *counters, const struct event *event, const struct model_thread *thread)
{
    uint32_t tid = (uint32_t)field_integer(counters->run.tid, event->bytes);
    uint32_t pid = (uint32_t)field_integer(counters->run.pid, event->bytes);
    struct thread_counts *own = map_at(&counters->threads, tid, pid, 0);
    uint64_t ended = field_integer(counters->run.ended, event->bytes);

    if (thread != NULL)
        own->thread = thread;
    own->tid = tid;
    own->pid = pid;
    add_event(&own->counts, &counters->run, event, ended);
    add_event(&counters->all, &counters->run, event, ended);
}

/* A run is logged right after the switch that ended it. */
static void on_switch(struct model_observer *self, uint32_t cpu, const struct model_thread *prev,
                      enum model_state new_state, const struct model_thread *next, uint64_t ticks)
{
    struct counters *counters = ANALYSIS_OF(self, struct counters);

    (void)new_state, (void)next, (void)ticks;
    *(const struct model_thread **)slots_at(&counters->previous, cpu) = prev;
}

/* The thread that an event is about; NULL: unknown. It may have ended with the run that is logged. */
static const struct model_thread *thread_of(struct counters *counters, const struct counted_type *counted,
                                            const struct cursor *cursor)
{
    uint32_t tid = (uint32_t)field_integer(counted->tid, cursor->event.bytes);
    const struct model_thread *prev =
        *(const struct model_thread **)slots_at(&counters->previous, cursor->rank);

    if (tid == 0)
        return NULL;
    return prev != NULL && prev->tid == tid ? prev : model_find_thread(counters->analysis.model, tid);
}

static bool is_wanted(struct counters *counters, const struct cursor *cursor,
                      const struct model_thread *thread)
{
    struct analysis *analysis = &counters->analysis;

    if (thread != NULL)
        return analysis_wants_on(analysis, thread, cursor->stream->rank);
    return !analysis->filter->by_running &&
           (analysis->filter->streams == NULL || analysis->filter->streams[cursor->stream->rank]);
}

static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *running)
{
    struct counters *counters = ANALYSIS_OF(self, struct counters);
    const struct event *event = &cursor->event;
    const struct counted_type *counted = event->type == counters->run.type        ? &counters->run
                                         : event->type == counters->syscall.type  ? &counters->syscall
                                         : event->type == counters->interval.type ? &counters->interval
                                                                                  : NULL;
    const struct model_thread *thread;

    (void)running;
    if (event->type == counters->bound)
        on_bound(counters, event);
    if (counted == NULL)
        return;
    thread = thread_of(counters, counted, cursor);
    if (!is_wanted(counters, cursor, thread))
        return;
    if (counted == &counters->run)
        on_run(counters, event, thread);
    else
        add_event(map_at(counted == &counters->syscall ? &counters->syscalls : &counters->intervals,
                         field_integer(counted->key, event->bytes), 0, 0),
                  counted, event, 1);
}

/* ---- fields ---------------------------------------------------------------------------------------- */

static void find_type(const struct analysis *analysis, struct counted_type *counted, const char *event,
                      const char *key)
{
    const struct event_type *type = schema_find_event(&analysis->trace->schema, event);
    char name[] = "count0";
    bool ok = type != NULL;

    counted->key = analysis_field(analysis, event, key);
    counted->tid = analysis_field(analysis, event, "tid");
    ok = ok && counted->key != NULL && counted->tid != NULL;
    for (unsigned i = 0; i < SLOTS; i++) {
        name[sizeof(name) - 2] = (char)('0' + i);
        counted->count[i] = analysis_field(analysis, event, name);
        ok = ok && counted->count[i] != NULL;
    }
    counted->type = ok ? type : NULL;
}

static void find_bound(struct counters *counters)
{
    const struct analysis *analysis = &counters->analysis;

    counters->place = analysis_field(analysis, "counter_bound", "place");
    counters->slots = analysis_field(analysis, "counter_bound", "slots");
    counters->bits = analysis_field(analysis, "counter_bound", "bits");
    counters->name = analysis_field(analysis, "counter_bound", "name");
    if (counters->place != NULL && counters->slots != NULL && counters->bits != NULL &&
        counters->name != NULL && counters->name->kind == FIELD_STRING)
        counters->bound = schema_find_event(&analysis->trace->schema, "counter_bound");
}

static bool open_counters(struct analysis *analysis, struct fail *fail)
{
    struct counters *counters = (struct counters *)analysis;

    (void)fail;
    analysis_map(analysis, &counters->threads, sizeof(struct thread_counts));
    analysis_map(analysis, &counters->syscalls, sizeof(struct counts));
    analysis_map(analysis, &counters->intervals, sizeof(struct counts));
    analysis_slots(analysis, &counters->previous, sizeof(struct model_thread *));
    find_type(analysis, &counters->run, "counter_run", "tid");
    find_type(analysis, &counters->syscall, "counter_syscall", "number");
    find_type(analysis, &counters->interval, "counter_interval", "id");
    counters->run.pid = analysis_field(analysis, "counter_run", "pid");
    counters->run.ended = analysis_field(analysis, "counter_run", "ended");
    if (counters->run.pid == NULL || counters->run.ended == NULL)
        counters->run.type = NULL;
    find_bound(counters);
    if (counters->bound == NULL)
        return true; /* the system has no counters: the result is empty */
    analysis->observer.event = on_event;
    analysis->observer.switched = on_switch;
    return true;
}

/* ---- tables ---------------------------------------------------------------------------------------- */

/* The slot of a counter, or SLOTS. */
static unsigned find_slot(const struct counters *counters, const char *name)
{
    unsigned i = 0;

    while (i < SLOTS && strcmp(counters->slot[i].name, name) != 0)
        i++;
    return i;
}

/* Instructions per cycle; NAN: one of both is not bound, or no cycle was counted. */
static double ipc_of(const struct counters *counters, const struct counts *counts)
{
    unsigned instructions = find_slot(counters, "instructions"), cycles = find_slot(counters, "cycles");

    if (instructions == SLOTS || cycles == SLOTS || counts->count[cycles] == 0)
        return NAN;
    return (double)counts->count[instructions] / (double)counts->count[cycles];
}

static const char *slot_name(struct counters *counters, unsigned i, const char *before)
{
    struct table *table = &counters->analysis.tables[BY_COUNTER];

    if (counters->slot[i].name[0] == '\0')
        return table_format(table, "%sslot %u", before, i);
    return table_format(table, "%s%s", before, counters->slot[i].name);
}

/* Names the columns of slots, and drops those of slots that were never bound. */
static void head_columns(struct counters *counters, struct table *table)
{
    struct table_column *columns =
        arena_alloc(&counters->analysis.arena, table->column_count * sizeof(*columns));
    unsigned kept = 0;

    memcpy(columns, table->columns, table->column_count * sizeof(*columns));
    for (unsigned i = 0; i < table->column_count; i++) {
        const char *key = columns[i].key;
        bool is_mean = strncmp(key, "mean", 4) == 0, is_count = strncmp(key, "count", 5) == 0;
        unsigned place = is_mean || is_count ? (unsigned)(key[strlen(key) - 1] - '0') : 0;

        if (is_mean || is_count)
            columns[i].heading = slot_name(counters, place, is_mean ? "mean " : "");
        if ((!is_mean && !is_count) || place < counters->slot_count)
            kept = i + 1;
    }
    table->columns = columns;
    table->column_count = kept;
}

/* Adds to a row; the first cells are those of `times` and ipc, which is that of the sum. */
static void add_counts(const struct counters *counters, const struct table *table, struct table_row *row,
                       const char *times, const struct counts *counts)
{
    struct counts *sum = table_sum((struct table *)table, row, sizeof(*sum));
    char key[] = "count0", mean[] = "mean0";

    sum->times += counts->times;
    row_set(table, row, times, sum->times);
    for (unsigned i = 0; i < counters->slot_count; i++) {
        union table_cell *cell;

        sum->count[i] += counts->count[i];
        key[sizeof(key) - 2] = mean[sizeof(mean) - 2] = (char)('0' + i);
        row_set(table, row, key, sum->count[i]);
        cell = row_cell(table, row, mean);
        if (cell != NULL)
            cell->real = sum->times != 0 ? (double)sum->count[i] / (double)sum->times : NAN;
    }
    row_cell(table, row, "ipc")->real = ipc_of(counters, sum);
}

static void fill_threads(struct counters *counters)
{
    struct analysis *analysis = &counters->analysis;
    struct table *threads = &analysis->tables[BY_THREAD], *processes = &analysis->tables[BY_PROCESS];

    for (size_t i = 0; i < counters->threads.count; i++) {
        const struct thread_counts *own = map_value(&counters->threads, i);
        const char *name = own->tid == 0         ? "(idle)"
                           : own->thread != NULL ? analysis_thread_name(analysis, own->thread)
                                                 : "(unknown)";
        struct table_row *row = table_add(threads, name);

        row_set(threads, row, "tid", own->tid);
        row_set(threads, row, "pid", own->pid);
        add_counts(counters, threads, row, "runs", &own->counts);
        row =
            own->tid == 0 ? table_row(processes, 0, "(idle)") : row_of_process(analysis, processes, own->pid);
        add_counts(counters, processes, row, "runs", &own->counts);
    }
}

static void fill_map(struct counters *counters, unsigned place, const struct map *map, const char *key,
                     const char *times, const struct field *labels)
{
    struct table *table = &counters->analysis.tables[place];
    char text[ANALYSIS_NAME_BYTES];

    for (size_t i = 0; i < map->count; i++) {
        uint64_t number = map->entries[i]->key[0];
        struct table_row *row = table_add(table, label_of(labels, number, text));

        row_set(table, row, key, number);
        add_counts(counters, table, row, times, map_value(map, i));
    }
}

static void fill_counters(struct counters *counters)
{
    struct table *table = &counters->analysis.tables[BY_COUNTER];
    double seconds = analysis_seconds(&counters->analysis);

    for (unsigned i = 0; i < counters->slot_count; i++) {
        struct table_row *row = table_add(table, slot_name(counters, i, ""));

        cells_put(row->cells, {.count = i}, {.count = counters->slot[i].bits},
                  {.count = counters->all.count[i]},
                  {.real = seconds > 0 ? (double)counters->all.count[i] / seconds : NAN});
    }
}

static void finish_counters(struct analysis *analysis)
{
    struct counters *counters = (struct counters *)analysis;

    for (unsigned i = BY_THREAD; i < TABLES; i++)
        head_columns(counters, &analysis->tables[i]);
    fill_counters(counters);
    fill_threads(counters);
    fill_map(counters, BY_SYSCALL, &counters->syscalls, "number", "calls", counters->syscall.key);
    fill_map(counters, BY_INTERVAL, &counters->intervals, "id", "intervals", NULL);
    if (counters->slot_count == 0)
        snprintf(analysis->note, sizeof(analysis->note),
                 "the trace has no counts; to get them, boot the guest with "
                 "trace.counters=instructions,cycles or use "
                 "`tarn ctl SOURCE counters instructions,cycles`");
    else if (counters->has_changed)
        snprintf(analysis->note, sizeof(analysis->note),
                 "slots got other counters in this trace; counts from before the last change are left out");
}

const struct analysis_kind counters_analysis = {
    .name = "counters",
    .summary = "hardware counters: instructions, cycles, ... by thread, process, system call and interval",
    .tables = tables,
    .table_count = TABLES,
    .size = sizeof(struct counters),
    .open = open_counters,
    .finish = finish_counters,
};
