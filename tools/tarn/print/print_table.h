/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/print/print_table.h - tables (table.h) as text, JSON and CSV.
 *
 * Text shows the first rows and sums up the rest in one, "... and N more"; names and texts that are too long
 * are cut there, and bytes that a terminal does not show become dots. JSON and CSV give everything as it is:
 * times in nanoseconds, numbers in full.
 */
#ifndef TARN_PRINT_TABLE_H
#define TARN_PRINT_TABLE_H

#include <stdio.h>
#include <tools/tarn/table.h>

struct table_limits {
    unsigned width;           /* of a line, characters */
    unsigned name_width;      /* to which names are cut before a column is left out */
    const char *const *drops; /* keys of columns, the least important first; ends with NULL */
};

/* TOP: at most so many rows. */
void table_print_text(FILE *to, const struct table *table, uint64_t top);
/* The same in lines of a limited width: names are cut, then columns left out until it fits. */
void table_print_text_within(FILE *to, const struct table *table, uint64_t top,
                             const struct table_limits *limits);
void table_print_json(FILE *to, const struct table *table, uint64_t top); /* "KEY":[{...},...] */
void table_print_csv(FILE *to, const struct table *table, uint64_t top);  /* under a heading of its own */
/* The cells of ROW as members of a JSON object: "events":12,... */
void table_print_members(FILE *to, const struct table *table, const struct table_row *row);
/* ... and as a sentence: 12 events, 3.4 ms busy */
void table_print_sentence(FILE *to, const struct table *table, const struct table_row *row);
/* A copy of TEXT, cut to SIZE, in which what a terminal does not show is a dot. Returns COPY. */
const char *plain_text(const char *text, char *copy, size_t size);
void print_json_string(FILE *to, const char *text);

#endif
