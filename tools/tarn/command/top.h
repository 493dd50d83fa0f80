/*
 * top.h - shared declarations of `tarn top`: top.c handles options, keys and the terminal; top_trace.c the
 * link and the trace, interval by interval; top_routines.c shows counted routines instead.
 */
#pragma once

#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/read/order.h>
#include <tools/tarn/tables/moment.h>
#include <tools/tarn/view/puller.h>

#define PATTERN_BYTES 64u

enum top_sort { SORT_RUNNING, SORT_READY, SORT_SWITCHES, SORT_WAKEUPS, SORT_NAME, SORTS };
extern const char *const top_sorts[SORTS + 1]; /* ended by NULL */

/* The analyses whose tables it shows in part, with rates: counts per second, and times as a percentage of the
 * interval (of one CPU). */
enum { TOP_STATS, TOP_THREADS, TOP_SYSCALLS, TOP_IPC, TOP_LOCKS, TOP_ANALYSES };

struct top;

/* The source of intervals, and their display. */
struct top_ways {
    const char *keys, *end; /* help; the message when there are no more intervals */
    /* Reads the next interval. Returns 1: done; 0: not available yet; -1: there are no more, or FAIL says
     * what went wrong. */
    int (*next)(struct top *top, struct fail *fail);
    /* HEIGHT 0: all that is useful, in the format of --batch: text; JSON, one object per line, or CSV, with
     * counts and times of the interval instead of rates. Else within WIDTH and HEIGHT. */
    void (*print)(FILE *to, const struct top *top, unsigned width, unsigned height);
};
extern const struct top_ways top_of_trace, top_of_routines;

struct top {
    const struct top_ways *ways;
    const char *name, *output;
    double interval, at;         /* seconds; at < 0: not given */
    double batch;                /* number of intervals; -1: a terminal; 0: all */
    struct table_options tables; /* of a batch */
    bool has_routines;           /* --routines */
    bool by_thread, is_source, has_help, asks_pattern, is_paused, is_at_end, is_connecting;
    bool has_broken; /* the link broke: the screen shows what came before */
    bool has_screen; /* there is an interval */
    unsigned sort;   /* enum top_sort */
    double came;     /* now_seconds() when the trace last grew, to END */
    uint64_t end;
    char state[64];              /* shown first, such as "(paused) " */
    char pattern[PATTERN_BYTES]; /* matches names of processes or threads; "": all */
    char input[PATTERN_BYTES], asks[PATTERN_BYTES + 64];
    const char *line; /* below the first line, entries separated by two blanks; NULL: none */
    /* the pull of a trace */
    struct puller puller;
    FILE *log;        /* its messages while the screen is in use; NULL: standard error */
    double old_until; /* now_seconds() until which data is from before the pull; 0: no data yet; -1: past */
    /* the trace, and how far it was read; it may grow meanwhile */
    struct trace trace;
    bool is_open;
    uint64_t from;              /* ticks: start of the next interval */
    struct position *positions; /* by rank */
    struct buffer model;        /* empty: nothing was read */
    struct names names;
    /* an interval */
    struct analysis *analyses[TOP_ANALYSES];
    struct losses losses, all; /* of the interval; of all time */
    double behind;             /* seconds that it lags behind the source; < 0: the source does not grow */
    /* of routines: the moments at its ends */
    double due; /* now_seconds() when the source is read again; 0: now */
    struct routines now, before;
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
/* Reports losses, damage and a broken link; returns the exit status. */
int top_status(struct top *top);
void top_close(struct top *top);
