/*
 * screen.h - what `tarn top` shows of an interval: lines of text that fit a screen.
 *
 * It shows parts of the analyses' tables as rates: counts per second, and times as a percentage of the
 * interval (of one CPU).
 */
#pragma once

#include <tools/tarn/analysis/analysis.h>

enum screen_sort { SORT_RUNNING, SORT_READY, SORT_SWITCHES, SORT_WAKEUPS, SORT_NAME, SORTS };
extern const char *const screen_sorts[SORTS + 1]; /* ended by NULL */

/* The analyses that it uses. */
enum { SCREEN_STATS, SCREEN_THREADS, SCREEN_SYSCALLS, SCREEN_IPC, SCREEN_LOCKS, SCREEN_ANALYSES };
extern const char *const screen_analyses[SCREEN_ANALYSES];

struct screen {
    const char *source;
    struct analysis *analyses[SCREEN_ANALYSES];
    struct losses losses, all; /* of the interval; of all time */
    double behind;             /* seconds that it lags behind the source; < 0: the source does not grow */
    bool by_thread;
    const char *state; /* shown first, such as "(paused) " */
    enum screen_sort sort;
    const char *pattern; /* matches names of processes or threads; "": all */
    const char *line;    /* below the first line, entries separated by two blanks; NULL: none */
};

/* Marks the tables that it needs. */
bool screen_choose(struct analysis *const analyses[SCREEN_ANALYSES], struct fail *fail);
/* HEIGHT 0: no screen, print all that is useful. */
void screen_print(FILE *to, const struct screen *screen, unsigned width, unsigned height);
/* Writes JSON, one object per line, or CSV: the analyses' tables with counts and times of the interval
 * instead of rates. */
void screen_write(FILE *to, const struct screen *screen, const struct table_options *output);
