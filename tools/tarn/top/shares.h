/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shares.h - the table of `tarn top --routines`: each process's use of its time in an interval, from tables
 * of routines at two moments (trace/print/shares.h).
 */
#ifndef TARN_SHARES_H
#define TARN_SHARES_H

#include <tools/tarn/table.h>
#include <tools/tarn/tables/routines.h>
#include <tools/tarn/top/screen.h>
#include <trace/print/shares.h>

#define SHARES_COLUMNS (TRACE_SHARES + 4u) /* pid, threads, interval, running, and all shares */

struct shares_view {
    const char *source;
    const char *state;     /* shown first; NULL: nothing */
    const char *line;      /* below the first line; NULL: none */
    const char *pattern;   /* of names; "": all */
    enum screen_sort sort; /* running, ready or name */
};

/* Makes a table of the processes at NOW, to be freed by table_free: times since BEFORE, or NULL: since
 * counting was switched on. In nanoseconds; IN_PERCENT: of *seconds, the time between. COLUMNS is the
 * table's. */
void shares_fill(struct table *table, struct table_column columns[SHARES_COLUMNS], const struct routines *now,
                 const struct routines *before, const char *pattern, bool in_percent, double *seconds);
/* Prints the table of an interval, within WIDTH and HEIGHT; HEIGHT 0: as text, at most TOP rows. */
void shares_print(FILE *to, const struct shares_view *view, const struct routines *now,
                  const struct routines *before, unsigned width, unsigned height, uint64_t top);
/* JSON, an object on one line, or CSV. */
void shares_write(FILE *to, const struct shares_view *view, const struct routines *now,
                  const struct routines *before, const struct table_options *output);

#endif
