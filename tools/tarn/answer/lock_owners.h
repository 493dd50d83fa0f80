/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/lock_owners.h - who had a lock when, what its holder did meanwhile: why a wait took so
 * long.
 *
 * The event at the end of a wait tells who held the lock when it began. Others who took the lock meanwhile
 * are known as far as they logged it: after a wait of their own, or because they are watched. What each
 * holder did is in the model: it ran, waited for a processor (it was preempted: then others ran in its
 * place), or for something else. From when the lock was let go until it was taken it was free, and the waiter
 * on its way. Both are remembered for a while only; what is older is not known.
 */
#ifndef TARN_LOCK_OWNERS_H
#define TARN_LOCK_OWNERS_H

#include <tools/tarn/answer/map.h>
#include <tools/tarn/model/model.h>

/* What kept a waiter waiting. */
enum lock_cause { CAUSE_RUNNING, CAUSE_PREEMPTED, CAUSE_BLOCKED, CAUSE_FREE, CAUSE_UNKNOWN, LOCK_CAUSES };

/* From a moment on a thread is in a state, or a lock is somebody's; or another ran in a thread's place. */
struct lock_change {
    uint64_t at, until; /* ticks; until: only of who ran in its place */
    union {
        const struct model_thread *thread; /* of a lock; NULL: it is free. Or who ran in its place */
        enum model_state state;            /* of a thread */
        enum model_mode mode;              /* of a thread, whenever it runs */
    };
};

/* The newest of many, oldest first. All zero: empty. */
struct lock_changes {
    struct lock_change *ring;
    uint32_t room, next; /* next: how many there ever were */
};
void lock_changes_free(struct lock_changes *changes);

struct lock_states {
    struct slots threads, modes, instead; /* struct lock_changes by number; in order of time */
    uint64_t extra;                       /* changes that some may remember beyond what all may */
};
void lock_states_open(struct lock_states *states);
void lock_states_close(struct lock_states *states);
/* For model_observer.segment: of all threads. */
void lock_states_segment(struct lock_states *states, const struct model_thread *thread, uint64_t from);

/* For delays.delayed: of all threads. */
void lock_states_delay(struct lock_states *states, const struct model_thread *thread,
                       const struct model_thread *by, uint64_t from, uint64_t to);

/* THREAD has the lock from then on; NULL: nobody. Times may go back a little, for what is told later. */
void lock_taken(struct lock_changes *owners, const struct model_thread *thread, uint64_t at);
/* THREAD, which took it at FROM, let it go. Perhaps others read what it protects, too. */
void lock_released(struct lock_changes *owners, const struct model_thread *thread, uint64_t from,
                   uint64_t at);

/* A stretch of a wait. */
struct lock_stretch {
    const struct model_thread
        *thread; /* the holder, or NULL; if it is NULL, only cause and ticks say something */
    enum lock_cause cause;
    enum model_state state;             /* of the holder */
    enum model_mode mode;               /* in which it ran; MODEL_MODES: it did not, or it is not known */
    const struct model_thread *instead; /* who ran in its place while it was preempted, as far as known */
    uint64_t ticks;
};
typedef void lock_blame(void *context, const struct lock_stretch *stretch);
struct lock_wait {
    const struct model_thread *waiter, *holder; /* holder: when it began; NULL: not known */
    uint64_t from, to;
    bool may_sleep; /* and is woken when the lock is let go */
    bool all_known; /* all who take it say so: when nobody did, it was free */
};
/* Splits a wait that ends now into stretches, without gap. */
void lock_explain(const struct lock_states *states, const struct lock_changes *owners,
                  const struct lock_wait *wait, lock_blame *blame, void *context);

#endif
