/*
 * log_rows.h - rows of tables of counters as events of a trace, named row_TABLE: FORMAT.md, "Rows".
 */
#pragma once

#include <tools/tarn/source/pull_writer.h>

/* Adds the events' declarations to metadata. */
void declare_rows(struct buffer *metadata);
/* Reads all tables of SOURCE, and writes their rows behind everything else in the trace. False: FAIL. */
bool log_rows(struct trace_writer *writer, struct source *source, struct fail *fail);
