/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_tables.h - `trace tables`: tables of counters. */
#ifndef USER_BIN_TRACE_TABLES_H
#define USER_BIN_TRACE_TABLES_H

/* Prints the table with that name, or (NULL) lists all. Returns an exit status. */
int show_tables(const char *name);

#endif
