/*
 * diff.h - shared declarations of `tarn diff`. A comparison passes through its files in this order:
 *
 *   - diff_options.c: parses the options, and selects tables;
 *   - diff.c:         analyses the traces;
 *   - diff_compare.c: selects columns and compares them, in SQL (analysis/diff.sql);
 *   - diff_print.c:   prints the result.
 *
 * diff_first.c does --first instead.
 */
#pragma once

#include <tools/tarn/analysis/analysis.h>

#define DIFF_RUNS_MAX     32u /* of a side */
#define DIFF_TEXT_TOP     8u
#define DIFF_ANALYSES_MAX 24u
#define DIFF_OPTIONS_MAX  32u
#define DIFF_DEFAULT      "processes,profile,breakdown,syscalls,faults,irq,locks,sched,ipc"

struct run {
    const char *directory;
    const struct diff *diff;
    struct trace trace;
    bool is_open, is_missing;
    struct filter filter;
    struct losses losses;
    struct analysis *analyses[DIFF_ANALYSES_MAX + 1]; /* the last one is stats, which counts events */
    struct symbols *symbols;                          /* NULL: no analysis needs them */
    double unit;
};

/* The divisor of columns that add up. */
enum diff_per {
    PER_WORK,   /* each row's own count of work; without one: CPU time */
    PER_BUSY,   /* CPU time: seconds in which a CPU is busy */
    PER_SECOND, /* seconds of the trace */
    PER_EVENT,  /* the number of events of one type */
    PER_NOTHING
};

/* A column of a table, and its changes. */
struct compared {
    unsigned analysis, table, column;
    int work; /* sums are divided by this column of their row, or by: */
    struct table result;
};
#define WORK_UNIT (-1) /* the run's unit */
#define WORK_ROWS (-2) /* the number of rows of that name: processes of a program */

struct diff {
    struct run *runs[2];
    unsigned run_count[2];
    struct analysis *analyses[DIFF_ANALYSES_MAX + 1]; /* whose tables are wanted; the last is stats */
    unsigned count;                                   /* number of analyses, without stats */
    const char *list, *by, *columns, *unit_event, *symbols;
    enum diff_per per;
    double threshold, least;
    struct table_options output;
    bool is_first; /* --first: compare events, not tables */
    bool only_order;
    struct command_option passed_on[DIFF_OPTIONS_MAX];
    unsigned passed_count;
    struct arena texts; /* of these */
    struct compared *results;
    size_t result_count;
    size_t judged, significant; /* rows of all results, with several runs */
    struct table largest;
};

extern const char *const diff_units[PER_NOTHING + 1]; /* by diff_per; of PER_EVENT NULL */

int run_diff(int argc, char **argv);
/* Parses the options and creates the runs. Returns -1 to go on, or the exit status. */
int diff_parse_options(struct diff *diff, int argc, char **argv);

bool diff_choose_tables(struct diff *diff, struct fail *fail); /* of the analyses */
/* Whether --column names it. */
bool diff_names_column(const struct diff *diff, const struct table *table, int column);
/* Makes `results`, without repeated ones, and `largest`. Free their tables. */
bool diff_compare(struct diff *diff, struct fail *fail);
void diff_print(const struct diff *diff);

/* Opens the run's trace and filter. On failure FAIL says why, and `is_missing` whether the trace could not be
 * opened. */
bool diff_open_run(const struct diff *diff, struct run *run, struct fail *fail);
void diff_close_run(struct run *run);
void diff_tell_losses(const struct run *run, const char *name); /* to stderr */
int diff_first(struct diff *diff);                              /* returns an exit status */

/* "A", or "A1", if the side has several. */
void diff_name_run(const struct diff *diff, unsigned side, unsigned number, char name[16]);
bool diff_has_several(const struct diff *diff); /* runs on a side */
