/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/gen/parse.h - what the parser's files share: the position in a file, words, errors. */
#ifndef TRACE_GEN_PARSE_H
#define TRACE_GEN_PARSE_H

#include "model.h"

/* The position: one file, one line, a cursor in it. */
struct reader {
    const char *file;
    unsigned line;
    char *at;
    char *next_line;
    bool app;
    const struct enum_source *sources;
    unsigned source_count;
    struct class *class;
    struct event *event; /* its fields are being read; or NULL */
    struct schema *schema;
    struct table *table; /* its columns are being read; or NULL */
};

/* Prints file, line and message, and exits. */
__attribute__((noreturn, format(printf, 3, 4))) void refuse(const char *file, unsigned line,
                                                            const char *format, ...);
#define REFUSE(reader, ...) refuse((reader)->file, (reader)->line, __VA_ARGS__)

/* Each reads what it names from the line, or refuses; `what` is for the message. */
void skip_space(struct reader *r);
bool at_end(struct reader *r); /* of the line, comments skipped */
void expect_end(struct reader *r);
char *take_word(struct reader *r, const char *what);
char *take_name(struct reader *r, const char *what); /* does not begin with '_' */
uint64_t take_number(struct reader *r, const char *what);
char *take_quoted(struct reader *r, const char *what);
/* Refuses words of C and of the metadata language. */
void check_name(struct reader *r, const char *name);

/* parse_table.c: `table` was read; the first word of a line of a table was read; the table has ended, if
 * there is one. */
void read_table(struct reader *r);
void read_column(struct reader *r, const char *word);
void finish_table(struct reader *r);

#endif
