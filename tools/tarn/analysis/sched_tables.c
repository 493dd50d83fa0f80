/* SPDX-License-Identifier: BSD-2-Clause */
/* sched_tables.c - the tables of `tarn sched`; see sched_tables.h. */
#include <stdio.h>
#include <tools/tarn/analysis/sched_tables.h>

static const struct table_column cpu_columns[] = {
    NUMBER_COLUMN("cpu"),     TIME_COLUMN("busy_ns"),  TIME_COLUMN("boot_ns"),
    TIME_COLUMN("idle_ns"),   TIME_COLUMN("lost_ns"),  MEAN_COLUMN("busy_percent", 1),
    COUNT_COLUMN("switches"), COUNT_COLUMN("arrived"), DISTRIBUTION_COLUMNS("waits")};
/* Columns that threads and processes share. */
#define WHO_COLUMNS                                                                                          \
    COUNT_COLUMN("switches"), COUNT_COLUMN("migrations"), COUNT_COLUMN("preempted"), COUNT_COLUMN("handed"), \
        TIME_COLUMN("ran_ns"), TIME_OF_ONE("run_mean_ns"), TIME_LARGEST("run_max_ns"),                       \
        TIME_COLUMN("waited_ns"), COUNT_COLUMN("waits"), TIME_OF_ONE("mean_ns"), TIME_OF_ONE("p90_ns"),      \
        TIME_OF_ONE("p99_ns"), TIME_LARGEST("max_ns")
static const struct table_column thread_columns[] = {NUMBER_COLUMN("tid"), NUMBER_COLUMN("pid"),
                                                     NUMBER_COLUMN("prio"), WHO_COLUMNS};
static const struct table_column process_columns[] = {NUMBER_COLUMN("pid"), COUNT_COLUMN("threads"),
                                                      WHO_COLUMNS};
static const struct table_column delay_columns[] = {
    NUMBER_COLUMN("by_tid"), TEXT_KEY("delayed"),    NUMBER_COLUMN("tid"),    COUNT_COLUMN("times"),
    TIME_COLUMN("total_ns"), TIME_LARGEST("max_ns"), WHEN_COLUMN("max_at_ns")};
static const struct table_column waker_columns[] = {NUMBER_COLUMN("by_tid"), TEXT_KEY("woken"),
                                                    NUMBER_COLUMN("tid"), DISTRIBUTION_COLUMNS("wakeups")};
static const struct table_column end_columns[] = {DISTRIBUTION_COLUMNS("stretches")};
static const struct table_column longest_columns[] = {LONGEST_COLUMNS, TEXT_COLUMN("by"),
                                                      NUMBER_COLUMN("by_tid"), TIME_COLUMN("by_ran_ns")};
const struct table sched_tables[SCHED_TABLES] = {
    [BY_CPU] = TABLE("cpu", "CPU", "CPUs", cpu_columns, "cpu",
                     "what each CPU did, and how long threads waited for it"),
    [BY_THREAD] =
        TABLE("thread", "thread", "threads", thread_columns, "waited_ns", "waits and runs of each thread"),
    [BY_PROCESS] = TABLE_EXTRA("process", "process", "processes", process_columns, "waited_ns",
                               "waits and runs of each process"),
    [BY_DELAY] = TABLE("delay", "thread that ran meanwhile", "pairs", delay_columns, "total_ns",
                       "which thread ran on the CPU in whose queue a thread waited, and for how long; (idle) "
                       "is a CPU that slept and had to be woken, or whose idle thread did the kernel's work"),
    [BY_WAKER] = TABLE("waker", "waker", "pairs", waker_columns, "total_ns",
                       "waits that began with a wake-up, by waker"),
    [BY_END] = TABLE("end", "why a run ended", "reasons", end_columns, "stretches", "why runs ended"),
    [BY_WAIT] = HISTOGRAM_TABLE("wait", "ready until running", "histogram of waits"),
    [BY_WAKEUP] = HISTOGRAM_TABLE_EXTRA("wakeup", "woken until running",
                                        "histogram of waits that began with a wake-up"),
    [BY_RUN] = HISTOGRAM_TABLE_EXTRA("run", "length of a run", "histogram of runs"),
    [BY_LONGEST] = TABLE_EXTRA("longest", "longest waits", "waits", longest_columns, TABLE_AS_FILLED,
                               "the longest waits, and the thread that delayed each most"),
};

static const char *name_of(const struct sched *sched, uint64_t number, const char *none)
{
    const struct model *model = sched->analysis.model;

    if (number == IDLE_THREAD)
        return "(idle)";
    if (number == UINT64_MAX)
        return "(others)";
    if (number >= model->thread_count || model->threads[number] == NULL)
        return none;
    return analysis_thread_name(&sched->analysis, model->threads[number]);
}

static uint64_t tid_of(const struct sched *sched, uint64_t number)
{
    const struct model *model = sched->analysis.model;

    return number < model->thread_count && model->threads[number] != NULL ? model->threads[number]->tid
                                                                          : (uint64_t)TABLE_NONE;
}

static void fill_cpus(struct sched *sched)
{
    const struct analysis *analysis = &sched->analysis;
    struct table *table = &sched->analysis.tables[BY_CPU];

    for (unsigned i = 0; i < analysis->trace->stream_count; i++) {
        const struct sched_cpu *cpu = &sched->cpus[i];
        uint64_t lost = analysis->model->cpus[i].lost;
        double known = (double)(cpu->busy + cpu->idle + lost);
        struct table_row *row;
        char name[24];

        if (analysis->filter->streams != NULL && !analysis->filter->streams[i])
            continue;
        snprintf(name, sizeof(name), "cpu %u", analysis->trace->streams[i].cpu);
        row = table_add(table, name);
        cells_put(row->cells, {.count = analysis->trace->streams[i].cpu},
                  {.count = analysis_ns(analysis, cpu->busy)}, {.count = analysis_ns(analysis, cpu->boot)},
                  {.count = analysis_ns(analysis, cpu->idle)}, {.count = analysis_ns(analysis, lost)},
                  {.real = known > 0 ? 100.0 * (double)cpu->busy / known : 0}, {.count = cpu->switches},
                  {.count = cpu->arrived});
        distribution_fill(&cpu->waits, &analysis->trace->schema, row_cell(table, row, "waits"));
    }
}

static void fill_who(const struct analysis *analysis, union table_cell *cells,
                     const struct sched_thread *record)
{
    union table_cell runs[DISTRIBUTION_COLUMN_COUNT], waits[DISTRIBUTION_COLUMN_COUNT];

    distribution_fill(&record->runs, &analysis->trace->schema, runs);
    distribution_fill(&record->waits, &analysis->trace->schema, waits);
    cells_put(cells, {.count = record->switches}, {.count = record->migrations}, {.count = record->preempted},
              {.count = record->handed}, {.count = analysis_ns(analysis, record->ran)}, runs[3], runs[7],
              {.count = analysis_ns(analysis, record->waited)}, waits[0], waits[3], waits[5], waits[6],
              waits[7]);
}

static void add_record(struct sched_thread *sum, struct arena *arena, const struct sched_thread *record)
{
    sum->ran += record->ran;
    sum->waited += record->waited;
    sum->switches += record->switches;
    sum->migrations += record->migrations;
    sum->preempted += record->preempted;
    sum->handed += record->handed;
    distribution_merge(&sum->runs, arena, &record->runs);
    distribution_merge(&sum->waits, arena, &record->waits);
}

static void fill_threads(struct sched *sched)
{
    struct analysis *analysis = &sched->analysis;
    struct table *threads = &analysis->tables[BY_THREAD], *processes = &analysis->tables[BY_PROCESS];

    for (uint32_t i = 0; i < analysis->model->thread_count && i < sched->threads.count; i++) {
        const struct model_thread *thread = analysis->model->threads[i];
        const struct sched_thread *const *record = slots_find(&sched->threads, i);
        struct table_row *row;

        if (thread == NULL || record == NULL || *record == NULL)
            continue;
        row = row_of_thread(analysis, threads, thread, NULL);
        row_set(threads, row, "prio", thread->prio);
        fill_who(analysis, row_cell(threads, row, "switches"), *record);
        row = row_of_process(analysis, processes, thread->pid);
        row_cell(processes, row, "threads")->count++;
        add_record(table_sum(processes, row, sizeof(**record)), &processes->arena, *record);
    }
    for (size_t i = 0; i < processes->count; i++)
        fill_who(analysis, row_cell(processes, processes->rows[i], "switches"), processes->rows[i]->sum);
}

static void fill_delays(struct sched *sched)
{
    struct table *table = &sched->analysis.tables[BY_DELAY];

    for (size_t i = 0; i < map_total(&sched->pairs) && table->is_wanted; i++) {
        const struct map_entry *entry = map_entry(&sched->pairs, i);
        const struct delay *delay = (const void *)entry->value;
        struct table_row *row = table_add(table, name_of(sched, entry->key[0], "(unknown)"));

        cells_put(row->cells, {.count = tid_of(sched, entry->key[0])},
                  {.text = table_text(table, name_of(sched, entry->key[1], "(others)"))},
                  {.count = tid_of(sched, entry->key[1])});
        tally_fill(&sched->analysis, &delay->ticks, row_cell(table, row, "times"));
        row_set(table, row, "max_at_ns", analysis_when(&sched->analysis, delay->at));
    }
}

static void fill_wakers(struct sched *sched)
{
    struct table *table = &sched->analysis.tables[BY_WAKER];

    for (size_t i = 0; i < map_total(&sched->wakers) && table->is_wanted; i++) {
        const struct map_entry *entry = map_entry(&sched->wakers, i);
        struct table_row *row = table_add(table, name_of(sched, entry->key[0], "(timer or interrupt)"));

        cells_put(row->cells, {.count = tid_of(sched, entry->key[0])},
                  {.text = table_text(table, name_of(sched, entry->key[1], "(others)"))},
                  {.count = tid_of(sched, entry->key[1])});
        distribution_fill((const void *)entry->value, &sched->analysis.trace->schema,
                          row_cell(table, row, "wakeups"));
    }
}

static void fill_ends(struct sched *sched)
{
    static const char *const names[] = {"time slice used up", "preempted", "yielded", "moved to another CPU",
                                        "woken before it waited"};
    char text[64];

    for (unsigned i = 0; i < RUN_ENDS; i++) {
        struct table_row *row;

        if (sched->ends[i].count == 0)
            continue;
        if (i >= RUN_BLOCKED)
            snprintf(text, sizeof(text), "%s", model_state_names[i - RUN_BLOCKED]);
        row = table_add(&sched->analysis.tables[BY_END], i < RUN_BLOCKED ? names[i] : text);
        distribution_fill(&sched->ends[i], &sched->analysis.trace->schema, row->cells);
    }
}

static struct table_row *add_longest(struct analysis *analysis, struct table *table,
                                     const struct longest *item)
{
    const struct sched *sched = (struct sched *)analysis;
    struct table_row *row = table_add(table, analysis_thread_name(analysis, item->thread));

    cells_put(row_cell(table, row, "by"),
              {.text = table_text(table, name_of(sched, item->what, "(unknown)"))},
              {.count = tid_of(sched, item->what)}, {.count = analysis_ns(analysis, item->args[0])});
    return row;
}

void sched_fill(struct analysis *analysis)
{
    struct sched *sched = (struct sched *)analysis;
    const struct schema *schema = &analysis->trace->schema;

    fill_cpus(sched);
    fill_threads(sched);
    fill_delays(sched);
    fill_wakers(sched);
    fill_ends(sched);
    distribution_histogram(&sched->waits, schema, &analysis->tables[BY_WAIT]);
    distribution_histogram(&sched->wakeups, schema, &analysis->tables[BY_WAKEUP]);
    distribution_histogram(&sched->runs, schema, &analysis->tables[BY_RUN]);
    longest_rows(analysis, &analysis->tables[BY_LONGEST], &sched->longest, add_longest);
}
