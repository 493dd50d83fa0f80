/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile_rows.h - what the files of profiles.h share: a profile's memory, and the list of all profiles.
 *
 * A profile is a page frame that begins with struct routine_profile, followed by its first rows; more frames
 * have more rows, and, if there are many, a larger index.
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

struct routine_profile {
    struct profile_rows rows; /* first */
    uint64_t epoch, serial;
    uint32_t of; /* enum trace_profile_of */
    uint32_t program_pages;
    uint32_t pid, tid, threads;
    char name[16];
    struct thread *thread;               /* TRACE_PROFILE_THREAD, until it ends */
    struct space *space;                 /* whose it is; NULL: idle threads, orphans */
    uint64_t born;                       /* a living thread's: ticks */
    uint64_t ran_before;                 /* its run_ticks when it was born */
    uint64_t life, ran, refused;         /* of those that have ended */
    uint64_t served_since, served_label; /* the message that the thread serves; 0: none */
    struct list all;                     /* under profiles_lock; in order of serial */
    uint32_t count;                      /* of rows */
    uint32_t index_mask;                 /* entries of the index, minus one */
    uint16_t *index;                     /* by hash: 1 + number of a row; 0: free */
    uint16_t small_index[PROFILE_SMALL_INDEX];
    struct trace_profile_row *page[PROFILE_PAGES]; /* rows behind the first ones */
    struct trace_program_clock no_program;         /* for those without one */
    /* physical addresses of what the thread's program writes; program_pages of them */
    uint64_t program_page[TRACE_PROGRAM_PAGES];
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
/* NULL: no memory. Not in the list yet. */
struct routine_profile *profile_new(enum trace_profile_of of);
void profile_free(struct routine_profile *profile);
void profile_link(struct routine_profile *profile);  /* profiles_lock held */
void profile_clear(struct routine_profile *profile); /* drops its rows, and counts anew */
/* The row with this key; never NULL: without memory, the row of others. */
struct trace_profile_row *profile_find_or_add(struct routine_profile *profile, uint64_t key);
/* The bucket of a row's histogram that a time is in. */
static inline uint32_t profile_bucket(uint64_t time)
{
    const uint32_t bucket = 63 - (uint32_t)__builtin_clzll(time | 1);
    return bucket < TRACE_PROFILE_BUCKETS ? bucket : TRACE_PROFILE_BUCKETS - 1;
}
/* Adds all rows of `from`; any thread's that does not run, or under profiles_lock. */
void profile_add(struct routine_profile *to, struct routine_profile *from);
/* Time in the routines that are open is no longer open: adds it to the exclusive times of their rows. */
void profile_close_open(struct thread *thread, struct routine_profile *profile, uint64_t now);

/* profiles_program.c: what programs write. */
/* From now on the profile belongs to the thread's program; NULL: to none. The thread's CPU. */
void profile_use_program(struct routine_profile *profile, const struct thread *thread);
/* The number of rows of its program, which may be written meanwhile. */
uint32_t profile_program_rows(const struct routine_profile *profile);
/* The key of one of them; its context may be 0, then the row counts for nothing. */
uint64_t profile_program_key(const struct routine_profile *profile, uint32_t number);
/* Adds what is credible of one, nothing of it more than `life`, but not its exclusive time: returns that. */
uint64_t profile_add_program_row(struct trace_profile_row *to, const struct routine_profile *profile,
                                 uint32_t number, uint64_t life);
/* The time that the program's current routine has not been given yet, at `now`; *context: which it is. */
uint64_t profile_program_open(const struct routine_profile *profile, const struct open_routines *open,
                              uint64_t now, uint32_t *context);
/* Changes whenever the program enters or leaves a routine. */
uint64_t profile_program_moved(const struct routine_profile *profile);
/* How often routines of it found no number or row, so far. */
uint64_t profile_refused(const struct routine_profile *profile);
/* Ends the program's part of a profile: adds its rows to those of the kernel, as far as the time suffices in
 * which the thread was not in the kernel. */
void profile_end_program(struct routine_profile *profile, const struct open_routines *open, uint64_t now);

/* Whether the row is of a routine of a program, but not of what is in none of them. */
static inline bool profile_is_program_row(const struct trace_profile_row *row)
{
    return trace_routine_kind(row->key) == TRACE_ROUTINE_PROGRAM && trace_routine_context(row->key);
}

#endif
