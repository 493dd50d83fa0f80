/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * options.h - parses the command line of a subcommand, prints --help, and reports mistakes.
 *
 * Options are getopt_long's. Every subcommand has --help (value 'h') and -h. Not thread-safe.
 */
#ifndef TARN_OPTIONS_H
#define TARN_OPTIONS_H

#include <getopt.h>
#include <stdio.h>
#include <tools/tarn/tarn.h>

struct command_line {
    /* the usage after the name, "[OPTION]... DIRECTORY"; one form per line */
    const char *words;
    /* the text of --help below the usage; NULL: call print_help */
    const char *help;
    void (*print_help)(FILE *to, const void *context);
    /* ended by a NULL name */
    const struct option *known;
    /* short options in getopt's form, or "" */
    const char *letters;
    /* allowed number of arguments */
    int least, most;
    /* VALUE is NULL for options without a value. False: FAIL. */
    bool (*take)(void *context, int option, const char *value, struct fail *fail);
};

/* Returns the exit status to leave with, or -1 to continue: argv[optind] is then the first argument. argv[0]
 * is the subcommand's name. */
int take_command_line(const struct command_line *line, void *context, int argc, char **argv);

/* Reports wrong arguments of subcommand NAME; returns EXIT_USAGE. */
int complain_of_words(const struct command_line *line, const char *name, const char *what);

/* False: FAIL. */
bool option_real(const char *value, double least, double most, double *number, struct fail *fail);
bool option_count(const char *value, uint64_t *number, struct fail *fail);
/* Stores WANTED in FORM, which must be 0 or WANTED: the options in CHOICES exclude each other. */
bool option_form(unsigned *form, unsigned wanted, const char *choices, struct fail *fail);

#endif
