/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * export.h - writes a trace in the formats of other tools.
 *
 * There are two groups of formats:
 *
 *   tables.h   the relations (relation/relation.h): CSV, SQLite, Parquet
 *   tracks.h   lanes of a picture: chrome.c, perfetto.c. Each is an analysis without tables
 *              (analysis/analysis.h): it observes the model during one walk and writes to `output`, which
 * must not exist yet.
 *
 * Readers of the Common Trace Format need no export: the trace directory is in that format.
 */
#ifndef TARN_EXPORT_H
#define TARN_EXPORT_H

#include <tools/tarn/out.h>
#include <tools/tarn/relation/relation.h>

struct export_format {
    const char *name, *what;
    const char *suffix;               /* of the default output name */
    const struct analysis_kind *kind; /* NULL: of tables.h */
};
extern const struct export_format export_formats[]; /* ended by a NULL name */

extern const struct analysis_kind chrome_export, perfetto_export;

/* The state of a format with a kind begins with this. Writing continues after a failure, which `fail` keeps.
 */
struct export
{
    struct analysis analysis;
    const char *output;
    const struct losses *losses; /* complete at the end of the walk */
    struct fail fail;
    bool has_failed;
};
#define EXPORT_OF(pointer, type) ((type *)(void *)(pointer))

/* Flushes and closes OUT. The export fails unless PATH then contains all of it. NULL: the export has failed
 * already. A second call does nothing. */
void export_close_file(struct export *export, struct out *out, const char *path);
/* Keeps only the first failure. */
void export_fail(struct export *export, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
