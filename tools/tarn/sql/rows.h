/* SPDX-License-Identifier: BSD-2-Clause */
/* rows.h - the common part of all virtual tables of SQLite; a kind of table gives the rows. */
#ifndef TARN_SQL_ROWS_H
#define TARN_SQL_ROWS_H

#include <tools/tarn/sql/database.h>

struct rows_cursor {
    sqlite3_vtab_cursor base; /* first: SQLite's */
    void *table;              /* what the kind's `connect` returned */
    void *state;              /* the kind's */
    uint64_t number;          /* of the row, from 0 on */
    bool is_row;
};

/* TABLE is what `connect` returned. Functions with ERROR set it, by sqlite3_mprintf, if they fail. */
struct rows_kind {
    /* Adds the table's columns to SQL. DATA: of rows_register. NULL: it failed. */
    void *(*connect)(struct database *database, void *data, int argc, const char *const *argv,
                     sqlite3_str *sql, char **error);
    void (*drop)(void *table); /* NULL: nothing to do */
    int (*plan)(void *table, sqlite3_index_info *info);
    int (*begin)(struct rows_cursor *cursor, const char *plan, int argc, sqlite3_value **argv, char **error);
    bool (*move)(struct rows_cursor *cursor); /* to row `number`, which follows; false: there is none */
    void (*value)(struct rows_cursor *cursor, sqlite3_context *context, unsigned column);
    void (*end)(struct rows_cursor *cursor); /* frees `state`, if it is not NULL; NULL: nothing to do */
};

/* Makes NAME a table, and what CREATE VIRTUAL TABLE can use. Returns an SQLite status. */
int rows_register(struct database *database, const char *name, const struct rows_kind *kind, void *data);

#endif
