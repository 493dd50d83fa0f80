/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_tables.h - `trace tables`: prints tables of counters (trace/format/table.h). */
#ifndef TRACE_TABLES_COMMAND_H
#define TRACE_TABLES_COMMAND_H

/* `tables [NAME [--by COLUMN] [--top N]] [--previous]`. Returns an exit status. */
int show_tables(int argc, char **argv);

#endif
