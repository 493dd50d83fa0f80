/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/command/diff.h - what the files of `tarn diff` share. A comparison goes through them in turn:
 * what is asked for (diff_options.c), both traces asked (diff.c), tables joined (diff_tables.c), shown
 * (diff_print.c). With --first it goes another way: diff_first.h.
 */
#ifndef TARN_DIFF_H
#define TARN_DIFF_H

#include <tools/tarn/answer/compare.h>

#define DIFF_TEXT_TOP     8u
#define DIFF_ANSWERS_MAX  24u
#define DIFF_OPTIONS_MAX  96u
#define DIFF_CONTEXT      5u
#define DIFF_SETTINGS_MAX 64u
#define DIFF_USUAL        "processes,profile,breakdown,syscalls,faults,irq,locks,sched,ipc"

struct run {
    const char *directory;
    struct trace trace;
    bool is_open, is_missing;
    struct filter filter;
    struct losses losses;
    struct answer *answers[DIFF_ANSWERS_MAX + 1]; /* and stats, which counts events */
    struct symbols *symbols;                      /* NULL: no answer uses them */
    double unit;
};

/* What is divided by, unless it does not add up. */
enum diff_per {
    PER_WORK,   /* of each row its own count of work; where there is none, processor time */
    PER_BUSY,   /* processor time: seconds in which a processor runs something */
    PER_SECOND, /* of the trace */
    PER_EVENT,  /* of a kind */
    PER_NOTHING
};

/* An option that every run of both sides gets. */
struct setting {
    const char *name; /* of an answer's option; NULL: of the filter */
    int option;
    const char *value;
};

struct diff {
    struct run *runs[2];
    unsigned run_count[2];
    struct answer *answers[DIFF_ANSWERS_MAX + 1]; /* what each run is asked */
    unsigned count;                               /* of answers, without stats */
    struct setting settings[DIFF_SETTINGS_MAX];
    unsigned setting_count;
    const char *by, *columns, *unit_event, *symbols;
    enum diff_per per;
    double threshold, least;
    enum answer_format format;
    uint64_t top; /* 0: all */
    bool has_top;
    bool is_first; /* --first: tables are not compared */
    uint64_t context;
    const char *option_of_tables, *option_of_first; /* the last of each that was given; NULL: none */
    struct option known[DIFF_OPTIONS_MAX];
    unsigned known_count;
    struct table *results;
    size_t result_count;
    size_t judged, significant; /* rows of all results, if there are several runs */
    struct table largest;
};

/* Makes the runs. Returns an exit status to leave with, or -1 to go on. */
int diff_parse_options(struct diff *diff, int argc, char **argv);

bool diff_choose_tables(struct diff *diff, struct fail *fail); /* of the answers */
void diff_compare(struct diff *diff);                          /* fills results and largest */
void diff_print(const struct diff *diff);

/* Opens its trace and filter. False: FAIL says why, and `is_missing` whether it could not be opened. */
bool diff_open_run(const struct diff *diff, struct run *run, struct fail *fail);
void diff_tell_losses(const struct run *run, const char *name); /* to stderr */
int diff_first(struct diff *diff);                              /* returns an exit status */

bool diff_has_several(const struct diff *diff); /* runs on a side */

/* Is NAME one of the words, with commas between them? */
bool diff_list_names(const char *list, const char *name);

#endif
