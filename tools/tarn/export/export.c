/* SPDX-License-Identifier: BSD-2-Clause */
/* export.c - shared by all formats; see export.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/export/export.h>
#include <tools/tarn/output.h>
#include <unistd.h>

const struct export_format export_formats[] = {
    {"perfetto", "a protobuf trace for ui.perfetto.dev and trace_processor", "perfetto-trace",
     &perfetto_export},
    {"chrome", "JSON trace events, for chrome://tracing, Perfetto, speedscope", "json", &chrome_export},
    {"csv", "a directory of tables: one per event type, and tables of the model's results", "csv", NULL},
    {"sqlite", "a database with the same tables", "sqlite", NULL},
    {"parquet", "a directory of the relations as Parquet files; needs DuckDB (make duckdb)", "parquet", NULL},
    {NULL, NULL, NULL, NULL},
};

void export_fail(struct export *export, const char *format, ...)
{
    va_list arguments;

    if (export->has_failed)
        return;
    export->has_failed = true;
    va_start(arguments, format);
    vsnprintf(export->fail.text, sizeof(export->fail.text), format, arguments);
    va_end(arguments);
}

void export_close_file(struct export *export, struct out *out, const char *path)
{
    if (out->fd < 0)
        return;
    bool is_written = out_close(out);
    int error = errno;
    bool is_there = output_close(out->fd, path != NULL ? path : "");
    out->fd = -1;
    if (path != NULL && !(is_written && is_there))
        export_fail(export, "cannot write '%s': %s", path, strerror(is_written ? errno : error));
}
