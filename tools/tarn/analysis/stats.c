/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats.c - `tarn stats`: what logged events and used CPUs, by CPU, class, event, program, process and
 * thread. Rates and shares are relative to the range analysed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/analysis/estimate.h>
#include <tools/tarn/analysis/kinds.h>
#include <tools/tarn/analysis/rows.h>

enum { BY_CPU, BY_CLASS, BY_EVENT, BY_SAMPLED, BY_PROGRAM, BY_PROCESS, BY_THREAD, TABLES };

struct count {
    uint64_t events, bytes;
};

/* Of a type of events of which one in N was logged; all of the type. */
struct sampled_count {
    struct estimate estimate;
    uint32_t every; /* N, the last one; 0: never more than 1 */
};

struct thread_count {
    struct count count;
    uint64_t ran, switches, migrations; /* ran: ticks; switches to it; those of them to a new CPU */
};

struct stats {
    struct analysis analysis;
    struct count total;
    struct count *types, *cpus;    /* by event index; by the stream's rank */
    struct sampled_count *sampled; /* by event index */
    struct slots threads;          /* struct thread_count, by number in the model */
    double seconds;
};

/* clang-format off */
/* Shared columns, in the order in which add_counts and add_time fill them. */
#define COLUMN_EVENTS COUNT_COLUMN("events")
#define COLUMNS_COUNTS COLUMN_EVENTS, REAL_COLUMN("percent", 2), REAL_COLUMN("events_per_second", 0), \
                       COUNT_COLUMN("bytes")
#define COLUMNS_TIME TIME_COLUMN("ran_ns"), REAL_COLUMN("cpu_percent", 1)
/* clang-format on */

enum { CLASS_NUMBER, CLASS_EVENTS };
static const struct table_column class_columns[] = {NUMBER_COLUMN("number"), COLUMNS_COUNTS};
enum { EVENT_EVENTS };
static const struct table_column event_columns[] = {COLUMNS_COUNTS};
enum { SAMPLED_EVENTS, SAMPLED_EVERY, SAMPLED_TOTAL, SAMPLED_ERROR };
static const struct table_column sampled_columns[] = {
    COLUMN_EVENTS, NUMBER_COLUMN("one_of"), COUNT_COLUMN("estimated"), NUMBER_COLUMN("estimated_error")};
enum { CPU_NUMBER, CPU_BUSY, CPU_BOOT, CPU_IDLE, CPU_LOST, CPU_SWITCHES, CPU_EVENTS };
static const struct table_column cpu_columns[] = {NUMBER_COLUMN("cpu"),
                                                  MEAN_COLUMN("busy_percent", 1),
                                                  MEAN_COLUMN("boot_percent", 1),
                                                  MEAN_COLUMN("idle_percent", 1),
                                                  MEAN_COLUMN("lost_percent", 1),
                                                  COUNT_COLUMN("switches"),
                                                  COLUMNS_COUNTS};
enum { PROGRAM_PROCESSES, PROGRAM_TIME, PROGRAM_CPU, PROGRAM_EVENTS };
static const struct table_column program_columns[] = {COUNT_COLUMN("processes"), COLUMNS_TIME,
                                                      COLUMNS_COUNTS};
enum { PROCESS_PID, PROCESS_TIME, PROCESS_CPU, PROCESS_EVENTS };
static const struct table_column process_columns[] = {NUMBER_COLUMN("pid"), COLUMNS_TIME, COLUMNS_COUNTS};
enum { THREAD_TID, THREAD_PID, THREAD_TIME, THREAD_CPU, THREAD_SWITCHES, THREAD_MIGRATIONS, THREAD_EVENTS };
static const struct table_column thread_columns[] = {
    NUMBER_COLUMN("tid"),     NUMBER_COLUMN("pid"),       COLUMNS_TIME,
    COUNT_COLUMN("switches"), COUNT_COLUMN("migrations"), COLUMN_EVENTS};
static const struct table tables[TABLES] = {
    [BY_CPU] = TABLE("cpu", "CPU", "CPUs", cpu_columns, "cpu", "events and use of each CPU"),
    [BY_CLASS] = TABLE("class", "event class", "classes", class_columns, "events", "event classes"),
    [BY_EVENT] = TABLE("event", "event", "events", event_columns, "events", "event types"),
    [BY_SAMPLED] = TABLE_EXTRA("sampled", "sampled event", "sampled events", sampled_columns, "estimated",
                               "events of which one in N was logged, and how many there were"),
    [BY_PROGRAM] = TABLE("program", "program", "programs", program_columns, "events",
                         "programs: all processes of one name"),
    [BY_PROCESS] = TABLE("process", "process", "processes", process_columns, "events", "processes"),
    [BY_THREAD] = TABLE("thread", "thread", "threads", thread_columns, "ran_ns", "threads"),
};

enum { TOTAL_EVENTS, TOTAL_BYTES, TOTAL_RATE };
static const struct table_column total_columns[] = {COUNT_COLUMN("events"), COUNT_COLUMN("bytes"),
                                                    REAL_COLUMN("events_per_second", 0)};
static const struct table totals = TABLE("total", "total", "totals", total_columns, TABLE_AS_FILLED);

static inline void count(struct count *counter, uint64_t bytes)
{
    counter->events++;
    counter->bytes += bytes;
}

static inline void count_sampled(struct sampled_count *sampled, uint32_t every)
{
    estimate_add(&sampled->estimate, every > 1 ? every : 1);
    if (every > 1)
        sampled->every = every;
}

static inline struct thread_count *thread_at(struct stats *stats, const struct model_thread *thread)
{
    return slots_at(&stats->threads, thread->number);
}

static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *thread)
{
    struct stats *stats = ANALYSIS_OF(self, struct stats);
    uint64_t bytes = cursor->event.words * 8ul;
    unsigned type = cursor->event.type->index;

    if (!analysis_wants_event(&stats->analysis, cursor, thread))
        return;
    count(&stats->types[type], bytes);
    if (stats->analysis.model->limits[type].every != 0)
        count_sampled(&stats->sampled[type], stats->analysis.model->limits[type].every);
    count(&stats->cpus[cursor->stream->rank], bytes);
    count(&thread_at(stats, thread)->count, bytes);
    count(&stats->total, bytes);
}

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct stats *stats = ANALYSIS_OF(self, struct stats);

    if (thread->state == MODEL_RUNNING && analysis_wants(&stats->analysis, thread))
        thread_at(stats, thread)->ran += model_segment_ticks(thread, from, to);
}

static void on_switch(struct model_observer *self, uint32_t cpu, const struct model_thread *prev,
                      enum model_state new_state, const struct model_thread *next, uint64_t ticks)
{
    struct stats *stats = ANALYSIS_OF(self, struct stats);

    if (!analysis_wants_on(&stats->analysis, next, cpu) || model_leaves_out(stats->analysis.model, next))
        return;
    thread_at(stats, next)->switches++;
    thread_at(stats, next)->migrations += next->has_run && next->cpu != cpu;
}

static bool open_stats(struct analysis *analysis, struct fail *fail)
{
    struct stats *stats = (struct stats *)analysis;
    const struct trace *trace = analysis->trace;

    stats->types = arena_alloc(&analysis->arena, trace->schema.event_count * sizeof(stats->types[0]));
    stats->sampled = arena_alloc(&analysis->arena, trace->schema.event_count * sizeof(stats->sampled[0]));
    stats->cpus = arena_alloc(&analysis->arena, trace->stream_count * sizeof(stats->cpus[0]));
    analysis_slots(analysis, &stats->threads, sizeof(struct thread_count));
    analysis->observer.segment = on_segment;
    analysis->observer.switched = on_switch;
    analysis->observer.event = on_event;
    analysis->observer.only_scheduling = true;
    return true;
}

static double per_second(const struct stats *stats, double amount)
{
    return stats->seconds > 0 ? amount / stats->seconds : 0;
}

/* Adds to the four columns from FIRST on: events, share, rate, bytes. */
static void add_counts(const struct stats *stats, struct table_row *row, int first, struct count counted)
{
    double total = (double)stats->total.events;

    row->cells[first].count += counted.events;
    row->cells[first + 1].real += total > 0 ? 100.0 * (double)counted.events / total : 0;
    row->cells[first + 2].real += per_second(stats, (double)counted.events);
    row->cells[first + 3].count += counted.bytes;
}

/* Adds to the two columns from FIRST on: CPU time, and its share of one CPU. */
static void add_time(const struct stats *stats, struct table_row *row, int first, uint64_t ticks)
{
    uint64_t ns = analysis_ns(&stats->analysis, ticks);

    row->cells[first].count += ns;
    row->cells[first + 1].real += per_second(stats, 100.0 * (double)ns / 1e9);
}

static void fill_events(struct stats *stats)
{
    const struct schema *schema = &stats->analysis.trace->schema;
    struct table *events = &stats->analysis.tables[BY_EVENT], *by_class = &stats->analysis.tables[BY_CLASS];
    struct count classes[TRACE_CLASS_COUNT] = {{0, 0}};

    for (unsigned i = 0; i < schema->event_count; i++) {
        struct count *class = &classes[TRACE_ID_CLASS(schema->events[i]->id)];

        class->events += stats->types[i].events;
        class->bytes += stats->types[i].bytes;
        if (stats->types[i].events != 0)
            add_counts(stats, table_add(events, schema->events[i]->name), EVENT_EVENTS, stats->types[i]);
    }
    for (unsigned i = 0; i < TRACE_CLASS_COUNT; i++)
        if (classes[i].events != 0) {
            struct table_row *row = table_add(by_class, schema->classes[i].name);

            row->cells[CLASS_NUMBER].count = i;
            add_counts(stats, row, CLASS_EVENTS, classes[i]);
        }
}

static void fill_sampled(struct stats *stats)
{
    const struct schema *schema = &stats->analysis.trace->schema;
    unsigned count = 0;

    for (unsigned i = 0; i < schema->event_count; i++) {
        const struct sampled_count *sampled = &stats->sampled[i];
        struct table_row *row;

        if (sampled->every == 0)
            continue;
        row = table_add(&stats->analysis.tables[BY_SAMPLED], schema->events[i]->name);
        row->cells[SAMPLED_EVENTS].count = stats->types[i].events;
        row->cells[SAMPLED_EVERY].count = sampled->every;
        row->cells[SAMPLED_TOTAL].count = sampled->estimate.total;
        row->cells[SAMPLED_ERROR].count = estimate_error(&sampled->estimate);
        count++;
    }
    if (count > 0)
        snprintf(stats->analysis.note, sizeof(stats->analysis.note),
                 "of %u types of events only one in N was logged: --by sampled estimates how many there were",
                 count);
}

static void fill_cpus(struct stats *stats)
{
    const struct analysis *analysis = &stats->analysis;

    for (unsigned i = 0; i < analysis->trace->stream_count; i++) {
        const struct model_cpu *cpu = &analysis->model->cpus[i];
        double known = (double)(cpu->busy + cpu->idle + cpu->lost);
        struct table_row *row;
        char name[24];

        if (cpu->thread == NULL || (analysis->filter->streams != NULL && !analysis->filter->streams[i]))
            continue;
        snprintf(name, sizeof(name), "cpu %u", analysis->trace->streams[i].cpu);
        row = table_add(&stats->analysis.tables[BY_CPU], name);
        row->cells[CPU_NUMBER].count = analysis->trace->streams[i].cpu;
        if (known > 0) {
            row->cells[CPU_BUSY].real = 100.0 * (double)cpu->busy / known;
            row->cells[CPU_BOOT].real = 100.0 * (double)cpu->boot / known;
            row->cells[CPU_IDLE].real = 100.0 * (double)cpu->idle / known;
            row->cells[CPU_LOST].real = 100.0 * (double)cpu->lost / known;
        }
        row->cells[CPU_SWITCHES].count = cpu->switches;
        add_counts(stats, row, CPU_EVENTS, stats->cpus[i]);
    }
}

static void add_thread(struct stats *stats, const struct model_thread *thread,
                       const struct thread_count *counted)
{
    struct table_row *row = row_of_thread(&stats->analysis, &stats->analysis.tables[BY_THREAD], thread, NULL);

    add_time(stats, row, THREAD_TIME, counted->ran);
    row->cells[THREAD_SWITCHES].count = counted->switches;
    row->cells[THREAD_MIGRATIONS].count = counted->migrations;
    row->cells[THREAD_EVENTS].count = counted->count.events;
}

/* Adds to the row of the process, and to that of its program. */
static void add_process(struct stats *stats, const struct model_thread *thread, uint64_t ran,
                        struct count counted)
{
    struct table *processes = &stats->analysis.tables[BY_PROCESS],
                 *programs = &stats->analysis.tables[BY_PROGRAM];
    const char *name = names_find(&stats->analysis.model->names, thread->pid);
    size_t known = processes->count;
    struct table_row *row;

    name = name != NULL ? name : analysis_thread_name(&stats->analysis, thread);
    row = table_row(processes, thread->pid, name);
    row->cells[PROCESS_PID].count = thread->pid;
    add_time(stats, row, PROCESS_TIME, ran);
    add_counts(stats, row, PROCESS_EVENTS, counted);
    row = table_row(programs, 0, name);
    row->cells[PROGRAM_PROCESSES].count += processes->count > known;
    add_time(stats, row, PROGRAM_TIME, ran);
    add_counts(stats, row, PROGRAM_EVENTS, counted);
}

/* Idle threads are in the table of CPUs. */
static void fill_threads(struct stats *stats)
{
    const struct model *model = stats->analysis.model;

    for (uint32_t i = 0; i < model->thread_count && i < stats->threads.count; i++) {
        const struct model_thread *thread = model->threads[i];
        const struct thread_count *counted = slots_find(&stats->threads, i);

        if (thread == NULL || (counted->count.events == 0 && counted->ran == 0 && counted->switches == 0))
            continue;
        if (!thread->is_idle)
            add_thread(stats, thread, counted);
        add_process(stats, thread, thread->is_idle ? 0 : counted->ran, counted->count);
    }
}

static void finish_stats(struct analysis *analysis)
{
    struct stats *stats = (struct stats *)analysis;

    stats->seconds = analysis_seconds(analysis);
    fill_events(stats);
    fill_sampled(stats);
    fill_cpus(stats);
    fill_threads(stats);
    analysis->total->cells[TOTAL_EVENTS].count = stats->total.events;
    analysis->total->cells[TOTAL_BYTES].count = stats->total.bytes;
    analysis->total->cells[TOTAL_RATE].real = per_second(stats, (double)stats->total.events);
}

const struct analysis_kind stats_analysis = {
    .name = "stats",
    .summary = "events and CPU time, by CPU, class, event, program, process and thread",
    .tables = tables,
    .table_count = TABLES,
    .totals = &totals,
    .chooses_events = true,
    .size = sizeof(struct stats),
    .open = open_stats,
    .finish = finish_stats,
};
