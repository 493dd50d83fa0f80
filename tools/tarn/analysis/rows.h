/* SPDX-License-Identifier: BSD-2-Clause */
/* rows.h - rows that several analyses fill in the same way: of threads and of processes. */
#ifndef TARN_ROWS_H
#define TARN_ROWS_H

#include <tools/tarn/analysis/analysis.h>

/* Adds a row for THREAD, with its numbers in the columns "tid" and "pid". NULL: it is called NOBODY. */
struct table_row *row_of_thread(const struct analysis *analysis, struct table *table,
                                const struct model_thread *thread, const char *nobody);
/* Returns the row of process PID, with its number in the column "pid". */
struct table_row *row_of_process(const struct analysis *analysis, struct table *table, uint32_t pid);
/* Returns the cell of the column KEY, or NULL. */
union table_cell *row_cell(const struct table *table, struct table_row *row, const char *key);
/* Sets the cell of the column KEY, if the table has one. */
void row_set(const struct table *table, struct table_row *row, const char *key, uint64_t value);

#endif
