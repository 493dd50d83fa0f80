/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_owners.h - explains waits for locks: who held the lock when, and what the holder did.
 *
 * The event at the end of a wait names the holder at its begin. Later holders are known if they logged it:
 * after a wait of their own, or because their class is sampled. The model knows what each holder did: it
 * ran, was preempted (and which threads ran instead), or waited for something else. Between a release and
 * the next acquisition the lock was free, and the waiter was about to take it. The history is limited; what
 * is older is unknown.
 */
#ifndef TARN_LOCK_OWNERS_H
#define TARN_LOCK_OWNERS_H

#include <tools/tarn/analysis/analysis.h>

enum lock_cause { CAUSE_RUNNING, CAUSE_PREEMPTED, CAUSE_BLOCKED, CAUSE_FREE, CAUSE_UNKNOWN, LOCK_CAUSES };

/* A change in a history: of a lock's owner, or of a thread's state. */
struct lock_change {
    uint64_t at; /* ticks */
    /* the owner, NULL: the lock is free; or the thread that runs in place of one that is ready, NULL: unknown
     */
    const struct model_thread *thread;
    /* of a thread; MODEL_MODES: it does not run */
    enum model_state state;
    enum model_mode mode;
};

/* The newest changes, oldest first. All zero: empty. */
struct lock_changes {
    struct lock_change *items;
    uint32_t count, capacity;
    bool is_cut; /* older ones were forgotten */
};

struct lock_deed;
struct lock_states {
    struct slots threads;    /* struct lock_changes by thread number, in order of time */
    uint64_t space;          /* number of changes for which there is space */
    struct arena *arena;     /* of all changes, and of the owners */
    struct lock_deed *deeds; /* of the wait that was explained last, latest first; they add up to it */
    size_t deed_count, deed_size;
};
/* The memory is the analysis's. */
void lock_states_open(struct lock_states *states, struct analysis *analysis);
/* Call these from model_observer.segment and delays.delayed, for all threads. */
void lock_states_segment(struct lock_states *states, const struct model_thread *thread, uint64_t from);
void lock_states_delay(struct lock_states *states, const struct model_thread *thread,
                       const struct model_thread *by, uint64_t from, uint64_t to);

/* THREAD owns the lock from AT on; NULL: it is free. AT may be slightly earlier than the last change, if it
 * was logged late. */
void lock_taken(struct lock_states *states, struct lock_changes *owners, const struct model_thread *thread,
                uint64_t at);
/* THREAD, which acquired the lock at FROM, released it. Other readers may still hold it. */
void lock_released(struct lock_states *states, struct lock_changes *owners, const struct model_thread *thread,
                   uint64_t from, uint64_t at);

/* The parts of a wait with one cause. */
struct lock_deed {
    /* the holder; if NULL, only `cause` and `ticks` are valid */
    const struct model_thread *thread;
    enum lock_cause cause;
    enum model_state state; /* of the holder */
    enum model_mode mode;   /* of the holder; MODEL_MODES: it did not run, or unknown */
    /* the thread that ran instead while the holder was preempted; NULL: unknown */
    const struct model_thread *instead;
    uint64_t ticks;
};
struct lock_wait {
    const struct model_thread *waiter, *holder; /* holder: at the begin of the wait; NULL: unknown */
    uint64_t from, to;
    bool may_sleep; /* the waiter may sleep, and is woken at the release; otherwise it is a lock of the kernel
                     */
    bool all_known; /* all acquisitions of the class are logged, so the lock was free if it had no owner */
};
/* Splits a wait that ends now into `deeds`. */
void lock_explain(struct lock_states *states, const struct lock_changes *owners,
                  const struct lock_wait *wait);

#endif
