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

/* Prints the table of an interval, sorted by running, ready or name, within WIDTH and HEIGHT; HEIGHT 0: as
 * text, at most TOP rows. */
void shares_print(FILE *to, const struct screen *screen, const struct routines *now,
                  const struct routines *before, unsigned width, unsigned height, uint64_t top);
/* JSON, an object on one line, or CSV. */
void shares_write(FILE *to, const struct screen *screen, const struct routines *now,
                  const struct routines *before, const struct table_options *output);

#endif
