/*
 * export.h - writes a trace in the formats of other tools.
 *
 * tables.c writes the relations (relation/relation.h) that have rows; as Parquet, all. chrome.c and
 * perfetto.c write lanes of a picture in one walk (tracks.h). Readers of the Common Trace Format need no
 * export: the trace directory is in that format.
 *
 * CSV is a directory with a file for each relation: comma-separated values as in RFC 4180. The first line has
 * the names of the columns, and texts with commas, quotes or line ends are quoted. Addresses and masks are
 * hexadecimal, unknown values empty. A database has a view `event` of all events instead of that relation.
 * Parquet is a directory with a file for each, compressed with zstd. It needs DuckDB (sql/duck.h).
 */
#pragma once

#include <tools/tarn/relation/scan.h>

/* Writes to OUTPUT, which must not exist. NOTHING: why there is nothing in it, or NULL. */
typedef bool export_function(const struct scan_source *source, const char *output, const char **nothing,
                             struct fail *fail);
export_function export_perfetto, export_chrome, export_csv, export_sqlite, export_parquet;
