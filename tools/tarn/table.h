/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/table.h - tables: named rows with typed columns. What answers are made of.
 *
 * An analysis fills rows and sorts them; print/print_table.h shows them as text, JSON and CSV, `tarn diff`
 * compares two. The first column is the row's name; the others are declared once. Rows stay where they are
 * until table_free, whatever is added or sorted.
 */
#ifndef TARN_TABLE_H
#define TARN_TABLE_H

#include <tools/tarn/tarn.h>

#define TABLE_COLUMNS_MAX 32u

enum column_kind {
    COLUMN_COUNT,  /* count; adds up */
    COLUMN_REAL,   /* real; adds up */
    COLUMN_TIME,   /* count: nanoseconds; adds up */
    COLUMN_BAR,    /* count; text draws it, the other formats leave it out */
    COLUMN_NUMBER, /* count that names something (a process) */
    COLUMN_SIGNED, /* number: a result, an exit status */
    COLUMN_CHANGE, /* number: nanoseconds more, or less; adds up */
    COLUMN_HEX,    /* count: an address */
    COLUMN_WHEN,   /* count: nanoseconds since the trace's begin */
    COLUMN_TEXT,   /* text */
};

/* What stands in a sum of rows. */
enum column_sum { SUM_NOTHING, SUM_ADDED, SUM_LARGEST, SUM_SMALLEST };

struct table_column {
    const char *key;     /* of JSON and CSV; a time's ends in _ns */
    const char *heading; /* of text; NULL: what column_heading makes of the key; empty: not there */
    enum column_kind kind;
    enum column_sum sum;
    uint8_t decimals; /* of COLUMN_REAL in text */
    bool is_key;      /* of COLUMN_TEXT: belongs to the row's name, where traces are compared */
};

/* Elements of an array of columns. */
/* clang-format off */
#define COLUMN_CALLED(heading_, key_, kind_, sum_, decimals_) \
    {.key = (key_), .heading = (heading_), .kind = (kind_), .sum = (sum_), .decimals = (decimals_)}
#define COLUMN_AS(key, kind, sum, decimals) COLUMN_CALLED(NULL, key, kind, sum, decimals)
#define COUNT_COLUMN(key)                   COLUMN_AS(key, COLUMN_COUNT, SUM_ADDED, 0)
#define REAL_COLUMN(key, decimals)          COLUMN_AS(key, COLUMN_REAL, SUM_ADDED, decimals)
#define MEAN_COLUMN(key, decimals)          COLUMN_AS(key, COLUMN_REAL, SUM_NOTHING, decimals)
#define TIME_COLUMN(key)                    COLUMN_AS(key, COLUMN_TIME, SUM_ADDED, 0)
#define TIME_OF_ONE(key)                    COLUMN_AS(key, COLUMN_TIME, SUM_NOTHING, 0) /* a mean, ... */
#define TIME_LARGEST(key)                   COLUMN_AS(key, COLUMN_TIME, SUM_LARGEST, 0)
#define TIME_SMALLEST(key)                  COLUMN_AS(key, COLUMN_TIME, SUM_SMALLEST, 0)
#define BAR_COLUMN                          COLUMN_CALLED("", "", COLUMN_BAR, SUM_NOTHING, 0)
#define NUMBER_COLUMN(key)                  COLUMN_AS(key, COLUMN_NUMBER, SUM_NOTHING, 0)
#define SIGNED_COLUMN(key)                  COLUMN_AS(key, COLUMN_SIGNED, SUM_NOTHING, 0)
#define HEX_COLUMN(key)                     COLUMN_AS(key, COLUMN_HEX, SUM_NOTHING, 0)
#define WHEN_COLUMN(key)                    COLUMN_AS(key, COLUMN_WHEN, SUM_NOTHING, 0)
#define TEXT_COLUMN(key)                    COLUMN_AS(key, COLUMN_TEXT, SUM_NOTHING, 0)
#define TEXT_KEY(key_)                      {.key = (key_), .kind = COLUMN_TEXT, .is_key = true}

/* clang-format on */

union table_cell {
    uint64_t count;
    int64_t number;
    double real;
    const char *text; /* NULL: none */
};

/* A cell of a column that is neither text nor real, which is not known: null in JSON, empty in CSV and text.
 * (Of reals: NAN.) */
#define TABLE_NONE INT64_MAX

struct table_row {
    const char *name;
    uint64_t key;    /* tells rows of one name apart; see table_row */
    uint32_t indent; /* of the name, in text, as long as the rows stand as they were filled: a tree */
    union table_cell cells[];
};

#define TABLE_BY_NAME   (-1)
#define TABLE_AS_FILLED (-2)

struct table {
    const char *key;     /* of JSON and CSV, and how --by calls it */
    const char *heading; /* of text, above the names */
    const char *others;  /* what the rows are, for "and N more ..." */
    const struct table_column *columns;
    unsigned column_count;
    int order;         /* the column by which it is sorted unless asked otherwise, or TABLE_BY_NAME, ... */
    bool is_extra;     /* shown only where --by asks for it */
    bool is_whole;     /* of no use if only its first rows are shown */
    const char *needs; /* the option without which it has nothing; NULL: none */
    bool is_wanted;    /* will be shown; one that is not may stay empty */
    struct table_row **rows;
    size_t count, size;
    struct table_row **places; /* hash table of those that table_row found or added; never full */
    size_t place_count, placed;
    struct arena arena;
};

/* For declarations of tables whose columns are an array. */
/* clang-format off */
#define TABLE_AS(key_, heading_, others_, columns_, order_, is_extra_, is_whole_)                    \
    {.key = (key_), .heading = (heading_), .others = (others_), .columns = (columns_),               \
     .column_count = sizeof(columns_) / sizeof((columns_)[0]), .order = (order_),                    \
     .is_extra = (is_extra_), .is_whole = (is_whole_), .is_wanted = !(is_extra_)}
/* One that is empty unless the option NEEDS is given. */
#define TABLE_OF_OPTION(needs_, key_, heading_, others_, columns_, order_, is_whole_)            \
    {.key = (key_), .heading = (heading_), .others = (others_), .columns = (columns_),           \
     .column_count = sizeof(columns_) / sizeof((columns_)[0]), .order = (order_),                \
     .is_extra = true, .is_whole = (is_whole_), .needs = (needs_)}
#define TABLE(key, heading, others, columns, order) \
    TABLE_AS(key, heading, others, columns, order, false, false)
#define TABLE_EXTRA(key, heading, others, columns, order) \
    TABLE_AS(key, heading, others, columns, order, true, false)

/* clang-format on */

/* A new row of zeros. */
struct table_row *table_add(struct table *table, const char *name);
/* The row of KEY and NAME, made if it is not there. */
struct table_row *table_row(struct table *table, uint64_t key, const char *name);
/* One that table_row made; NULL: it is not there. */
const struct table_row *table_find(const struct table *table, uint64_t key, const char *name);
/* A copy of TEXT, for a cell. */
const char *table_text(struct table *table, const char *text);
const char *table_format(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* By a column and then by name: what can be summed and times when something was from the largest, names from
 * the smallest. COLUMN may be TABLE_BY_NAME, and TABLE_AS_FILLED changes nothing. */
void table_sort(struct table *table, int column);
void table_reverse(struct table *table);

/* What text writes above a column, without the unit of a time: the key in words. "busy_percent" is "busy %",
 * "events_per_second" is "events/s", "waited_ns" is "waited"; of a moment with its unit, "at s". */
#define HEADING_BYTES 64u
const char *column_heading(const struct table_column *column, char text[HEADING_BYTES]);
/* By the key, or as text calls it, with the unit of a time or without: "waited_ns", "waited ms", "waited".
 * "name", and the heading above the names: TABLE_BY_NAME. -3: none. */
int table_find_column(const struct table *table, const char *called);
/* Makes ROW the sum of no rows: zero, or not known where a sum is not an addition. */
void table_clear_cells(const struct table *table, struct table_row *row);
/* Adds ROW to SUM: a row of the same table, or one of its columns that it does not hold. */
void table_add_cells(const struct table *table, struct table_row *sum, const struct table_row *row);
/* Has the cell a value? */
bool table_cell_is_known(const struct table_column *column, union table_cell cell);
void table_free(struct table *table);

#endif
