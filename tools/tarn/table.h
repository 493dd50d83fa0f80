/*
 * table.h - tables: named rows with typed columns. Analyses return them.
 *
 * An analysis fills rows and sorts them; print/print_table.h prints them as text, JSON and CSV, and `tarn
 * diff` compares two tables. The first column is the row's name; the others are declared once. A row's
 * address is valid until table_free, whatever is added or sorted.
 */
#pragma once

#include <tools/tarn/map.h>

#define TABLE_COLUMNS_MAX 48u

enum column_kind {
    COLUMN_COUNT,  /* uses `count`; adds up */
    COLUMN_REAL,   /* uses `real`; adds up */
    COLUMN_TIME,   /* uses `count`: nanoseconds; adds up */
    COLUMN_BAR,    /* uses `count`; drawn in text, left out elsewhere */
    COLUMN_NUMBER, /* uses `count`: an identifier, such as a pid */
    COLUMN_SIGNED, /* uses `number`: a result, an exit status */
    COLUMN_CHANGE, /* uses `number`: nanoseconds more or less; adds up */
    COLUMN_HEX,    /* uses `count`: an address */
    COLUMN_WHEN,   /* uses `count`: nanoseconds since the start of the trace */
    COLUMN_TEXT,   /* uses `text` */
};

/* The column's value in a sum of several rows. */
enum column_sum { SUM_NOTHING, SUM_ADDED, SUM_LARGEST, SUM_SMALLEST };

struct table_column {
    const char *key;     /* in JSON and CSV; times end in _ns */
    const char *heading; /* in text; NULL: made from the key (column_heading); "": no heading */
    enum column_kind kind;
    enum column_sum sum;
    bool is_key; /* for COLUMN_TEXT: part of the row's identity when traces are compared */
};

/* clang-format off */
#define COLUMN_CALLED(heading_, key_, kind_, sum_) \
    {.key = (key_), .heading = (heading_), .kind = (kind_), .sum = (sum_)}
#define COLUMN_AS(key, kind, sum) COLUMN_CALLED(NULL, key, kind, sum)
#define COUNT_COLUMN(key)         COLUMN_AS(key, COLUMN_COUNT, SUM_ADDED)
#define REAL_COLUMN(key)          COLUMN_AS(key, COLUMN_REAL, SUM_ADDED)
#define MEAN_COLUMN(key)          COLUMN_AS(key, COLUMN_REAL, SUM_NOTHING)
#define TIME_COLUMN(key)          COLUMN_AS(key, COLUMN_TIME, SUM_ADDED)
#define TIME_OF_ONE(key)          COLUMN_AS(key, COLUMN_TIME, SUM_NOTHING) /* such as a mean */
#define TIME_LARGEST(key)         COLUMN_AS(key, COLUMN_TIME, SUM_LARGEST)
#define TIME_SMALLEST(key)        COLUMN_AS(key, COLUMN_TIME, SUM_SMALLEST)
#define BAR_COLUMN                COLUMN_CALLED("", "", COLUMN_BAR, SUM_NOTHING)
#define NUMBER_COLUMN(key)        COLUMN_AS(key, COLUMN_NUMBER, SUM_NOTHING)
#define SIGNED_COLUMN(key)        COLUMN_AS(key, COLUMN_SIGNED, SUM_NOTHING)
#define HEX_COLUMN(key)           COLUMN_AS(key, COLUMN_HEX, SUM_NOTHING)
#define WHEN_COLUMN(key)          COLUMN_AS(key, COLUMN_WHEN, SUM_NOTHING)
#define TEXT_COLUMN(key)          COLUMN_AS(key, COLUMN_TEXT, SUM_NOTHING)
#define TEXT_KEY(key_)            {.key = (key_), .kind = COLUMN_TEXT, .is_key = true}
/* clang-format on */

union table_cell {
    uint64_t count;
    int64_t number;
    double real;
    const char *text; /* NULL: none */
};

/* The value of an unknown cell: null in JSON, empty in CSV and text. Text columns use NULL, real ones NAN. */
#define TABLE_NONE INT64_MAX

struct table_row {
    const char *name;
    /* of the name in text, for trees; used only while rows are in the order in which they were added */
    uint32_t indent;
    union table_cell cells[];
};

#define TABLE_AS_FILLED NULL

/* In place of the index of a column. */
#define TABLE_BY_NAME   (-1)
#define TABLE_NO_COLUMN (-2)

struct table {
    const char *key;     /* in JSON and CSV, and in --by */
    const char *heading; /* of the name column, in text */
    const char *others;  /* the plural of its rows, for "and N more ..." */
    const struct table_column *columns;
    unsigned column_count;
    const char *order; /* the key of the default sort column, or TABLE_AS_FILLED */
    bool is_extra;     /* shown only on request with --by */
    bool is_whole;     /* never cut to its first rows */
    const char *text;  /* its purpose, without capital and full stop */
    const char *needs; /* the option that fills it; NULL: none */
    int sorted;        /* the column by which it was sorted last, which narrow lines keep; 0 at first */
    bool is_wanted;    /* it will be shown; otherwise it may stay empty */
    struct table_row **rows;
    size_t count, size;
    struct arena arena;
};

/* A table of no analysis. */
/* clang-format off */
#define TABLE(key_, heading_, others_, columns_) \
    {.key = (key_), .heading = (heading_), .others = (others_), .columns = (columns_), \
     .column_count = sizeof(columns_) / sizeof((columns_)[0]), .is_wanted = true, .text = ""}
/* clang-format on */

/* How tables are sorted and printed: the options of print/print_table.h. */
enum table_format { TABLES_TEXT, TABLES_JSON, TABLES_CSV };
struct table_options {
    const char *sort;
    bool reverse, is_wide;
    uint64_t top;    /* rows of each table; 0: all; TABLE_TOP_DEFAULT: not given */
    unsigned format; /* enum table_format */
};
#define TABLE_TOP_DEFAULT UINT64_MAX

/* Adds a row of zeros. */
struct table_row *table_add(struct table *table, const char *name);
/* Sets consecutive cells, one for each value: {.count = 1}, {.text = "a"}. */
#define cells_put(first, ...) \
    memcpy(first, ((const union table_cell[]){__VA_ARGS__}), sizeof((const union table_cell[]){__VA_ARGS__}))
/* Copies TEXT into the table's arena, for a cell. */
const char *table_text(struct table *table, const char *text);
const char *table_format(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sorts by COLUMN, then by name: quantities and durations largest first, everything else smallest first.
 * COLUMN may be TABLE_BY_NAME; TABLE_NO_COLUMN does nothing. */
void table_sort(struct table *table, int column);
/* Sorts by the column that the user named, or by the default one. False: he named one that is not there. */
bool table_sort_as(struct table *table, const struct table_options *options);
/* Returns the default sort column, or TABLE_NO_COLUMN. */
int table_order(const struct table *table);

/* Returns the heading in text, without the unit of a duration: the key in words. "busy_percent" becomes
 * "busy %", "events_per_second" "events/s", "waited_ns" "waited"; a point in time keeps its unit, "at s". */
#define HEADING_BYTES 64u
const char *column_heading(const struct table_column *column, char text[HEADING_BYTES]);
/* Finds a column by its key or its heading in text, with or without a time's unit: "waited_ns", "waited ms",
 * "waited". Returns TABLE_BY_NAME for "name" and for the heading of the names, or TABLE_NO_COLUMN. */
int table_find_column(const struct table *table, const char *called);
/* Adds ROW to SUM, which has the same columns but need not be in the table. */
void table_add_cells(const struct table *table, struct table_row *sum, const struct table_row *row);
union table_cell table_unknown(const struct table_column *column);
bool table_cell_is_known(const struct table_column *column, union table_cell cell);
void table_free(struct table *table);
