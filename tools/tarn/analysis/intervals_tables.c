/* SPDX-License-Identifier: BSD-2-Clause */
/* intervals_tables.c - the tables of `tarn intervals`; see intervals_tables.h. */
#include <inttypes.h>
#include <stdio.h>
#include <tools/tarn/analysis/intervals_tables.h>

enum { TOTAL_COUNT, TOTAL_NOT_ENDED, TOTAL_NOT_BEGUN, TOTAL_NOT_FOLLOWED };
static const struct table_column total_columns[] = {
    COUNT_COLUMN("intervals"), COLUMN_CALLED("not ended", "all_not_ended", COLUMN_COUNT, SUM_ADDED, 0),
    COLUMN_CALLED("not begun", "all_not_begun", COLUMN_COUNT, SUM_ADDED, 0),
    COLUMN_CALLED("begins over capacity", "no_room", COLUMN_COUNT, SUM_ADDED, 0)};
const struct table intervals_totals = TABLE("total", "total", "totals", total_columns, TABLE_AS_FILLED);
static const struct table_column group_columns[] = {NUMBER_COLUMN("value"), COUNT_COLUMN("not_ended"),
                                                    COUNT_COLUMN("not_begun"), DISTRIBUTION_COLUMNS("count")};
static const struct table_column thread_columns[] = {NUMBER_COLUMN("tid"), NUMBER_COLUMN("pid"),
                                                     DISTRIBUTION_COLUMNS("count")};
static const struct table_column longest_columns[] = {LONGEST_COLUMNS, WHEN_COLUMN("until_ns")};
static const struct table_column open_columns[] = {WHEN_COLUMN("at_ns"), NUMBER_COLUMN("tid"),
                                                   NUMBER_COLUMN("pid"), TEXT_COLUMN("thread")};
const struct table intervals_tables[INTERVALS_TABLES] = {
    [BY_GROUP] = TABLE("interval", "interval", "groups", group_columns, "total_ns",
                       "intervals, for each value of --group"),
    [BY_THREAD] = TABLE_EXTRA("thread", "thread of the begin", "threads", thread_columns, "total_ns",
                              "intervals, by thread that logged the begin"),
    [BY_DURATION] = HISTOGRAM_TABLE("duration", "duration", "histogram of durations"),
    [BY_LONGEST] =
        TABLE("longest", "longest", "intervals", longest_columns, TABLE_AS_FILLED, "the longest intervals"),
    [BY_OPEN] =
        TABLE_EXTRA("open", "not ended", "intervals", open_columns, "at_ns", "begins that were not ended"),
};

/* Returns the name of the group's value, or else of the interval. */
static const char *name_of(const struct intervals *intervals, uint64_t group, char text[ANALYSIS_NAME_BYTES])
{
    const struct field *field = intervals->group_field;

    if (field == NULL)
        return intervals->spec.name ? intervals->spec.name : intervals->spec.begin;
    if (field->labels == NULL)
        snprintf(text, ANALYSIS_NAME_BYTES, field->is_signed ? "%s %" PRId64 : "%s %" PRIu64, field->name,
                 group);
    return field->labels != NULL ? label_of(field, group, text) : text;
}

static void fill_groups(struct intervals *intervals)
{
    struct table *table = &intervals->analysis.tables[BY_GROUP];
    union table_cell *total = intervals->analysis.total->cells;
    char text[ANALYSIS_NAME_BYTES];

    for (size_t i = 0; i < intervals->open.count; i++) {
        const struct open_interval *open = map_value(&intervals->open, i);

        intervals_group(intervals, open->group, true)->restarted++;
    }
    for (size_t i = 0; i < map_total(&intervals->groups); i++) {
        const struct map_entry *entry = map_entry(&intervals->groups, i);
        const struct group *group = (const void *)entry->value;
        bool is_known = entry->key[1] == 1;
        struct table_row *row =
            table_add(table, is_known ? name_of(intervals, entry->key[0], text) : "(others)");

        cells_put(row->cells,
                  {.number = intervals->group_field && is_known ? (int64_t)entry->key[0] : TABLE_NONE},
                  {.count = group->restarted}, {.count = group->not_begun});
        total[TOTAL_COUNT].count += group->durations.count;
        total[TOTAL_NOT_ENDED].count += group->restarted;
        total[TOTAL_NOT_BEGUN].count += group->not_begun;
        distribution_fill(&group->durations, &intervals->analysis.trace->schema,
                          row_cell(table, row, "count"));
    }
}

static void fill_threads(struct intervals *intervals)
{
    struct analysis *analysis = &intervals->analysis;
    struct table *table = &analysis->tables[BY_THREAD];

    for (size_t i = 0; i < map_total(&intervals->threads); i++) {
        const struct map_entry *entry = map_entry(&intervals->threads, i);
        bool is_rest = entry == intervals->threads.others;
        const struct model_thread *thread = is_rest ? NULL : analysis->model->threads[entry->key[0]];
        struct table_row *row = row_of_thread(analysis, table, thread, "(others)");

        distribution_fill((const void *)entry->value, &analysis->trace->schema,
                          row_cell(table, row, "count"));
    }
}

static struct table_row *add_longest(struct analysis *analysis, struct table *table,
                                     const struct longest *item)
{
    char text[ANALYSIS_NAME_BYTES];
    struct table_row *row = table_add(table, name_of((struct intervals *)analysis, item->what, text));

    row_set(table, row, "until_ns", analysis_when(analysis, item->args[0]));
    return row;
}

static void fill_open(struct intervals *intervals)
{
    struct analysis *analysis = &intervals->analysis;
    struct table *table = &analysis->tables[BY_OPEN];
    char text[ANALYSIS_NAME_BYTES];

    for (size_t i = 0; i < intervals->open.count && table->is_wanted; i++) {
        const struct open_interval *open = map_value(&intervals->open, i);
        const struct model_thread *thread = open->thread;
        struct table_row *row = table_add(table, name_of(intervals, open->group, text));

        cells_put(row->cells, {.count = analysis_when(analysis, open->begin)}, {.count = thread->tid},
                  {.count = thread->pid},
                  {.text = table_text(table, analysis_thread_name(analysis, thread))});
    }
}

void intervals_fill(struct analysis *analysis)
{
    struct intervals *intervals = (struct intervals *)analysis;

    analysis->total->cells[TOTAL_NOT_FOLLOWED].count = intervals->too_many;
    fill_groups(intervals);
    map_histogram(analysis, &analysis->tables[BY_DURATION], &intervals->groups,
                  offsetof(struct group, durations));
    fill_threads(intervals);
    longest_rows(analysis, &analysis->tables[BY_LONGEST], &intervals->longest, add_longest);
    fill_open(intervals);
}
