/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/view/view.h - a trace that is being looked at: its files, its index, and who may touch them
 * when.
 *
 * Questions (api.h) come from many threads and hold the lock for reading; one thread, the keeper, makes the
 * index, looks whether the files grow, and holds it for writing, never longer than a few milliseconds. A
 * trace whose files change otherwise is opened again: `generation` counts that, and numbers of threads and
 * events are of one generation.
 */
#ifndef TARN_VIEW_H
#define TARN_VIEW_H

#include <pthread.h>
#include <stdatomic.h>
#include <tools/tarn/read/losses.h>
#include <tools/tarn/view/index.h>

struct view_options {
    const char *directory;
    const char *name;    /* what it is called where a person reads; NULL: as the directory */
    const char *symbols; /* where programs lie: DIR[:DIR]..., or NULL */
    bool watch;          /* go on looking whether the files grow */
    bool keep_index;     /* read the index from its file and write it there */
};

/* A long walk that somebody waits for. */
struct view_job {
    uint64_t number; /* the asker's; 0: free */
    uint64_t done, total;
};
#define VIEW_JOBS 64u

struct view {
    struct view_options options;
    pthread_rwlock_t lock;
    atomic_uint readers_waiting;
    /* under the lock */
    struct trace trace;
    struct index index;
    uint64_t damaged; /* what view_judge found */
    uint64_t generation;
    bool is_live;  /* has grown lately, or its source says that more will come */
    bool is_stale; /* the index is not that of the files: the trace has to be opened again */
    /* under the mutex; `changed` is signalled when the version does */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t version; /* grows with everything that questions can see */
    bool stopping, has_source;
    struct view_job jobs[VIEW_JOBS];
    pthread_t keeper;
    struct opener *opener; /* NULL: the page may not open `tarn goto` */
    double progress_shown;
};

/* Opens the trace, and makes its index up to date when WAIT; view_start's thread does it otherwise. */
bool view_open(struct view *view, const struct view_options *options, bool wait, struct fail *fail);
bool view_start(struct view *view, struct fail *fail);
/* Whether somebody writes to the directory on our behalf: then the trace is live even while nothing comes. */
void view_set_source(struct view *view, bool has_source);
void view_stop(struct view *view); /* of view_start */
void view_close(struct view *view);

void view_read_lock(struct view *view);
void view_unlock(struct view *view);

/* Opens the files of the trace once more, as far as they are in the index, for who reads for long: without
 * the lock, while the trace grows. With the lock held for reading. The caller closes it. */
bool view_open_files(const struct view *view, struct trace *trace, struct fail *fail);

/* Tells what is wrong with the trace as a whole (read/judge.h). Not of one that is being written: what is
 * missing may come. */
void view_judge(struct view *view);
/* What was lost and damaged so far, and what the schema lacks. With the lock held for reading. */
void view_losses(const struct view *view, struct losses *losses);

/* Waits until the version is no longer SINCE, for at most SECONDS, and only while IS_WAITING(ASKER), which is
 * asked a few times a second; returns the version. */
uint64_t view_wait(struct view *view, uint64_t since, double seconds, bool (*is_waiting)(const void *asker),
                   const void *asker);

static inline const char *view_name(const struct view *view)
{
    return view->options.name != NULL ? view->options.name : view->trace.directory;
}

bool view_is_stopping(struct view *view);

/* Nanoseconds since the trace's begin to ticks, and back. */
uint64_t view_ticks(const struct view *view, uint64_t ns);
uint64_t view_ns(const struct view *view, uint64_t ticks);
uint64_t view_span(const struct view *view, uint64_t ticks); /* a distance, in nanoseconds */
static inline uint64_t view_duration(const struct view *view)
{
    return view_ns(view, view->index.end);
}

#endif
