/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/command/top.h - what the files of `tarn top` share: the trace and the link that it comes over,
 * interval after interval (top_trace.c), and what is asked for and shown (top.c).
 */
#ifndef TARN_TOP_H
#define TARN_TOP_H

#include <stdio.h>
#include <tools/tarn/top/interval.h>
#include <tools/tarn/top/screen.h>
#include <tools/tarn/view/puller.h>

#define PATTERN_BYTES 64u

struct top {
    const char *name, *output;
    double interval, at;       /* seconds; at < 0: not given */
    long batch;                /* -1: a terminal; 0: to the end */
    enum answer_format format; /* of a batch */
    uint64_t rows;             /* of its tables; 0: all */
    struct puller puller;
    bool is_source, has_help, asks_pattern, is_paused, is_at_end, is_connecting;
    bool has_broken; /* the link: what is shown is what came before */
    FILE *log;       /* what the pull says while the screen is ours; NULL: standard error */
    double came;     /* now_seconds: when the trace last grew, to END */
    uint64_t end;
    char state[64];
    double old_until; /* now_seconds: up to then what comes is old; 0: nothing has come */
    char pattern[PATTERN_BYTES], input[PATTERN_BYTES], line[PATTERN_BYTES + 64];
    struct trace trace;
    bool is_open;
    struct intervals intervals;
    struct screen screen;
    bool has_screen;
};

/* Starts to pull from the source. */
bool top_launch(struct top *top, struct fail *fail);
/* Goes to where the first interval begins, in a trace that is there. */
bool top_begin(struct top *top, struct fail *fail);
/* That, once something has come from the source; the screen is there meanwhile. */
bool top_connect(struct top *top, struct fail *fail);
bool top_is_live(struct top *top);
/* Whether the link is gone: the pull ended, and not because the trace had. */
bool top_link_broke(struct top *top);
/* Looks for a guest on a link that broke. What it sends is another trace, in a directory of its own. */
bool top_try_again(struct top *top, struct fail *fail);
/* The next interval, when it is there: 1; 0: not yet; -1: there will be none, or FAIL says why. */
int top_next(struct top *top, struct fail *fail);
/* What to end with; tells of losses, damage, and a link that is gone. */
int top_status(struct top *top);
void top_close(struct top *top);

#endif
