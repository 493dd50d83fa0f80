/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/view/lanes.h - what is drawn of a range: for each processor who runs, for each thread what it
 * does.
 *
 * A range of not too many events is walked, and every box is where it belongs; boxes narrower than a pixel
 * become one with their neighbours. A longer one comes from the index: shares of time for each pixel. So what
 * comes back, and the time that it takes, are bounded by the number of lanes and pixels.
 */
#ifndef TARN_LANES_H
#define TARN_LANES_H

#include <tools/tarn/view/view.h>

#define LANES_WIDTH_MAX 8192u
#define LANES_MAX       1024u   /* that can be asked for at once */
#define LANES_EXACT     400000u /* events that are walked to draw a range exactly */
#define LANES_NOBODY    UINT32_MAX

/* What lanes are made of. Times are ticks. */
struct lane_box {
    uint64_t begin, end;
    uint32_t what;   /* processor: thread; thread: enum model_state; frame: depth */
    uint32_t kind;   /* processor and frame: enum activity, or ACTIVITIES for none; thread: whom it waits for
                      * or the processor it runs on, or LANES_NOBODY */
    uint32_t detail; /* of the activity; processor without one: 1 while it sleeps */
    uint32_t
        merged; /* 1, or how many boxes it stands for; then the others are those of the longest of them */
};

/* So many pixels alike. Shares are percents of their time. */
struct lane_run {
    uint32_t pixels;
    uint32_t what; /* processor: the thread that runs longest, or LANES_NOBODY; thread: enum model_state, that
                    * of what the shares leave, or MODEL_STATES for absent */
    uint8_t shares[4]; /* processor: enum cpu_kind; thread: NODE_USER to NODE_READY */
};

struct lane {
    uint32_t number; /* rank, or thread */
    /* exact */
    struct buffer boxes, frames; /* struct lane_box */
    /* not exact */
    struct buffer runs; /* struct lane_run */
};

enum arrow_kind { ARROW_WAKEUP, ARROW_HANDOVER, ARROW_CALL, ARROW_REPLY };

struct lane_arrow {
    uint64_t begin, end; /* ticks; of a wake-up the same */
    uint32_t from, to;   /* threads; from may be LANES_NOBODY */
    enum arrow_kind kind;
};

/* A wait for a lock or an event, as lock_contended told at its end. */
struct lane_wait {
    uint64_t begin, end; /* ticks */
    uint64_t lock;       /* address */
    uint32_t lock_class, thread;
    uint32_t pid;    /* whose it is; 0: the kernel's */
    uint32_t holder; /* thread, or LANES_NOBODY */
    char name[36];   /* as its program calls it; empty: not told */
};

struct lanes {
    uint64_t from, to; /* ticks */
    uint32_t width;    /* pixels */
    bool is_exact;
    struct lane *cpus, *threads;
    uint32_t cpu_count, thread_count;
    struct buffer arrows, waits; /* exact only */
    uint32_t arrow_most;
    uint64_t arrows_dropped, waits_dropped;
};

/* FROM, TO, WIDTH, ARROW_MOST and the numbers of the lanes are set (lanes_ask does). False: FAIL says why. */
bool lanes_find(struct lanes *lanes, const struct view *view, struct fail *fail);
void lanes_ask(struct lanes *lanes, const struct view *view, const bool *cpus, const bool *threads);
void lanes_free(struct lanes *lanes);

/* The two ways. */
bool lanes_walk(struct lanes *lanes, const struct view *view, struct fail *fail);
bool lanes_sum(struct lanes *lanes, const struct view *view, struct fail *fail);

/* The lane of each thread by number, or UINT32_MAX; COUNT numbers. The caller frees it. */
uint32_t *lanes_places(const struct lanes *lanes, uint32_t count);

static inline size_t lane_count(const struct buffer *buffer, size_t size)
{
    return buffer->used / size;
}

#endif
