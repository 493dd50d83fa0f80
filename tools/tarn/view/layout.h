/* layout.h - the rows of the timeline: CPUs, then pinned threads, then the threads that were active in the
 * range, by process. */
#pragma once

#include <tools/tarn/view/lanes.h>

/* Heights in pixels. A thread's row is its strip and a line for each depth of its calls, with padding. */
#define LAYOUT_CPU     24u
#define LAYOUT_HEAD    20u /* of a process */
#define LAYOUT_STRIP   14u
#define LAYOUT_CALL    14u
#define LAYOUT_PADDING 5u  /* of the page */
#define LAYOUT_MARK    15u /* of a marked event type */

struct layout_options {
    uint64_t from, to;  /* ticks */
    const char *filter; /* part of the names or the ID of a thread; NULL: all threads */
    const char *tids;   /* show just these threads; NULL: the active ones */
    const char *pins;   /* numbers of threads, in their order; NULL: none */
    uint32_t chosen;    /* this thread always has a row; LANES_NOBODY: none */
    uint32_t most;      /* threads */
    bool for_page;      /* with rows for processes of several threads, and threads that did not run */
};

enum layout_kind { LAYOUT_OF_CPU, LAYOUT_OF_PROCESS, LAYOUT_OF_THREAD };

struct layout_row {
    enum layout_kind kind;
    uint32_t number; /* rank, or the thread's number */
    uint32_t cpu;    /* of a CPU's row */
    uint32_t pid;
    uint32_t count;            /* of a process: its threads with rows */
    uint32_t pin;              /* where it is pinned, or LAYOUT_UNPINNED */
    bool is_inner;             /* below its process */
    bool is_busy;              /* its process ran or was ready */
    uint64_t ran, process_ran; /* ticks */
    uint64_t ready;
};
#define LAYOUT_UNPINNED UINT32_MAX

struct layout {
    struct layout_options options;
    const struct view *view;
    struct tally tally; /* times in the range */
    uint32_t hidden;    /* threads beyond the limit */
    struct buffer rows; /* struct layout_row */
};

/* Chooses the rows. The view's lock is held. False: FAIL. */
bool layout_open(struct layout *layout, const struct view *view, const struct layout_options *options,
                 struct fail *fail);
void layout_close(struct layout *layout);

static inline struct layout_row *layout_row(const struct layout *layout, size_t row)
{
    return (struct layout_row *)layout->rows.bytes + row;
}

static inline size_t layout_count(const struct layout *layout)
{
    return layout->rows.used / sizeof(struct layout_row);
}

/* The texts of a row, as the page and pictures show them. */
struct layout_texts {
    char label[64], number[32], title[128];
};
void layout_name(const struct layout *layout, const struct layout_row *row, struct layout_texts *texts);

/* The most specific end of the trace's path; of a source, the whole name. */
const char *view_title(const struct view *view);
/* Names as they are shown. TEXT is used if there is none. */
#define VIEW_NAME_BYTES 48u
const char *view_process_name(const struct view *view, uint32_t pid, char text[VIEW_NAME_BYTES]);
const char *view_thread_name(const struct view *view, uint32_t number, char text[VIEW_NAME_BYTES]);
