/* SPDX-License-Identifier: BSD-2-Clause */
/* noise_tables.c - the tables of `tarn noise`; see noise_tables.h. */
#include <stdio.h>
#include <tools/tarn/analysis/noise_tables.h>

static const char *const noise_names[NOISES] = {"interrupts",    "inter-processor interrupts",
                                                "faults",        "exceptions",
                                                "other threads", "delay after a wait"};

enum { TOTAL_THREADS, TOTAL_WORK, TOTAL_TAKEN, TOTAL_PERCENT };
static const struct table_column total_columns[] = {
    COUNT_COLUMN("threads"), TIME_COLUMN("work_ns"), TIME_COLUMN("taken_ns"),
    COLUMN_CALLED("% of the work", "taken_percent", COLUMN_REAL, SUM_NOTHING, 2)};
const struct table noise_totals = TABLE("total", "total", "totals", total_columns, TABLE_AS_FILLED);
static const struct table_column cause_columns[] = {TEXT_KEY("kind"), REAL_COLUMN("taken_percent", 3),
                                                    DISTRIBUTION_COLUMNS("times")};
static const struct table_column thread_columns[] = {NUMBER_COLUMN("tid"),
                                                     NUMBER_COLUMN("pid"),
                                                     TIME_COLUMN("work_ns"),
                                                     TIME_COLUMN("taken_ns"),
                                                     MEAN_COLUMN("taken_percent", 2),
                                                     TIME_COLUMN("irq_ns"),
                                                     TIME_COLUMN("ipi_ns"),
                                                     TIME_COLUMN("fault_ns"),
                                                     TIME_COLUMN("exception_ns"),
                                                     TIME_COLUMN("preempted_ns"),
                                                     TIME_COLUMN("dispatch_ns")};
static const struct table_column quantum_columns[] = {DISTRIBUTION_COLUMNS("quanta"),
                                                      MEAN_COLUMN("slowdown_percent", 3)};
static const struct table_column who_columns[] = {NUMBER_COLUMN("tid"), NUMBER_COLUMN("pid"),
                                                  COUNT_COLUMN("times"), TIME_COLUMN("total_ns"),
                                                  TIME_LARGEST("max_ns")};
static const struct table_column longest_columns[] = {LONGEST_COLUMNS};
const struct table noise_tables[NOISE_TABLES] = {
    [BY_CAUSE] = TABLE("cause", "cause", "causes", cause_columns, "total_ns", "what took time from the work"),
    [BY_THREAD] = TABLE("thread", "thread", "threads", thread_columns, "taken_ns", "what each thread lost"),
    [BY_QUANTUM] =
        TABLE_AS("quantum", "equal parts of work", "rows", quantum_columns, TABLE_AS_FILLED, false, true,
                 "the work in equal parts (--quantum), as in fixed-work-quantum benchmarks: how long each "
                 "took, and how long it would have taken without each cause"),
    [BY_WHO] = TABLE("who", "thread that ran instead", "threads", who_columns, "total_ns",
                     "threads that ran in place of the selected ones"),
    [BY_DURATION] =
        HISTOGRAM_TABLE_EXTRA("duration", "duration of a part", "histogram of the durations of these parts"),
    [BY_SLICE] = HISTOGRAM_TABLE_EXTRA("slice", "work per time slice",
                                       "histogram of the work in equal slices of time, without waiting, as "
                                       "in fixed-time-quantum benchmarks"),
    [BY_LONGEST] = TABLE_EXTRA("longest", "longest interruptions", "interruptions", longest_columns,
                               TABLE_AS_FILLED, "the longest interruptions"),
};

static const char *cause_name(const struct noises *noises, enum noise kind, uint64_t detail,
                              char text[ANALYSIS_NAME_BYTES])
{
    char label[ANALYSIS_NAME_BYTES];

    switch (kind) {
    case NOISE_IRQ:
    case NOISE_IPI:
        return irq_name(&noises->irqs, detail, text);
    case NOISE_FAULT:
        snprintf(text, ANALYSIS_NAME_BYTES, "fault %.40s",
                 detail == UINT32_MAX ? "(not seen)" : label_of(noises->fault_kinds, detail, label));
        return text;
    case NOISE_EXCEPTION:
        snprintf(text, ANALYSIS_NAME_BYTES, "exception %u", (unsigned)detail);
        return text;
    case NOISE_PREEMPTED:
        return "another thread ran";
    case NOISE_DISPATCH:
        return "woken, not yet running";
    default:
        return "(others)";
    }
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void fill_causes(struct noises *noises, uint64_t work)
{
    struct analysis *analysis = &noises->analysis;
    struct table *table = &analysis->tables[BY_CAUSE];
    char text[ANALYSIS_NAME_BYTES];

    for (size_t i = 0; i < map_total(&noises->causes); i++) {
        const struct map_entry *entry = map_entry(&noises->causes, i);
        const struct distribution *durations = (const void *)entry->value;
        enum noise kind = entry->key[0] < NOISES ? (enum noise)entry->key[0] : NOISES;
        struct table_row *row = table_add(table, cause_name(noises, kind, entry->key[1], text));

        cells_put(row->cells, {.text = kind < NOISES ? noise_names[kind] : NULL},
                  {.real = percent(durations->total, work)});
        distribution_fill(durations, &analysis->trace->schema, row_cell(table, row, "times"));
    }
}

static void add_thread(struct analysis *analysis, const struct model_thread *thread,
                       const struct noise_thread *record, uint64_t taken)
{
    struct table *table = &analysis->tables[BY_THREAD];
    struct table_row *row = row_of_thread(analysis, table, thread, NULL);
    union table_cell *cells = row_cell(table, row, "irq_ns");

    cells_put(row_cell(table, row, "work_ns"), {.count = analysis_ns(analysis, record->work)},
              {.count = analysis_ns(analysis, taken)}, {.real = percent(taken, record->work)});
    for (int i = 0; i < NOISES; i++)
        cells[i].count = analysis_ns(analysis, record->taken[i]);
}

/* Returns all work. */
static uint64_t fill_threads(struct noises *noises)
{
    struct analysis *analysis = &noises->analysis;
    union table_cell *total = analysis->total->cells;
    uint64_t work = 0, all_taken = 0;

    for (uint32_t i = 0; i < analysis->model->thread_count && i < noises->threads.count; i++) {
        const struct model_thread *thread = analysis->model->threads[i];
        const struct noise_thread *record = slots_find(&noises->threads, i);
        uint64_t taken = 0;

        if (thread == NULL || !record->is_known)
            continue;
        for (int n = 0; n < NOISES; n++)
            taken += record->taken[n];
        add_thread(analysis, thread, record, taken);
        work += record->work;
        all_taken += taken;
        total[TOTAL_THREADS].count++;
    }
    total[TOTAL_WORK].count = analysis_ns(analysis, work);
    total[TOTAL_TAKEN].count = analysis_ns(analysis, all_taken);
    total[TOTAL_PERCENT].real = percent(all_taken, work);
    return work;
}

static void add_quantum(struct noises *noises, const char *name, const struct distribution *durations)
{
    struct table *table = &noises->analysis.tables[BY_QUANTUM];
    struct table_row *row = table_add(table, name);
    double quantum = (double)noises->quantum * (double)durations->count;

    distribution_fill(durations, &noises->analysis.trace->schema, row->cells);
    row_cell(table, row, "slowdown_percent")->real =
        durations->count ? 100.0 * ((double)durations->total - quantum) / quantum : 0;
}

/* Causes that took nothing are left out. */
static void fill_quanta(struct noises *noises)
{
    char name[80];

    add_quantum(noises, "as measured", &noises->with_all);
    for (int i = 0; i < NOISES; i++) {
        snprintf(name, sizeof(name), "without %s", noise_names[i]);
        if (noises->quanta[i].total != noises->with_all.total)
            add_quantum(noises, name, &noises->quanta[i]);
    }
    add_quantum(noises, "the work alone", &noises->with_none);
}

static void add_culprit(struct analysis *analysis, const struct model_thread *thread, const char *nobody,
                        const struct tally *tally)
{
    struct table *table = &analysis->tables[BY_WHO];
    struct table_row *row = row_of_thread(analysis, table, thread, nobody);

    tally_fill(analysis, tally, row_cell(table, row, "times"));
}

/* Idle threads are merged. */
static void fill_culprits(struct noises *noises)
{
    struct analysis *analysis = &noises->analysis;
    const struct model *model = analysis->model;
    struct tally idle = {0, 0, 0};

    for (size_t i = 0; i < map_total(&noises->culprits); i++) {
        const struct map_entry *entry = map_entry(&noises->culprits, i);
        uint64_t number = entry->key[0];

        if (entry->key[1] == 1)
            tally_merge(&idle, (const void *)entry->value);
        else
            add_culprit(analysis, number < model->thread_count ? model->threads[number] : NULL, "(unknown)",
                        (const void *)entry->value);
    }
    if (idle.count != 0)
        add_culprit(analysis, NULL, "(idle: not yet awake)", &idle);
}

static struct table_row *add_longest(struct analysis *analysis, struct table *table,
                                     const struct longest *item)
{
    char text[ANALYSIS_NAME_BYTES];

    return table_add(table,
                     cause_name((struct noises *)analysis, (enum noise)item->args[0], item->what, text));
}

void noise_fill(struct analysis *analysis)
{
    struct noises *noises = (struct noises *)analysis;

    fill_causes(noises, fill_threads(noises));
    fill_quanta(noises);
    fill_culprits(noises);
    distribution_histogram(&noises->with_all, &analysis->trace->schema, &analysis->tables[BY_DURATION]);
    distribution_histogram(&noises->slices, &analysis->trace->schema, &analysis->tables[BY_SLICE]);
    longest_rows(analysis, &analysis->tables[BY_LONGEST], &noises->longest, add_longest);
}
