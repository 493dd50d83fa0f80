/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile_rows.h - what the files of profiles.h share: a profile's memory, and the list of all profiles.
 *
 * A profile is a page frame that begins with struct routine_profile, followed by its first rows; more frames
 * have more rows, and, if there are many, a larger index.
 *
 * Page frames are counted in the space whose profile it is (space->profile_frames), which is how scarce.c
 * knows of them. A profile's first frame comes as its thread does; of those behind the first ones a space has
 * at most PROFILE_MORE_FRAMES_MAX, so that a program with many threads and many routines does not use up
 * memory. Beyond that, and without memory, no row is added (TRACE_ROUTINE_OTHERS).
 */
#ifndef KERNEL_PROFILE_ROWS_H
#define KERNEL_PROFILE_ROWS_H

#include <kernel/cpu/lock.h>
#include <kernel/diagnosis/profiles.h>
#include <kernel/lib/list.h>
#include <kernel/memory/frame.h>

#define PROFILE_PAGES       31u
#define PROFILE_SMALL_INDEX 128u
#define PROFILE_LARGE_INDEX 1024u

#define PROFILE_MORE_FRAMES_MAX 1024u /* two for each of the threads that a space may have */

struct routine_profile {
    struct profile_rows rows; /* first */
    uint64_t epoch, serial;
    uint32_t of; /* enum trace_profile_of */
    uint32_t pid, tid, threads;
    char name[16];
    struct thread *thread;               /* TRACE_PROFILE_THREAD, until it ends */
    struct space *space;                 /* whose it is; NULL: idle threads, orphans */
    uint32_t frames;                     /* page frames, counted in space->profile_frames, too */
    uint64_t born;                       /* a living thread's: ticks */
    uint64_t ran_before;                 /* its run_ticks when it was born */
    uint64_t life, ran;                  /* of those that have ended */
    uint64_t served_since, served_label; /* the message that the thread serves; 0: none */
    struct list all;                     /* under profiles_lock; in order of serial */
    uint32_t count;                      /* of rows */
    uint32_t index_mask;                 /* entries of the index, minus one */
    uint16_t *index;                     /* by hash: 1 + number of a row; 0: free */
    uint16_t small_index[PROFILE_SMALL_INDEX];
    struct trace_profile_row *page[PROFILE_PAGES]; /* rows behind the first ones */
    struct trace_profile_row first[];
};

#define PROFILE_FIRST_ROWS \
    ((uint32_t)((FRAME_SIZE - sizeof(struct routine_profile)) / sizeof(struct trace_profile_row)))
#define PROFILE_PAGE_ROWS ((uint32_t)(FRAME_SIZE / sizeof(struct trace_profile_row)))
#define PROFILE_ROWS_MAX  (PROFILE_FIRST_ROWS + PROFILE_PAGES * PROFILE_PAGE_ROWS)
_Static_assert(sizeof(struct routine_profile) + 4 * sizeof(struct trace_profile_row) <= FRAME_SIZE,
               "some rows in the first page");

static inline struct trace_profile_row *profile_row(struct routine_profile *profile, uint32_t number)
{
    if (number < PROFILE_FIRST_ROWS)
        return &profile->first[number];
    number -= PROFILE_FIRST_ROWS;
    return &profile->page[number / PROFILE_PAGE_ROWS][number % PROFILE_PAGE_ROWS];
}

/* When profiles were switched on last, in ticks; 0: never, or just now being switched on. */
extern uint64_t profiles_since;
extern uint64_t profiles_until; /* when they were switched off last */
extern uint64_t profiles_epoch;

/* Covers the list, and what belongs to no CPU: profiles that are not a living thread's. Innermost, but for
 * that of page frames, which are freed under it. */
extern struct spinlock profiles_lock;
extern struct list profiles_list;

/* The row of a key, also for its slot of the cache. */
struct trace_profile_row *profile_find_row(struct profile_rows *rows, uint64_t key);
/* The context of its rows is what the thread's program says from now on; NULL: none. */
void profile_use_context(struct routine_profile *profile, const struct thread *thread);
/* NULL: no memory. Not in the list yet. `space`: whose it is, or NULL. */
struct routine_profile *profile_new(enum trace_profile_of of, struct space *space);
/* Its memory is counted as that of another space, or of none. */
void profile_give(struct routine_profile *profile, struct space *space);
void profile_free(struct routine_profile *profile);
void profile_link(struct routine_profile *profile);  /* profiles_lock held */
void profile_clear(struct routine_profile *profile); /* drops its rows, and counts anew */
/* Adds `from` to a row of `to`; any thread's that does not run, or under profiles_lock. */
void profile_add(struct routine_profile *to, struct routine_profile *from);
/* Time in the routines that are open is no longer open: adds it to the exclusive times of their rows. */
void profile_close_open(struct thread *thread, struct routine_profile *profile, uint64_t now);

#endif
