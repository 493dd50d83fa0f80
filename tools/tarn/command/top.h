/*
 * top.h - shared declarations of `tarn top`: top.c handles options, keys and output; top_trace.c the link and
 * the trace, interval by interval; top_routines.c shows counted routines instead.
 */
#pragma once

#include <stdio.h>
#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/buffer.h>
#include <tools/tarn/read/order.h>
#include <tools/tarn/top/screen.h>
#include <tools/tarn/view/puller.h>

#define PATTERN_BYTES 64u

struct top;
struct moments;

/* The source of intervals, and their display. */
struct top_ways {
    const char *keys, *end; /* help; the message when there are no more intervals */
    /* Reads the next interval. Returns 1: done; 0: not available yet; -1: there are no more, or FAIL says
     * what went wrong. */
    int (*next)(struct top *top, struct fail *fail);
    /* HEIGHT 0: as text, else within WIDTH and HEIGHT. */
    void (*print)(FILE *to, const struct top *top, unsigned width, unsigned height);
    void (*write)(FILE *to, const struct top *top); /* JSON or CSV */
    int (*status)(struct top *top); /* reports losses, damage and a broken link; returns the exit status */
};

/* How far the trace was read; it may grow meanwhile. */
struct intervals {
    uint64_t from;              /* ticks: start of the next interval */
    struct position *positions; /* by rank */
    struct buffer model;        /* empty: nothing was read */
    struct names names;
};

struct top {
    const struct top_ways *ways;
    struct moments *moments; /* top_routines.c */
    const char *name, *output;
    double interval, at;         /* seconds; at < 0: not given */
    double batch;                /* number of intervals; -1: a terminal; 0: all */
    struct table_options tables; /* of a batch */
    struct puller puller;
    bool has_routines; /* --routines */
    bool is_source, has_help, asks_pattern, is_paused, is_at_end, is_connecting;
    bool has_broken; /* the link broke: the screen shows what came before */
    FILE *log;       /* the pull's messages while the screen is in use; NULL: standard error */
    double came;     /* now_seconds() when the trace last grew, to END */
    uint64_t end;
    char state[64];
    double old_until; /* now_seconds() until which data is from before the pull; 0: no data yet; -1: past */
    char pattern[PATTERN_BYTES], input[PATTERN_BYTES], line[PATTERN_BYTES + 64];
    struct trace trace;
    bool is_open;
    struct intervals intervals;
    struct screen screen;
    bool has_screen;
};

/* Starts the pull. */
bool top_launch(struct top *top, struct fail *fail);
/* Opens the trace and goes to the start of the first interval. */
bool top_begin(struct top *top, struct fail *fail);
/* Calls top_begin once data has arrived from the source. */
bool top_connect(struct top *top, struct fail *fail);
bool top_is_live(struct top *top);
/* Returns whether the link broke: the pull ended before the trace did. */
bool top_link_broke(struct top *top);
/* Tries to connect again after the link broke. The guest then sends a new trace, into a new directory. */
bool top_try_again(struct top *top, struct fail *fail);
int top_next(struct top *top, struct fail *fail);
int top_status(struct top *top);
void top_close(struct top *top);

/* The same for `tarn top --routines`. */
void top_begin_routines(struct top *top);
void top_close_routines(struct top *top);
