/* SPDX-License-Identifier: BSD-2-Clause */
/* rows.c - rows of threads and processes; see rows.h. */
#include <tools/tarn/analysis/rows.h>

union table_cell *row_cell(const struct table *table, struct table_row *row, const char *key)
{
    int column = table_find_column(table, key);

    return column >= 0 ? &row->cells[column] : NULL;
}

void row_set(const struct table *table, struct table_row *row, const char *key, uint64_t value)
{
    union table_cell *cell = row_cell(table, row, key);

    if (cell != NULL)
        cell->count = value;
}

struct table_row *row_of_thread(const struct analysis *analysis, struct table *table,
                                const struct model_thread *thread, const char *nobody)
{
    struct table_row *row = table_add(table, thread ? analysis_thread_name(analysis, thread) : nobody);

    row_set(table, row, "tid", thread ? thread->tid : (uint64_t)TABLE_NONE);
    row_set(table, row, "pid", thread ? thread->pid : (uint64_t)TABLE_NONE);
    return row;
}

struct table_row *row_of_process(const struct analysis *analysis, struct table *table, uint32_t pid)
{
    struct table_row *row = table_row(table, pid, analysis_process_name(analysis, pid));

    row_set(table, row, "pid", pid);
    return row;
}
