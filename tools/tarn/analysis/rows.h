/* SPDX-License-Identifier: BSD-2-Clause */
/* rows.h - rows that several analyses fill in the same way: of threads, of processes, of tallies. */
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

/* How often something took time, all of it, and the longest. In ticks. */
struct tally {
    uint64_t count, total, max;
};

static inline void tally_merge(struct tally *into, const struct tally *from)
{
    into->count += from->count;
    into->total += from->total;
    into->max = from->max > into->max ? from->max : into->max;
}

static inline void tally_add(struct tally *tally, uint64_t ticks)
{
    tally_merge(tally, &(struct tally){1, ticks, ticks});
}

/* Fills three cells. */
static inline void tally_fill(const struct analysis *analysis, const struct tally *tally,
                              union table_cell *cells)
{
    cells[0].count = tally->count;
    cells[1].count = analysis_ns(analysis, tally->total);
    cells[2].count = analysis_ns(analysis, tally->max);
}
/* Fills four cells: the mean is before the longest. Without any, both are unknown. */
static inline void tally_fill_mean(const struct analysis *analysis, const struct tally *tally,
                                   union table_cell *cells)
{
    tally_fill(analysis, tally, cells);
    cells[3].count = tally->count != 0 ? cells[2].count : TABLE_NONE;
    cells[2].count = tally->count != 0 ? analysis_ns(analysis, tally->total / tally->count) : TABLE_NONE;
}

#endif
