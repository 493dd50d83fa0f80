/*
 * lanes.h - the lanes of a range: for each CPU the running thread, for each thread its state and
 * activities.
 *
 * A range with few events is walked, and every box is exact, except that boxes narrower than a pixel are
 * merged. A longer one comes from the index: a box is about a pixel, or several with the same shares of time.
 */
#pragma once

#include <tools/tarn/view/view.h>

#define LANES_WIDTH_MAX 8192u
#define LANES_MAX       1024u   /* per request */
#define LANES_EXACT     400000u /* events in a range that is drawn exactly */
#define LANES_NOBODY    UINT32_MAX

/* An element of a lane. Times are in ticks. */
struct lane_box {
    uint64_t begin, end;
    /* CPU: thread; thread: enum model_state; call: depth. Of shares: the thread that runs longest, or
     * LANES_NOBODY; the state of the time not in them, or MODEL_STATES: absent */
    uint32_t what;
    /* CPU and call: enum activity, ACTIVITIES: none; thread: the
     * thread it waits for or the CPU it runs on, or LANES_NOBODY */
    uint32_t kind;
    uint32_t detail; /* of the activity; CPU without one: 1 while it sleeps */
    union {
        /* exact: 1, or the number of boxes merged; the other fields are then those of the longest of them */
        uint32_t merged;
        /* else: percentages of the time. CPU: enum cpu_kind; thread: NODE_USER to NODE_READY */
        uint8_t shares[4];
    };
};

/* Marked events of one type in the same pixels. */
struct lane_flag {
    uint64_t at; /* of the first one; ticks */
    uint32_t type, count;
};

/*
 * A row of boxes in order of time. Adjacent boxes with the same content become one. Boxes narrower than a
 * pixel are collected until they fill one, and then become a box of the kind that has most of the time.
 */
#define BOXES_KINDS 8u /* that compete for a pixel */

struct boxes {
    struct buffer out;            /* struct lane_box */
    struct lane_box last;         /* may still grow; merged is 0: none */
    struct lane_box narrow_boxes; /* the collected small boxes: begin, end and number; merged is 0: none */
    struct {
        struct lane_box box;
        uint64_t ticks;
    } kinds[BOXES_KINDS]; /* the kinds in `narrow_boxes` */
    uint32_t kind_count;
};

/* BOX must not begin before the end of the last one. PIXEL: its ticks. */
void boxes_add(struct boxes *boxes, const struct lane_box *box, uint64_t pixel);
void boxes_close(struct boxes *boxes, uint64_t pixel);

struct lane {
    uint32_t number; /* rank, or thread */
    bool is_cpu;
    struct boxes rows[1 + MODEL_DEPTH_MAX]; /* states, or what a CPU does; if exact, then calls by depth */
    uint32_t depth;                         /* of its calls */
    struct buffer flags;                    /* struct lane_flag; if exact */
    uint64_t arrow;                         /* if exact: time of the last arrow that ends here */
    uint32_t y, height;                     /* set by the picture; height 0: there is no space */
    uint8_t state; /* of a thread, enum node_kind, at the end of its last box; if not exact */
};

enum arrow_kind { ARROW_WAKEUP, ARROW_HANDOVER, ARROW_CALL, ARROW_REPLY, ARROW_KINDS };

struct lane_arrow {
    uint64_t begin, end; /* ticks; equal for a wake-up */
    uint32_t from, to;   /* threads; from may be LANES_NOBODY */
    enum arrow_kind kind;
};

/* A wait for a lock or an event, from lock_contended at its end. */
struct lane_wait {
    uint64_t begin, end; /* ticks */
    uint64_t lock;       /* address */
    uint32_t lock_class, thread;
    uint32_t pid;    /* of its process; 0: the kernel's */
    uint32_t holder; /* thread, or LANES_NOBODY */
    char name[36];   /* given by its program; empty: unknown */
};

struct lanes {
    uint64_t from, to; /* ticks */
    uint32_t width;    /* pixels */
    bool is_exact;
    struct lane *all; /* the lanes: of CPUs, then of threads */
    uint32_t count, cpu_count, thread_count, type_count;
    struct lane **cpus, **threads; /* by rank and by number; NULL: it has no lane */
    struct buffer arrows, waits;   /* only if is_exact */
    double **counts; /* by event type: events in each pixel, of marked ones, which have flags; others: NULL */
};

/* CPUs with a stream, then those without. */
static inline uint32_t lanes_cpu_count(const struct view *view)
{
    return view->trace.stream_count + view->trace.missing_count;
}
uint32_t lanes_cpu(const struct view *view, uint32_t rank); /* the number of the CPU */

/* Fills the lanes. FROM, TO, WIDTH and the numbers of the lanes are set (lanes_ask). */
void lanes_find(struct lanes *lanes, const struct view *view);
/* MARKED: by event type. */
void lanes_ask(struct lanes *lanes, const struct view *view, const bool *cpus /* NULL: all */,
               const bool *threads, const bool *marked /* NULL: none */);
void lanes_free(struct lanes *lanes);

/* The two implementations. */
void lanes_walk(struct lanes *lanes, const struct view *view);
void lanes_sum(struct lanes *lanes, const struct view *view);
/* Counts events, evenly distributed over a time, if their type is marked. */
void lanes_count(struct lanes *lanes, uint32_t type, uint64_t begin, uint64_t end, uint64_t events);
