/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/answer/usage.c - events and time by processor, class, event, program, process, thread; see
 * usage.h. */
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/answer/usage.h>
#include <tools/tarn/read/order.h>

/* clang-format off */
/* Columns that tables share, in the order that set_counts and set_time fill them in. */
#define COLUMN_EVENTS {"events", "events", -1, false}
#define COLUMNS_COUNTS COLUMN_EVENTS, {"%", "percent", 2, false}, {"events/s", "rate", 0, false}, \
                       {"bytes", "bytes", -1, false}
#define COLUMNS_TIME {"ms", "ms", 1, false}, {"% of a cpu", "cpu_percent", 1, false}
/* clang-format on */

/* Each table's columns, and their places. */
enum { CLASS_NUMBER, CLASS_EVENTS };
static const struct table_column class_columns[] = {{"class", "number", -1, true}, COLUMNS_COUNTS};
enum { EVENT_EVENTS };
static const struct table_column event_columns[] = {COLUMNS_COUNTS};
enum { CPU_NUMBER, CPU_BUSY, CPU_IDLE, CPU_LOST, CPU_SWITCHES, CPU_EVENTS };
static const struct table_column cpu_columns[] = {{"cpu", "cpu", -1, true},
                                                  {"busy %", "busy_percent", 1, false},
                                                  {"idle %", "idle_percent", 1, false},
                                                  {"lost %", "lost_percent", 1, false},
                                                  {"switches", "switches", -1, false},
                                                  COLUMNS_COUNTS};
enum { PROGRAM_PROCESSES, PROGRAM_TIME, PROGRAM_CPU, PROGRAM_EVENTS };
static const struct table_column program_columns[] = {
    {"processes", "processes", -1, false}, COLUMNS_TIME, COLUMNS_COUNTS};
enum { PROCESS_PID, PROCESS_TIME, PROCESS_CPU, PROCESS_EVENTS };
static const struct table_column process_columns[] = {{"pid", "pid", -1, true}, COLUMNS_TIME, COLUMNS_COUNTS};
enum { THREAD_TID, THREAD_PID, THREAD_TIME, THREAD_CPU, THREAD_SWITCHES, THREAD_MIGRATIONS, THREAD_EVENTS };
static const struct table_column thread_columns[] = {{"tid", "tid", -1, true},
                                                     {"pid", "pid", -1, true},
                                                     COLUMNS_TIME,
                                                     {"switches", "switches", -1, false},
                                                     {"migrations", "migrations", -1, false},
                                                     COLUMN_EVENTS};

#define TABLE(key, heading, others, columns)                                              \
    {                                                                                     \
        key, heading, others, columns, sizeof(columns) / sizeof((columns)[0]), NULL, 0, 0 \
    }
static const struct table empty_tables[USAGE_TABLES] = {
    [BY_CPU] = TABLE("cpu", "processor", "processors", cpu_columns),
    [BY_CLASS] = TABLE("class", "class of events", "classes", class_columns),
    [BY_EVENT] = TABLE("event", "event", "events", event_columns),
    [BY_PROGRAM] = TABLE("program", "program", "programs", program_columns),
    [BY_PROCESS] = TABLE("process", "process", "processes", process_columns),
    [BY_THREAD] = TABLE("thread", "thread", "threads", thread_columns),
};

void usage_open(struct usage *usage, const struct trace *trace, const struct filter *filter)
{
    memset(usage, 0, sizeof(*usage));
    usage->trace = trace;
    usage->filter = filter;
    model_open(&usage->model, trace, filter->from_ticks, filter->to_ticks);
    usage->types = alloc_zero(trace->schema.event_count + 1, sizeof(usage->types[0]));
    usage->cpus = alloc_zero(trace->stream_count + 1, sizeof(usage->cpus[0]));
    memcpy(usage->tables, empty_tables, sizeof(empty_tables));
}

void usage_close(struct usage *usage)
{
    for (int i = 0; i < USAGE_TABLES; i++)
        table_free(&usage->tables[i]);
    free(usage->types);
    free(usage->cpus);
    free(usage->threads);
    model_close(&usage->model);
}

static inline void count(struct usage_count *counter, uint64_t bytes)
{
    counter->events++;
    counter->bytes += bytes;
}

static void grow_threads(struct usage *usage)
{
    uint32_t size = 2 * usage->model.thread_count;

    usage->threads = alloc_more(usage->threads, size, sizeof(usage->threads[0]));
    memset(usage->threads + usage->threads_size, 0, (size - usage->threads_size) * sizeof(usage->threads[0]));
    usage->threads_size = size;
}

static void set_seconds(struct usage *usage)
{
    const struct trace *trace = usage->trace;
    uint64_t from = usage->filter->from_ticks, to = usage->filter->to_ticks;

    from = from > trace->begin ? from : trace->begin;
    to = to < trace->end ? to : trace->end;
    usage->seconds = to > from ? (double)schema_elapsed_ns(&trace->schema, from, to) / 1e9 : 0;
}

void usage_count(struct usage *usage, struct reporter *reporter)
{
    const struct filter *filter = usage->filter;
    struct merge merge;
    struct cursor *cursor;

    merge_open(&merge, usage->trace, filter->streams, filter->from_ticks, reporter);
    while ((cursor = merge_next(&merge)) != NULL && cursor->ticks <= filter->to_ticks) {
        const struct model_thread *thread = model_take(&usage->model, cursor);
        uint64_t bytes = cursor->event.words * 8ul;

        if (!filter_wants(filter, cursor, &usage->model.names))
            continue;
        if (__builtin_expect(thread->number >= usage->threads_size, 0))
            grow_threads(usage);
        count(&usage->types[cursor->event.type->index], bytes);
        count(&usage->cpus[cursor->stream->rank], bytes);
        count(&usage->threads[thread->number], bytes);
        count(&usage->total, bytes);
    }
    merge_close(&merge);
    model_finish(&usage->model);
    set_seconds(usage);
}

static double per_second(const struct usage *usage, double amount)
{
    return usage->seconds > 0 ? amount / usage->seconds : 0;
}

/* The four columns from FIRST on: events, share, rate, bytes. */
static void set_counts(const struct usage *usage, struct table_row *row, int first,
                       struct usage_count counted)
{
    double total = (double)usage->total.events;

    row->cells[first].count = counted.events;
    row->cells[first + 1].real = total > 0 ? 100.0 * (double)counted.events / total : 0;
    row->cells[first + 2].real = per_second(usage, (double)counted.events);
    row->cells[first + 3].count = counted.bytes;
}

/* The two columns from FIRST on: time on a processor, and its share of one. */
static void set_time(const struct usage *usage, struct table_row *row, int first, uint64_t ticks)
{
    double seconds = (double)ticks / (double)usage->trace->schema.clock_freq;

    row->cells[first].real = 1e3 * seconds;
    row->cells[first + 1].real = per_second(usage, 100.0 * seconds);
}

static void fill_events(struct usage *usage)
{
    const struct schema *schema = &usage->trace->schema;
    struct usage_count classes[TRACE_CLASS_COUNT] = {{0, 0}};

    for (unsigned i = 0; i < schema->event_count; i++) {
        struct usage_count *class = &classes[TRACE_ID_CLASS(schema->events[i]->id)];

        class->events += usage->types[i].events;
        class->bytes += usage->types[i].bytes;
        if (usage->types[i].events != 0)
            set_counts(usage, table_add(&usage->tables[BY_EVENT], schema->events[i]->name), EVENT_EVENTS,
                       usage->types[i]);
    }
    for (unsigned i = 0; i < TRACE_CLASS_COUNT; i++)
        if (classes[i].events != 0) {
            struct table_row *row = table_add(&usage->tables[BY_CLASS], schema->classes[i].name);

            row->cells[CLASS_NUMBER].count = i;
            set_counts(usage, row, CLASS_EVENTS, classes[i]);
        }
    table_sort(&usage->tables[BY_EVENT], EVENT_EVENTS);
    table_sort(&usage->tables[BY_CLASS], CLASS_EVENTS);
}

static void fill_cpus(struct usage *usage)
{
    struct table *table = &usage->tables[BY_CPU];

    for (unsigned i = 0; i < usage->trace->stream_count; i++) {
        const struct model_cpu *cpu = &usage->model.cpus[i];
        double known = (double)(cpu->busy + cpu->idle + cpu->lost);
        struct table_row *row;
        char name[24];

        if (cpu->thread == NULL)
            continue;
        snprintf(name, sizeof(name), "cpu %u", usage->trace->streams[i].cpu);
        row = table_add(table, name);
        row->cells[CPU_NUMBER].count = usage->trace->streams[i].cpu;
        if (known > 0) {
            row->cells[CPU_BUSY].real = 100.0 * (double)cpu->busy / known;
            row->cells[CPU_IDLE].real = 100.0 * (double)cpu->idle / known;
            row->cells[CPU_LOST].real = 100.0 * (double)cpu->lost / known;
        }
        row->cells[CPU_SWITCHES].count = cpu->switches;
        set_counts(usage, row, CPU_EVENTS, usage->cpus[i]);
    }
    table_sort(table, CPU_NUMBER);
}

static int compare_pids(const void *left, const void *right)
{
    uint32_t a = (*(struct model_thread *const *)left)->pid, b = (*(struct model_thread *const *)right)->pid;

    return a < b ? -1 : a > b;
}

/* Only what the filter chose; what idles is in the table of processors. */
static bool wants_thread(const struct usage *usage, const struct model_thread *thread)
{
    struct running running = {.pid = thread->pid, .tid = thread->tid, .is_known = true};

    memcpy(running.comm, thread->comm, sizeof(running.comm));
    return !usage->filter->by_running || filter_running(usage->filter, &running, &usage->model.names);
}

static void add_thread(struct usage *usage, const struct model_thread *thread, uint64_t events)
{
    struct table_row *row = table_add(&usage->tables[BY_THREAD], model_thread_name(&usage->model, thread));

    row->cells[THREAD_TID].count = thread->tid;
    row->cells[THREAD_PID].count = thread->pid;
    set_time(usage, row, THREAD_TIME, thread->ran);
    row->cells[THREAD_SWITCHES].count = thread->switches;
    row->cells[THREAD_MIGRATIONS].count = thread->migrations;
    row->cells[THREAD_EVENTS].count = events;
}

/* One row for the process, and one that adds up with those of the same program. */
static void add_process(struct usage *usage, const struct model_thread *thread, uint64_t ran,
                        struct usage_count counted)
{
    const char *name = names_find(&usage->model.names, thread->pid);
    struct table_row *row;

    name = name != NULL ? name : model_thread_name(&usage->model, thread);
    row = table_add(&usage->tables[BY_PROCESS], name);
    row->cells[PROCESS_PID].count = thread->pid;
    set_time(usage, row, PROCESS_TIME, ran);
    set_counts(usage, row, PROCESS_EVENTS, counted);
    row = table_add(&usage->tables[BY_PROGRAM], name);
    row->cells[PROGRAM_PROCESSES].count = 1;
    set_time(usage, row, PROGRAM_TIME, ran);
    set_counts(usage, row, PROGRAM_EVENTS, counted);
}

static void fill_threads(struct usage *usage)
{
    uint32_t count = usage->model.thread_count;
    struct model_thread **threads = alloc_zero(count + 1, sizeof(threads[0]));

    if (count != 0)
        memcpy(threads, usage->model.threads, count * sizeof(threads[0]));
    if (count > usage->threads_size)
        grow_threads(usage);
    qsort(threads, count, sizeof(threads[0]), compare_pids);
    for (uint32_t i = 0; i < count;) {
        uint32_t first = i;
        struct usage_count sum = {0, 0};
        uint64_t ran = 0, chosen = 0;

        for (; i < count && threads[i]->pid == threads[first]->pid; i++) {
            struct usage_count counted = usage->threads[threads[i]->number];

            if (!wants_thread(usage, threads[i]))
                continue;
            chosen++;
            sum.events += counted.events;
            sum.bytes += counted.bytes;
            if (threads[i]->is_idle)
                continue;
            ran += threads[i]->ran;
            add_thread(usage, threads[i], counted.events);
        }
        if (chosen != 0)
            add_process(usage, threads[first], ran, sum);
    }
    free(threads);
    table_sort(&usage->tables[BY_PROGRAM], -1);
    table_merge_names(&usage->tables[BY_PROGRAM]);
    table_sort(&usage->tables[BY_PROGRAM], PROGRAM_EVENTS);
    table_sort(&usage->tables[BY_PROCESS], PROCESS_EVENTS);
    table_sort(&usage->tables[BY_THREAD], THREAD_TIME);
}

void usage_tables(struct usage *usage)
{
    fill_events(usage);
    fill_cpus(usage);
    fill_threads(usage);
}
