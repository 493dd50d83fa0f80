/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/top/screen.h - what `tarn top` shows of an interval: lines of text that fit a screen.
 *
 * Parts of the answers' tables, as rates: what is counted is by second, times are percent of the interval (so
 * of one processor).
 */
#ifndef TARN_SCREEN_H
#define TARN_SCREEN_H

#include <tools/tarn/answer/answer.h>

enum screen_sort { SORT_RUNNING, SORT_READY, SORT_SWITCHES, SORT_WAKEUPS, SORT_NAME, SORTS };
extern const char *const screen_sorts[SORTS];

/* The answers that it needs; NULL where there is none of the kind. */
enum { SCREEN_STATS, SCREEN_THREADS, SCREEN_SYSCALLS, SCREEN_IPC, SCREEN_LOCKS, SCREEN_ANSWERS };
extern const char *const screen_answers[SCREEN_ANSWERS];

struct screen {
    const char *source;
    struct answer *answers[SCREEN_ANSWERS];
    struct losses losses, all; /* of the interval; since the beginning */
    double behind;             /* seconds that the source is ahead; < 0: it does not grow */
    bool by_thread;
    const char *state; /* stands first, as "paused"; NULL: nothing */
    enum screen_sort sort;
    const char *pattern; /* of names of processes or threads; "": all */
    const char *line;    /* below the first line, entries with two blanks between them; NULL: none */
};

/* Which tables of the answers are needed. */
bool screen_choose(struct answer *const answers[SCREEN_ANSWERS], struct fail *fail);
/* HEIGHT 0: as much as is of use. */
void screen_print(FILE *to, const struct screen *screen, unsigned width, unsigned height);
/* As JSON, an object on a line, or CSV: the answers' tables as they are, counts and times of the interval, no
 * rates. At most TOP rows of each. */
void screen_write(FILE *to, const struct screen *screen, enum answer_format format, uint64_t top);

#endif
