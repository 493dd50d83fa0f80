/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/table.h - tables of named rows with columns of numbers, as text, JSON and CSV.
 *
 * For analyses: fill rows, sort, print. The first column is the row's name; the others are declared once.
 * Text shows the first rows and sums up the rest in one, "... and N more".
 */
#ifndef TARN_TABLE_H
#define TARN_TABLE_H

#include <tools/tarn/tarn.h>

#define TABLE_COLUMNS_MAX 10u
#define TABLE_NAME_BYTES  64u

struct table_column {
    const char *heading; /* of text */
    const char *key;     /* of JSON and CSV */
    int8_t decimals;     /* -1: a count */
    bool is_number;      /* names something (a process): no sum, sorted upwards */
};

union table_cell {
    uint64_t count;
    double real;
};

struct table_row {
    char name[TABLE_NAME_BYTES];
    union table_cell cells[TABLE_COLUMNS_MAX];
};

struct table {
    const char *key;     /* of JSON and CSV, and how options call it */
    const char *heading; /* of text, above the names */
    const char *others;  /* what the rows are, for "and N more ..." */
    const struct table_column *columns;
    unsigned column_count;
    struct table_row *rows;
    size_t count, size;
};

/* A new row of zeros. What is in NAME but cannot stand in every format becomes a dot. */
struct table_row *table_add(struct table *table, const char *name);
/* By a column (counts and reals downwards, numbers upwards) and then by name; COLUMN -1: by name. */
void table_sort(struct table *table, int column);
int table_find_column(const struct table *table, const char *key); /* -1: none */
/* Adjoining rows with the same name become one: cells are summed, numbers are those of the first. */
void table_merge_names(struct table *table);
/* TOP: at most so many rows. */
void table_print_text(const struct table *table, uint64_t top);
void table_print_json(const struct table *table, uint64_t top); /* "by_KEY":[{...},...] */
void table_print_csv(const struct table *table, uint64_t top);  /* under a heading of its own */
void table_free(struct table *table);

#endif
