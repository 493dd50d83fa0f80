/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/command/diff.h - what the files of `tarn diff` share. A comparison goes through them in turn:
 * what is asked for (diff_options.c), both traces asked (diff.c), tables joined (diff_tables.c), shown
 * (diff_print.c).
 */
#ifndef TARN_DIFF_H
#define TARN_DIFF_H

#include <tools/tarn/answer/compare.h>

#define DIFF_TEXT_TOP    8u
#define DIFF_ANSWERS_MAX 24u
#define DIFF_OPTIONS_MAX 96u
#define DIFF_USUAL       "breakdown,processes,syscalls,faults,irq,locks,sched,ipc,profile"

struct side {
    const char *directory;
    struct trace trace;
    bool is_open, is_missing;
    struct filter filter;
    struct losses losses;
    struct answer *answers[DIFF_ANSWERS_MAX + 1]; /* and stats, which counts events */
    struct symbols *symbols;                      /* NULL: no answer uses them */
    double unit;
};

struct diff {
    struct side sides[2];
    unsigned count; /* of answers */
    const char *by, *columns, *unit_event, *symbols;
    bool is_absolute;
    double threshold, least;
    enum answer_format format;
    uint64_t top; /* 0: all */
    bool has_top;
    struct option known[DIFF_OPTIONS_MAX];
    unsigned known_count;
    struct table *results;
    size_t result_count;
    struct table largest;
};

/* Returns an exit status to leave with, or -1 to go on. */
int diff_parse_options(struct diff *diff, int argc, char **argv);

bool diff_choose_tables(struct diff *diff, struct fail *fail); /* of the answers */
void diff_compare(struct diff *diff);                          /* fills results and largest */
void diff_print(const struct diff *diff);

/* Is NAME one of the words, with commas between them? */
bool diff_list_names(const char *list, const char *name);

#endif
