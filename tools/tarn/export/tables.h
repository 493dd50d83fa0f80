/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables.h - CSV, SQLite and Parquet: the relations of a trace (relation/relation.h) that have rows; of
 * Parquet, all.
 *
 * CSV is a directory with a file for each: comma-separated values as in RFC 4180. The first line has the
 * names of the columns, and texts with commas, quotes or line ends are quoted. Addresses and masks are
 * hexadecimal, unknown values empty. A database has a view `event` of all events instead of that relation.
 */
#ifndef TARN_EXPORT_TABLES_H
#define TARN_EXPORT_TABLES_H

#include <tools/tarn/relation/scan.h>

/* Writes to OUTPUT, which must not exist. NOTHING: why there are no rows, or NULL. */
bool tables_export(const struct scan_source *source, bool is_csv, const char *output, const char **nothing,
                   struct fail *fail);
/* A directory with a file for each, compressed with zstd. It needs DuckDB (sql/duck.h). */
bool parquet_export(const struct scan_source *source, const char *output, struct fail *fail);

#endif
