/* SPDX-License-Identifier: BSD-2-Clause */
/* locks_tables.c - the tables of `tarn locks`; see locks.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tools/tarn/analysis/locks.h>

/* clang-format off */
#define SUM_COLUMNS                                                                                  \
    COUNT_COLUMN("contentions"), TIME_COLUMN("waited_ns"),                    \
    TIME_OF_ONE("wait_mean_ns"), TIME_LARGEST("wait_max_ns"),                     \
    COUNT_COLUMN("spins"), COUNT_COLUMN("acquisitions"),                   \
    NUMBER_COLUMN("acquisitions_error"),                   \
    MEAN_COLUMN("contended_percent", 2), COUNT_COLUMN("holds"),                           \
    TIME_COLUMN("held_ns"), TIME_OF_ONE("held_mean_ns"),                             \
    TIME_LARGEST("held_max_ns")
#define CAUSE_COLUMNS                                                                                \
    TIME_COLUMN("running_ns"), TIME_COLUMN("preempted_ns"),                  \
    TIME_COLUMN("blocked_ns"), TIME_COLUMN("free_ns"),                            \
    TIME_COLUMN("unknown_ns")
/* clang-format on */

static const struct table_column class_columns[] = {NUMBER_COLUMN("number"), NUMBER_COLUMN("watch"),
                                                    SUM_COLUMNS, TIME_OF_ONE("wait_p99_ns")};
static const struct table_column cause_columns[] = {COUNT_COLUMN("contentions"), TIME_COLUMN("waited_ns"),
                                                    CAUSE_COLUMNS};
static const struct table_column lock_columns[] = {NUMBER_COLUMN("pid"), TEXT_COLUMN("class"),
                                                   HEX_COLUMN("address"), SUM_COLUMNS};
static const struct table_column chain_columns[] = {TEXT_COLUMN("class"), TEXT_COLUMN("process"),
                                                    SUM_COLUMNS};
static const struct table_column chain_holder_columns[] = {
    TEXT_KEY("class"),          TEXT_KEY("process"),      TEXT_KEY("holder"),
    TEXT_KEY("holder_process"), TEXT_KEY("did"),          TEXT_KEY("instead"),
    COUNT_COLUMN("waits"),      TIME_COLUMN("waited_ns"), TIME_LARGEST("longest_ns")};
static const struct table_column process_columns[] = {NUMBER_COLUMN("pid"), SUM_COLUMNS};
static const struct table_column thread_columns[] = {NUMBER_COLUMN("tid"), NUMBER_COLUMN("pid"), SUM_COLUMNS};
static const struct table_column holder_columns[] = {NUMBER_COLUMN("tid"),      NUMBER_COLUMN("pid"),
                                                     TEXT_COLUMN("class"),      COUNT_COLUMN("waits"),
                                                     TIME_COLUMN("waited_ns"),  TIME_LARGEST("longest_ns"),
                                                     TIME_COLUMN("running_ns"), TIME_COLUMN("preempted_ns"),
                                                     TIME_COLUMN("blocked_ns"), TIME_COLUMN("unknown_ns")};
static const struct table_column instead_columns[] = {NUMBER_COLUMN("tid"),        NUMBER_COLUMN("pid"),
                                                      TEXT_COLUMN("class"),        TEXT_COLUMN("holder"),
                                                      NUMBER_COLUMN("holder_tid"), TIME_COLUMN("waited_ns")};
/* clang-format off */
#define EVENT_COLUMNS                                                                                \
    COUNT_COLUMN("waits"), TIME_COLUMN("waited_ns"),                              \
    TIME_OF_ONE("wait_mean_ns"), TIME_LARGEST("wait_max_ns")
/* clang-format on */
static const struct table_column event_columns[] = {NUMBER_COLUMN("pid"), TEXT_COLUMN("class"),
                                                    HEX_COLUMN("address"), EVENT_COLUMNS};
static const struct table_column event_chain_columns[] = {TEXT_COLUMN("class"), TEXT_COLUMN("process"),
                                                          EVENT_COLUMNS};
static const struct table_column waker_columns[] = {NUMBER_COLUMN("tid"), NUMBER_COLUMN("pid"),
                                                    TEXT_COLUMN("class"), EVENT_COLUMNS};
static const struct table_column longest_columns[] = {LONGEST_COLUMNS,
                                                      HEX_COLUMN("lock"),
                                                      TEXT_COLUMN("holder"),
                                                      NUMBER_COLUMN("holder_tid"),
                                                      CAUSE_COLUMNS,
                                                      TEXT_COLUMN("instead"),
                                                      NUMBER_COLUMN("instead_tid"),
                                                      TIME_OF_ONE("instead_ran_ns"),
                                                      TEXT_COLUMN("waker"),
                                                      NUMBER_COLUMN("waker_tid")};
static const struct table_column waiting_columns[] = {
    WHEN_COLUMN("since_ns"), NUMBER_COLUMN("tid"),  NUMBER_COLUMN("pid"),       TEXT_COLUMN("class"),
    HEX_COLUMN("lock"),      TEXT_COLUMN("holder"), NUMBER_COLUMN("holder_tid")};

const struct table locks_tables[LOCKS_TABLES] = {
    [LOCKS_BY_CLASS] = TABLE("class", "lock class", "classes", class_columns, "waited_ns", "lock classes"),
    [LOCKS_BY_CAUSE] = TABLE("cause", "what the holder did", "classes", cause_columns, "waited_ns",
                             "what the holder did during the waits"),
    [LOCKS_BY_LOCK] = TABLE("lock", "lock", "locks", lock_columns, "waited_ns", "single locks"),
    [LOCKS_BY_CHAIN] =
        TABLE("chain", "call chain", "chains", chain_columns, "waited_ns", "call chains that waited"),
    [LOCKS_BY_CHAIN_HOLDER] =
        TABLE("chain-holder", "call chain that waited", "holders", chain_holder_columns, "waited_ns",
              "for each call chain of `chain`, the holders and what they did: user code, kernel or interrupt "
              "if they ran; the thread that ran instead if they were preempted; the state if they were "
              "blocked. The rows add up to the wait time of the chain. Threads of the same name in programs "
              "of the same name share a row; a wait counts for each of them that caused it"),
    [LOCKS_BY_PROCESS] =
        TABLE("process", "process", "processes", process_columns, "waited_ns", "waits of each process"),
    [LOCKS_BY_THREAD] =
        TABLE_EXTRA("thread", "thread", "threads", thread_columns, "waited_ns", "waits of each thread"),
    [LOCKS_BY_HOLDER] =
        TABLE("holder", "holder", "holders", holder_columns, "waited_ns", "threads that others waited for"),
    [LOCKS_BY_INSTEAD] =
        TABLE("instead", "ran in a holder's place", "threads", instead_columns, "waited_ns",
              "threads that ran on the CPUs of preempted holders while others waited for these"),
    [LOCKS_BY_EVENT] =
        TABLE("event", "waits for events", "events", event_columns, "waited_ns", "waits for events"),
    [LOCKS_BY_EVENT_CHAIN] = TABLE("event-chain", "call chain of waits for events", "chains",
                                   event_chain_columns, "waited_ns", "call chains that waited for events"),
    [LOCKS_BY_WAKER] = TABLE("waker", "waker", "threads", waker_columns, "waited_ns",
                             "threads that ended waits: they released the lock, or signalled"),
    [LOCKS_BY_WAIT] = HISTOGRAM_TABLE_EXTRA("wait", "wait", "histogram of waits"),
    [LOCKS_BY_HOLD] = HISTOGRAM_TABLE_EXTRA("hold", "held", "histogram of hold times"),
    [LOCKS_BY_LONGEST] = TABLE("longest", "longest waits", "waits", longest_columns, TABLE_AS_FILLED,
                               "the longest waits, with the thread that held the lock longest, the thread "
                               "that ran longest while holders were preempted, and the waker"),
    [LOCKS_BY_WAITING] =
        TABLE_EXTRA("waiting", "still waiting at the end", "threads", waiting_columns, "since_ns",
                    "threads that still waited for a mutex at the end, and for whom; this shows deadlocks"),
};

/* ---- sums ---- */

static void fill_sum(const struct analysis *analysis, const struct lock_sum *sum, union table_cell *cells)
{
    bool is_counted = sum->acquisitions.total != 0, is_held = sum->holds != 0;

    tally_fill_mean(analysis, &(struct tally){sum->contentions, sum->waited, sum->longest}, cells);
    cells_put(
        cells + 4, {.count = sum->spins}, {.count = is_counted ? sum->acquisitions.total : TABLE_NONE},
        {.count = is_counted ? estimate_error(&sum->acquisitions) : TABLE_NONE},
        {.real = is_counted ? 100 * (double)sum->contentions_sampled / (double)sum->acquisitions.total : NAN},
        {.count = sum->holds}, {.count = is_held ? analysis_ns(analysis, sum->held) : TABLE_NONE},
        {.count = is_held ? analysis_ns(analysis, sum->held / sum->holds) : TABLE_NONE},
        {.count = is_held ? analysis_ns(analysis, sum->held_longest) : TABLE_NONE});
}

static bool is_empty(const struct lock_sum *sum)
{
    return sum->acquisitions.total == 0 && sum->contentions == 0 && sum->holds == 0;
}

/* The causes add up to the wait. */
static void fill_causes(const struct analysis *analysis, const uint64_t causes[LOCK_CAUSES],
                        union table_cell *cells)
{
    struct analysis_accumulator accumulator = {.analysis = analysis};

    for (unsigned i = 0; i < LOCK_CAUSES; i++)
        cells[i].count = analysis_add(&accumulator, causes[i]);
}

static void fill_event(const struct analysis *analysis, const struct lock_sum *sum, union table_cell *cells)
{
    tally_fill_mean(analysis, &(struct tally){sum->contentions, sum->waited, sum->longest}, cells);
}

/* ---- tables ---- */

/* Most events have no owner whose activity could explain the wait. */
static bool is_explained(const struct locks *locks, uint32_t number, const struct lock_class *class)
{
    return !lock_class_is_event(locks->analysis.model, number) ||
           class->causes[CAUSE_UNKNOWN] < class->sum.waited;
}

/* 0: the class is not sampled. */
static uint32_t sample_every(const struct locks *locks, uint32_t number)
{
    return number < MODEL_LOCK_CLASSES ? locks->analysis.model->lock_classes[number].sample_every : 0;
}

static void fill_classes(struct locks *locks)
{
    struct analysis *analysis = &locks->analysis;
    struct table *classes = &analysis->tables[LOCKS_BY_CLASS], *causes = &analysis->tables[LOCKS_BY_CAUSE];
    char text[ANALYSIS_NAME_BYTES];

    for (size_t i = 0; i < map_total(&locks->classes); i++) {
        const struct map_entry *entry = map_entry(&locks->classes, i);
        const struct lock_class *class = (const void *)entry->value;
        uint32_t number = (uint32_t)entry->key[0];
        const char *name = lock_class_name(analysis, number, text);
        struct table_row *row;

        if (is_empty(&class->sum))
            continue;
        row = table_add(classes, name);
        cells_put(row->cells, {.count = number}, {.count = TABLE_NONE});
        if (sample_every(locks, number) != 0)
            row_set(classes, row, "watch", sample_every(locks, number));
        fill_sum(analysis, &class->sum, row_cell(classes, row, "contentions"));
        row_set(classes, row, "wait_p99_ns",
                class->waits.count != 0 ? analysis_ns(analysis, distribution_percentile(&class->waits, 0.99))
                                        : TABLE_NONE);
        if (class->sum.contentions == 0 || !is_explained(locks, number, class))
            continue;
        row = table_add(causes, name);
        cells_put(row->cells, {.count = class->sum.contentions},
                  {.count = analysis_ns(analysis, class->sum.waited)});
        fill_causes(analysis, class->causes, row_cell(causes, row, "running_ns"));
    }
}

static void fill_lock(struct locks *locks, uint32_t pid, uint64_t address, uint32_t class,
                      const struct lock_sum *sum)
{
    struct analysis *analysis = &locks->analysis;
    bool is_event = lock_class_is_event(analysis->model, class);
    struct table *table = &analysis->tables[is_event ? LOCKS_BY_EVENT : LOCKS_BY_LOCK];
    char text[ANALYSIS_NAME_BYTES];
    struct table_row *row;

    if (!table->is_wanted || is_empty(sum))
        return;
    row = table_add(table, lock_name(analysis, table, pid, address));
    cells_put(row->cells, {.count = pid}, {.text = table_text(table, lock_class_name(analysis, class, text))},
              {.count = address});
    if (is_event)
        fill_event(analysis, sum, row_cell(table, row, "waits"));
    else
        fill_sum(analysis, sum, row_cell(table, row, "contentions"));
}

static void fill_locks(struct locks *locks)
{
    struct analysis *analysis = &locks->analysis;
    struct table *table = &analysis->tables[LOCKS_BY_LOCK];

    for (size_t i = 0; i < locks->locks.count; i++) {
        const struct map_entry *entry = locks->locks.entries[i];

        fill_lock(locks, (uint32_t)entry->key[0], entry->key[1], (uint32_t)entry->key[2],
                  (const void *)entry->value);
    }
    if (locks->locks.others != NULL) {
        struct table_row *row = table_add(table, "(others)");

        table_clear_cells(table, row);
        fill_sum(analysis, (const void *)locks->locks.others->value, row_cell(table, row, "contentions"));
    }
}

static void fill_chain(struct locks *locks, uint32_t class, const struct lock_chain_group *group)
{
    struct analysis *analysis = &locks->analysis;
    bool is_event = lock_class_is_event(analysis->model, class);
    struct table *table = &analysis->tables[is_event ? LOCKS_BY_EVENT_CHAIN : LOCKS_BY_CHAIN];
    struct table_row *row = table_add(table, group->text);
    char text[ANALYSIS_NAME_BYTES];

    cells_put(row->cells, {.text = table_text(table, lock_class_name(analysis, class, text))},
              {.text = table_text(table, group->process)});
    if (is_event)
        fill_event(analysis, &group->sum, row_cell(table, row, "waits"));
    else
        fill_sum(analysis, &group->sum, row_cell(table, row, "contentions"));
}

static void fill_chains(struct locks *locks)
{
    const struct table *tables = locks->analysis.tables;
    struct map groups;

    if (!tables[LOCKS_BY_CHAIN].is_wanted && !tables[LOCKS_BY_EVENT_CHAIN].is_wanted)
        return;
    map_open(&groups, sizeof(struct lock_chain_group));
    for (size_t i = 0; i < map_total(&locks->chains); i++)
        lock_chain_group(locks, &groups, map_entry(&locks->chains, i));
    for (size_t i = 0; i < map_total(&groups); i++) {
        const struct map_entry *entry = map_entry(&groups, i);

        fill_chain(locks, (uint32_t)entry->key[0], (const void *)entry->value);
    }
    map_close(&groups);
}

static void fill_threads(struct locks *locks)
{
    struct analysis *analysis = &locks->analysis;
    struct table *threads = &analysis->tables[LOCKS_BY_THREAD];
    struct table *processes = &analysis->tables[LOCKS_BY_PROCESS];

    for (size_t i = 0; i < locks->threads.count; i++) {
        const struct model_thread *thread = analysis->model->threads[locks->threads.entries[i]->key[0]];
        const struct lock_sum *sum = map_value(&locks->threads, i);
        struct table_row *row;

        if (is_empty(sum))
            continue;
        row = row_of_process(analysis, processes, thread->pid);
        lock_sum_add(table_sum(processes, row, sizeof(*sum)), sum);
        row = row_of_thread(analysis, threads, thread, NULL);
        fill_sum(analysis, sum, row_cell(threads, row, "contentions"));
    }
    for (size_t i = 0; i < processes->count; i++)
        fill_sum(analysis, processes->rows[i]->sum, row_cell(processes, processes->rows[i], "contentions"));
}

static const char *class_text(const struct analysis *analysis, struct table *table, uint64_t class)
{
    char text[ANALYSIS_NAME_BYTES];

    return table_text(table, lock_class_name(analysis, (uint32_t) class, text));
}

static void fill_holders(struct locks *locks)
{
    struct analysis *analysis = &locks->analysis;
    struct table *table = &analysis->tables[LOCKS_BY_HOLDER];

    for (size_t i = 0; i < locks->holders.count; i++) {
        const uint64_t *key = locks->holders.entries[i]->key;
        const struct lock_holder *holder = map_value(&locks->holders, i);
        struct table_row *row = row_of_thread(analysis, table, analysis->model->threads[key[0]], NULL);
        union table_cell causes[LOCK_CAUSES];

        fill_causes(analysis, holder->causes, causes);
        row_cell(table, row, "class")->text = class_text(analysis, table, key[1]);
        tally_fill(analysis, &holder->waits, row_cell(table, row, "waits"));
        cells_put(row_cell(table, row, "running_ns"), causes[CAUSE_RUNNING], causes[CAUSE_PREEMPTED],
                  causes[CAUSE_BLOCKED], causes[CAUSE_UNKNOWN]);
    }
}

static void fill_instead(struct locks *locks)
{
    struct analysis *analysis = &locks->analysis;
    struct table *table = &analysis->tables[LOCKS_BY_INSTEAD];

    for (size_t i = 0; i < locks->instead.count; i++) {
        const struct lock_instead *instead = map_value(&locks->instead, i);
        struct table_row *row = row_of_thread(analysis, table, instead->thread, NULL);

        cells_put(row_cell(table, row, "class"),
                  {.text = class_text(analysis, table, locks->instead.entries[i]->key[2])},
                  {.text = table_text(table, analysis_thread_name(analysis, instead->holder))},
                  {.count = instead->holder->tid}, {.count = analysis_ns(analysis, instead->waited)});
    }
}

static void fill_wakers(struct locks *locks)
{
    struct analysis *analysis = &locks->analysis;
    struct table *table = &analysis->tables[LOCKS_BY_WAKER];

    for (size_t i = 0; i < locks->wakers.count; i++) {
        const struct lock_waker *waker = map_value(&locks->wakers, i);
        struct table_row *row = row_of_thread(analysis, table, waker->thread, "(time-out or unknown)");

        row_cell(table, row, "class")->text = class_text(analysis, table, locks->wakers.entries[i]->key[1]);
        tally_fill_mean(analysis, &waker->waits, row_cell(table, row, "waits"));
    }
}

/* Fills the cell KEY with the thread's name, and the next one with its ID. */
static void fill_thread(const struct analysis *analysis, struct table *table, struct table_row *row,
                        const char *key, const struct model_thread *thread)
{
    cells_put(row_cell(table, row, key),
              {.text = thread != NULL ? table_text(table, analysis_thread_name(analysis, thread)) : NULL},
              {.count = thread != NULL ? thread->tid : TABLE_NONE});
}

static struct table_row *add_longest(struct analysis *analysis, struct table *table,
                                     const struct longest *item)
{
    const struct lock_wait_record *record = (const void *)(uintptr_t)item->args[1];
    char text[ANALYSIS_NAME_BYTES];
    struct table_row *row = table_add(table, lock_class_name(analysis, (uint32_t)item->what, text));

    row_set(table, row, "lock", item->args[0]);
    fill_thread(analysis, table, row, "holder", record->holder);
    fill_causes(analysis, record->causes, row_cell(table, row, "running_ns"));
    fill_thread(analysis, table, row, "instead", record->instead);
    row_set(table, row, "instead_ran_ns",
            record->instead != NULL ? analysis_ns(analysis, record->instead_ticks) : TABLE_NONE);
    fill_thread(analysis, table, row, "waker", record->waker);
    return row;
}

/* Fills the table of threads that still sleep for a lock. */
static void fill_waiting(struct locks *locks)
{
    struct analysis *analysis = &locks->analysis;
    struct table *table = &analysis->tables[LOCKS_BY_WAITING];

    for (size_t i = 0; i < locks->sleepers.count; i++) {
        const struct lock_sleeper *sleeper = (const void *)locks->sleepers.entries[i]->value;
        const struct model_thread *thread = sleeper->thread;
        struct table_row *row;

        if (thread->state != MODEL_BLOCKED_FUTEX || thread->switches != sleeper->switches ||
            !analysis_wants(analysis, thread))
            continue;
        row = row_of_thread(analysis, table, thread, NULL);
        row_set(table, row, "since_ns", analysis_when(analysis, sleeper->since));
        cells_put(row_cell(table, row, "class"), {.text = class_text(analysis, table, sleeper->class)},
                  {.count = sleeper->lock});
        fill_thread(analysis, table, row, "holder", sleeper->holder);
    }
}

/* Says what is missing: short waits, or acquisitions, and how to get these. */
static void note_missing(struct locks *locks)
{
    struct analysis *analysis = &locks->analysis;
    unsigned unsampled = 0;

    for (size_t i = 0; i < locks->classes.count; i++) {
        const struct map_entry *entry = locks->classes.entries[i];
        const struct lock_class *class = (const void *)entry->value;
        uint32_t number = (uint32_t)entry->key[0];

        unsampled += class->sum.contentions != 0 && class->sum.acquisitions.total == 0 &&
                     sample_every(locks, number) == 0 && !lock_class_is_event(analysis->model, number);
    }
    const char *how =
        schema_other_system(&analysis->trace->schema) != NULL
            ? ""
            : ". To sample them, use `tarn ctl SOURCE watch all 64`, `trace watch all 64` in the "
              "guest, or boot option trace.watch=all/64";
    if (locks->threshold != 0)
        snprintf(analysis->note, sizeof(analysis->note),
                 "waits below %.3f us were not logged (`trace threshold`): all sums are of longer ones",
                 (double)analysis_ns(analysis, locks->threshold) / 1000);
    else if (unsampled != 0)
        snprintf(analysis->note, sizeof(analysis->note),
                 "%u contended lock %s not sampled: acquisitions are unknown%s", unsampled,
                 unsampled == 1 ? "class was" : "classes were", how);
}

void locks_fill(struct analysis *analysis)
{
    struct locks *locks = (struct locks *)analysis;

    fill_classes(locks);
    fill_locks(locks);
    fill_chains(locks);
    locks_fill_chain_holders(locks);
    fill_threads(locks);
    fill_holders(locks);
    fill_instead(locks);
    fill_wakers(locks);
    note_missing(locks);
    distribution_histogram(&locks->waits, &analysis->trace->schema, &analysis->tables[LOCKS_BY_WAIT]);
    distribution_histogram(&locks->holds, &analysis->trace->schema, &analysis->tables[LOCKS_BY_HOLD]);
    longest_rows(analysis, &analysis->tables[LOCKS_BY_LONGEST], &locks->longest, add_longest);
    fill_waiting(locks);
}
