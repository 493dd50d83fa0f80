/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/options.h - the command line of a subcommand: its options, --help, and what to say of mistakes.
 *
 * Options are getopt_long's. One with the value 'h' is --help, which all have, also as -h. Not for two
 * threads at a time.
 */
#ifndef TARN_OPTIONS_H
#define TARN_OPTIONS_H

#include <getopt.h>
#include <stdio.h>
#include <tools/tarn/tarn.h>

struct command_line {
    const char *words; /* after the name: "[OPTION]... DIRECTORY"; one form on each line */
    const char *help;  /* what --help says below; NULL: */
    void (*print_help)(FILE *to, const void *context); /* ... this does */
    const struct option *known;                        /* ended by one without name */
    const char *letters;                               /* those that have one, as getopt has it, or "" */
    int least, most;                                   /* words that are no options */
    /* VALUE is NULL where the option takes none. False: FAIL says what is wanted. */
    bool (*take)(void *context, int option, const char *value, struct fail *fail);
};

/* Returns an exit status to leave with, all said; or -1 to go on: argv[optind] is the first word that is no
 * option. argv[0] is the subcommand's name. */
int take_command_line(const struct command_line *line, void *context, int argc, char **argv);

/* Says that the subcommand NAME needs other words; returns EXIT_USAGE. */
int complain_of_words(const struct command_line *line, const char *name, const char *what);

/* Values. False: FAIL says what is wanted. */
bool option_real(const char *value, double least, double most, double *number, struct fail *fail);
bool option_count(const char *value, uint64_t *number, struct fail *fail);
/* One of several options, CHOICES, of which one is wanted: takes it into FORM, which is 0 before. */
bool option_form(unsigned *form, unsigned wanted, const char *choices, struct fail *fail);

#endif
