/*
 * view.h - an open trace: its files, its index, and their locking.
 *
 * Requests (api.h) come from many threads and hold the lock for reading. The keeper makes the index and
 * checks whether files grow; it holds the lock for writing, never longer than a few milliseconds. If files
 * change in another way, the trace is opened again.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <tools/tarn/index/index.h>

struct view_options {
    const char *directory;
    const char *name;    /* to be shown instead of the directory; NULL: the directory */
    const char *symbols; /* where executables are: DIR[:DIR]..., or NULL */
};

#define GOTO_FREE      UINT64_MAX
#define GOTO_FORBIDDEN (UINT64_MAX - 1)

struct view {
    struct view_options options;
    pthread_rwlock_t lock;
    atomic_uint readers_waiting;
    /* protected by `lock` */
    struct trace trace;
    struct index index;
    uint64_t damaged;         /* found by view_judge */
    struct blob_array judged; /* its reports, as texts ... */
    uint64_t judged_count;    /* ... the first of so many */
    uint64_t generation;      /* of the open trace; numbers of threads and events are valid for one */
    bool is_live;             /* it grew recently, or its source will send more */
    /* The state of the link to the guest of the pull that writes the trace, in the words of /api/changes. */
    const char *link;
    double heard_at;  /* when something came from the guest: now_seconds() */
    unsigned boots;   /* further boots of the guest that were followed: the page goes to the newest */
    bool is_stale;    /* the index does not match the files: open the trace again */
    unsigned quiet;   /* checks of the files in a row that found nothing new */
    uint64_t version; /* increases with every change visible to requests */
    atomic_bool is_stopping;
    atomic_bool has_source; /* a pull of this view runs, or waits for the guest's next boot */
    atomic_uint pulls;      /* how many were started after the first */
    /* The view goes on with the trace there as soon as it has begun; NULL: in the same directory. */
    _Atomic(const char *) next_directory;
    pthread_t keeper;
    struct index_yield yield; /* lets readers in while the index is made */
    /* The event for which `tarn goto` runs in the terminal, or is to; or one of the two above. */
    _Atomic uint64_t goto_event;
};

/* Opens the trace. WAIT: also updates its index, which the thread of view_start does otherwise. */
bool view_open(struct view *view, const struct view_options *options, bool wait, struct fail *fail);
bool view_start(struct view *view, struct fail *fail);
void view_stop(struct view *view); /* stops the thread of view_start */
void view_close(struct view *view);

void view_read_lock(struct view *view);
void view_unlock(struct view *view);

/* Checks the trace as a whole (read/judge.h), unless it is being written: what is missing may still come.
 * QUIET: defects are not printed. The lock is held for writing, or there are no threads yet. */
void view_judge(struct view *view, bool quiet);
/* Returns the losses and damage so far, and what the schema lacks. The lock is held for reading. */
void view_losses(const struct view *view, struct losses *losses);

static inline const char *view_name(const struct view *view)
{
    return view->options.name != NULL ? view->options.name : view->trace.directory;
}

/* Convert nanoseconds since the start to ticks, and back. */
uint64_t view_ticks(const struct view *view, uint64_t ns);
uint64_t view_ns(const struct view *view, uint64_t ticks);
uint64_t view_span(const struct view *view, uint64_t ticks); /* a duration in nanoseconds */
static inline uint64_t view_duration(const struct view *view)
{
    return view_ns(view, view->index.end);
}
