/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile_rows.h - what the files of profiles.h share: a profile's memory, and the list of all profiles.
 *
 * A profile is a page frame that begins with struct routine_profile, followed by its first rows; more frames
 * have more rows, and, if there are many, a larger index. Readers of guest memory find it by its head
 * (trace/format/profile.h).
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

#define PROFILE_PAGES       TRACE_PROFILE_PAGES
#define PROFILE_SMALL_INDEX 64u
#define PROFILE_LARGE_INDEX 512u

#define PROFILE_MORE_FRAMES_MAX 1024u /* two for each of the threads that a space may have */

struct routine_profile {
    struct profile_rows rows;            /* first */
    struct trace_profile_head head;      /* what readers of guest memory need */
    struct thread *thread;               /* TRACE_PROFILE_THREAD, until it ends */
    struct space *space;                 /* whose it is; NULL: idle threads, orphans */
    uint32_t frames;                     /* page frames, counted in space->profile_frames, too */
    uint64_t ran_before;                 /* a living thread's run_ticks when it was born */
    uint64_t served_since, served_label; /* the message that the thread serves; 0: none */
    struct list all;                     /* under profiles_lock; in order of serial */
    uint32_t index_mask;                 /* entries of the index, minus one */
    struct trace_profile_row **index;    /* by hash of the key; NULL: free */
    struct trace_profile_row *small_index[PROFILE_SMALL_INDEX];
    struct trace_program_clock no_program; /* for those without one */
    struct trace_profile_row first[];
};

#define PROFILE_FIRST_ROWS \
    ((uint32_t)((FRAME_SIZE - sizeof(struct routine_profile)) / sizeof(struct trace_profile_row)))
#define PROFILE_PAGE_ROWS ((uint32_t)(FRAME_SIZE / sizeof(struct trace_profile_row)))
#define PROFILE_ROWS_MAX  (PROFILE_FIRST_ROWS + PROFILE_PAGES * PROFILE_PAGE_ROWS)
_Static_assert(sizeof(struct routine_profile) + 4 * sizeof(struct trace_profile_row) <= FRAME_SIZE,
               "some rows in the first page");

static inline struct trace_profile_row *profile_page(struct routine_profile *profile, uint32_t number)
{
    return phys_to_virt(profile->head.page[number]);
}

static inline struct trace_profile_row *profile_row(struct routine_profile *profile, uint32_t number)
{
    if (number < PROFILE_FIRST_ROWS)
        return &profile->first[number];
    number -= PROFILE_FIRST_ROWS;
    return profile_page(profile, number / PROFILE_PAGE_ROWS) + number % PROFILE_PAGE_ROWS;
}

/* When profiles were switched on last, in ticks, under profiles_lock; 0: they are off, or not all on yet. */
extern uint64_t profiles_since;
extern uint64_t profiles_epoch;

/* Covers the list, and what belongs to no CPU: profiles that are not a living thread's. Innermost, but for
 * that of page frames, which are freed under it. */
extern struct spinlock profiles_lock;
extern struct list profiles_list;
extern struct trace_profile_list profile_list; /* the same, for readers of guest memory */

/* The row of a key, also for its slot of the cache. */
struct trace_profile_row *profile_find_row(struct profile_rows *rows, uint64_t key);
/* The row with this key; never NULL: without memory, the row of others. */
struct trace_profile_row *profile_find_or_add(struct routine_profile *profile, uint64_t key);
/* All with profiles_lock held: */
/* NULL: no memory. Not in the list yet. `space`: whose it is, or NULL. */
struct routine_profile *profile_new(enum trace_profile_of of, struct space *space);
/* Its memory is counted as that of another space, or of none. */
void profile_give(struct routine_profile *profile, struct space *space);
void profile_link(struct routine_profile *profile);
void profile_unlink(struct routine_profile *profile);
/* Readers of guest memory reject what they copy between the two. */
void profile_begin_change(struct routine_profile *profile);
void profile_end_change(struct routine_profile *profile);
void profile_clear(struct routine_profile *profile); /* drops its rows, and counts anew */
void profile_add(struct routine_profile *to, struct routine_profile *from); /* empties `from` */
/* Not in the list any more: */
void profile_free(struct routine_profile *profile);
void profile_keep(struct routine_profile *profile); /* an empty one, for profile_new(), or frees it */
void profiles_free_kept(void);

/* The thread's profile, made or begun anew. The thread is current here, or does not run. NULL: no memory, or
 * profiles are not on yet. In any case nothing is open in the thread. */
struct routine_profile *profile_make(struct thread *thread);

static inline bool profile_is_current(const struct routine_profile *profile)
{
    return profile && profile->head.epoch == __atomic_load_n(&profiles_epoch, __ATOMIC_RELAXED);
}
/* When counting ended, at `now` at the latest: profiles may be off. */
static inline uint64_t profiles_counted_until(uint64_t now)
{
    const uint64_t until = __atomic_load_n(&profile_list.until, __ATOMIC_RELAXED);
    return until && until < now ? until : now;
}
/* Time in the routines that are open is no longer open: adds it to the exclusive times of their rows. */
void profile_close_open(struct thread *thread, struct routine_profile *profile, uint64_t now);

extern struct trace_routine_list trace_routine_list; /* routine_names.c, under its lock */

/* profiles_program.c: what programs write (trace/ring/profile_copy.h). */
/* The thread's program may count, in memory that it has already, once it has noticed that the profile begins.
 * The thread's CPU. */
void profile_begin_program(struct routine_profile *profile, const struct thread *thread);
static inline struct trace_program *profile_program(const struct routine_profile *profile) /* NULL: none */
{
    return profile->head.program_pages ? phys_to_virt(profile->head.program_page[0]) : NULL;
}
/* The number of rows of its program, which may be written meanwhile; and one of them. */
uint32_t profile_program_rows(const struct routine_profile *profile);
const struct trace_profile_row *profile_program_row(const struct routine_profile *profile, uint32_t number);
/* Changes whenever the program enters or leaves a routine. */
uint64_t profile_program_moved(const struct routine_profile *profile);
/* How often routines of it found no number or row, so far. */
uint64_t profile_refused(const struct routine_profile *profile);
/* Ends the program's part of a profile: adds its rows to those of the kernel, as far as the time suffices in
 * which the thread was not in the kernel. */
void profile_end_program(struct routine_profile *profile, const struct open_routines *open, uint64_t now);

#endif
