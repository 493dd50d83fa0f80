/*
 * database.h - an SQLite database whose tables are the relations of a trace; nothing is imported.
 *
 * Besides the relations there are the functions and table-valued functions of functions.c, and two kinds of
 * tables that count while the trace is read once, however many there are (fold.c):
 *
 *   CREATE VIRTUAL TABLE NAME USING fold(RELATION, TERM, ...)
 *
 * A database has the model at the end of the walk: that of the analysis that owns it, or one of its own,
 * which it makes when a query needs it.
 */
#pragma once

#include <sqlite3.h>
#include <tools/tarn/relation/scan.h>

struct fold;

/* A distribution that SQL passes on as a blob (functions.c). */
struct holder {
    struct distribution distribution;
    bool is_ticks;
    uint32_t number; /* in database->holders, plus 1; 0: not there */
};

struct database {
    sqlite3 *sqlite;
    struct catalog catalog;
    struct scan_source source;
    volatile sig_atomic_t stop; /* set: queries end early */
    struct relations relations; /* valid once has_walked, or if the owner has opened them */
    struct fold *folds;
    struct holder **holders;
    size_t holder_count, holder_size;
    struct arena arena;
    /* of its own walk */
    struct analysis *analysis;
    struct model model;
    bool has_owner, has_walked;
    const char *(*option)(void *owner, const char *name); /* value of :NAME in folds; NULL: no such */
    void *owner;
};

/* SOURCE's `final` and `stop` are ignored. */
bool database_open(struct database *database, const struct scan_source *source, struct fail *fail);
void database_close(struct database *database);
/* For an owner with an open analysis: its relations are those of the database. Call it before
 * `database_run`; afterwards all folds observe the analysis's model. */
void database_own(struct database *database, struct analysis *analysis);
/* Runs statements without results. */
bool database_run(struct database *database, const char *sql, struct fail *fail);
/* The relations of a finished walk, which this makes if there is none. NULL: stopped, or parameters of a fold
 * are wrong (relations.fail). */
struct relations *database_final(struct database *database);
/* The rows of RELATION, for either engine. */
struct scan *database_scan(struct database *database, const struct relation *relation,
                           const struct scan_limits *limits, struct fail *fail);

/* The rows that a statement gives, whichever engine executes it. */
struct answer {
    unsigned columns;
    void *of;                                                    /* the engine's */
    bool (*next)(struct answer *answer);                         /* false: there is none, or it failed */
    const char *(*name)(struct answer *answer, unsigned column); /* of a column */
    /* Returns the value, valid until the next call; NULL: it has none. *IS_NUMBER: it is one in JSON. */
    const char *(*text)(struct answer *answer, unsigned column, bool *is_number);
};

/* ---- duck.c: DuckDB as a second engine ---- */

struct duck *duck_open(struct fail *fail); /* NULL: FAIL */
void duck_close(struct duck *duck);        /* or NULL */
/* The relations of DATABASE, which lives longer, become table functions. */
bool duck_relations(struct duck *duck, struct database *database, struct fail *fail);
/* Executes a statement. PRINT (or NULL) gets its rows, if it has columns. */
bool duck_run(struct duck *duck, const char *sql, void (*print)(void *context, struct answer *answer),
              void *context, struct fail *fail);
/* Ends a query early; for signal handlers. */
void duck_stop(struct duck *duck);

/* ---- rows.c: the common part of all virtual tables of SQLite; a kind of table gives the rows ---- */

struct rows_cursor {
    sqlite3_vtab_cursor base; /* first: SQLite's */
    struct database *database;
    void *table;     /* what the kind's `connect` returned */
    void *state;     /* the kind's */
    uint64_t number; /* of the row, from 0 on */
    bool is_row;
};

/* TABLE is what `connect` returned. Functions with ERROR set it, by sqlite3_mprintf, if they fail. */
struct rows_kind {
    /* Adds the table's columns to SQL. DATA: of rows_register. NULL: it failed. */
    void *(*connect)(struct database *database, void *data, int argc, const char *const *argv,
                     sqlite3_str *sql, char **error);
    void (*drop)(void *table);                          /* NULL: nothing to do */
    int (*plan)(void *table, sqlite3_index_info *info); /* NULL: there is only one */
    int (*begin)(struct rows_cursor *cursor, const char *plan, int argc, sqlite3_value **argv, char **error);
    /* To row `number`, which follows; false: there is none. */
    bool (*move)(struct rows_cursor *cursor, char **error);
    void (*value)(struct rows_cursor *cursor, sqlite3_context *context, unsigned column);
    void (*end)(struct rows_cursor *cursor); /* frees `state`, if it is not NULL; NULL: nothing to do */
};

/* Makes NAME a table, and what CREATE VIRTUAL TABLE can use. Returns an SQLite status. */
int rows_register(struct database *database, const char *name, const struct rows_kind *kind, void *data);

/* A column of the statement's row, as a cell of COLUMN of the table (view.c). */
union table_cell sql_cell(struct table *table, const struct table_column *column, sqlite3_stmt *statement,
                          int at);

/* ---- for its modules ---- */
/* Register them; each returns an SQLite status. */
int functions_register(struct database *database);
int folds_register(struct database *database);
/* Adds the sinks of all folds that are not filled yet. */
void folds_add(struct database *database, struct relations *relations);
void folds_filled(struct database *database);
bool folds_wait(const struct database *database);
/* Return a value to SQLite. */
void result_value(sqlite3_context *context, struct value value);
void result_holder(struct database *database, sqlite3_context *context, struct holder *holder);
