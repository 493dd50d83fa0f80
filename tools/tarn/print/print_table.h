/*
 * print_table.h - tables (table.h) as text, JSON and CSV.
 *
 * Text shows the first rows and the sum of the rest, "... and N more". It cuts long names and texts, and
 * replaces unprintable bytes by dots. JSON and CSV are complete: times in nanoseconds, full precision.
 */
#pragma once

#include <tools/tarn/options.h>
#include <tools/tarn/table.h>

/* Options of struct table_options, for all subcommands that print tables; some begin behind the first ones.
 */
extern const struct command_option table_options[];
enum { TABLE_OPTION_SORT, TABLE_OPTION_REVERSE, TABLE_OPTION_WIDE, TABLE_OPTION_TOP, TABLE_OPTION_JSON };
/* Returns how many rows to print of each table: in text USUAL, unless the user says otherwise. */
uint64_t table_top(const struct table_options *options, uint64_t usual);
/* Returns the width of text: the terminal's, else 100 characters; UINT_MAX with --wide. */
unsigned table_width(const struct table_options *options);

/* TOP: maximum number of rows. WIDTH: of a line, in characters; UINT_MAX: any. Names are cut to NAME_WIDTH
 * before the last columns are left out. */
void table_print_text(FILE *to, const struct table *table, uint64_t top, unsigned width, unsigned name_width);
void table_print_json(FILE *to, const struct table *table, uint64_t top); /* "KEY":[{...},...] */
/* Prints it in the format chosen, JSON as such a member; USUAL as of table_top. */
void table_print(FILE *to, const struct table_options *options, const struct table *table, uint64_t usual);
/* Prints the cells of ROW as members of a JSON object: "events":12,... */
void table_print_members(FILE *to, const struct table *table, const struct table_row *row);
/* Prints TEXT in lines of at most WIDTH. */
void print_paragraph(FILE *to, const char *text, unsigned width);
/* Copies TEXT to COPY, cut to SIZE, with unprintable characters replaced by dots. Returns COPY. */
const char *plain_text(const char *text, char *copy, size_t size);
void print_json_string(FILE *to, const char *text);
void print_csv_string(FILE *to, const char *text); /* in quotes only if it needs them */
