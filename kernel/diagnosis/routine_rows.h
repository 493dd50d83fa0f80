/*
 * routine_rows.h - shared by the files of routines.h: a table's memory, and the list of all tables.
 *
 * A table is a page frame that begins with struct routine_table, followed by its first rows; more frames
 * have more rows, and, if there are many, a larger index. Readers of guest memory find it by its head
 * (trace/format/routine.h).
 *
 * Page frames count for the table's space (space->routine_frames, which scarce.c reads). Beyond the first
 * frame of each table, a space may have ROUTINES_MORE_FRAMES_MAX, so that a program with many threads and
 * routines does not use up memory. Beyond that, and without memory, no row is added (TRACE_ROUTINE_OTHERS).
 */
#pragma once

#include <kernel/cpu/lock.h>
#include <kernel/diagnosis/routines.h>
#include <kernel/lib/list.h>
#include <kernel/memory/frame.h>
#include <trace/ring/routine_copy.h>

#define ROUTINES_PAGES       TRACE_ROUTINES_PAGES
#define ROUTINES_SMALL_INDEX 64u
#define ROUTINES_LARGE_INDEX 512u

#define ROUTINES_MORE_FRAMES_MAX 1024u /* two for each of the threads that a space may have */

struct routine_table {
    struct routine_rows rows;            /* first */
    struct trace_routines_head head;     /* what readers of guest memory need */
    struct thread *thread;               /* TRACE_ROUTINES_THREAD, until it ends */
    struct space *space;                 /* owner; NULL: idle threads, orphans */
    uint32_t frames;                     /* page frames, counted in space->routine_frames, too */
    uint64_t served_since, served_label; /* the message that the thread serves; 0: none */
    struct list all;                     /* under routines_lock; in order of serial */
    uint32_t index_mask;                 /* entries of the index, minus one */
    struct trace_routines_row **index;   /* by hash of the key; NULL: free */
    struct trace_routines_row *small_index[ROUTINES_SMALL_INDEX];
    struct trace_program_clock no_program; /* for threads without a program's clock */
    struct trace_routines_row first[];
};

#define ROUTINE_FIRST_ROWS \
    ((uint32_t)((FRAME_SIZE - sizeof(struct routine_table)) / sizeof(struct trace_routines_row)))
#define ROUTINE_PAGE_ROWS ((uint32_t)(FRAME_SIZE / sizeof(struct trace_routines_row)))
#define ROUTINE_ROWS_MAX  (ROUTINE_FIRST_ROWS + ROUTINES_PAGES * ROUTINE_PAGE_ROWS)
_Static_assert(sizeof(struct routine_table) + 4 * sizeof(struct trace_routines_row) <= FRAME_SIZE,
               "some rows in the first page");

static inline struct trace_routines_row *routines_page(struct routine_table *table, uint32_t number)
{
    return phys_to_virt(table->head.page[number]);
}

static inline struct trace_routines_row *routine_row(struct routine_table *table, uint32_t number)
{
    if (number < ROUTINE_FIRST_ROWS)
        return &table->first[number];
    number -= ROUTINE_FIRST_ROWS;
    return routines_page(table, number / ROUTINE_PAGE_ROWS) + number % ROUTINE_PAGE_ROWS;
}

/* When counting was last switched on, in ticks, under routines_lock; 0: off, or not on everywhere yet. */
extern uint64_t routines_since;
extern uint64_t routines_epoch;

/* Covers the list, and all tables but those of living threads, which belong to their CPUs. Innermost, except
 * for the locks of page frames. */
extern struct spinlock routines_lock;
extern struct list routine_tables;
extern struct trace_routines_list routines_list; /* the same, for readers of guest memory */

/* The row of a key, also for its slot of the cache. */
struct trace_routines_row *routines_find_row(struct routine_rows *rows, uint64_t key);
/* The row with this key; never NULL: without memory, the row of others. */
struct trace_routines_row *routines_find_or_add(void *table, uint64_t key); /* trace_routine_row_of */
/* All with routines_lock held: */
/* NULL: no memory. Not in the list yet. `space`: whose it is, or NULL. */
struct routine_table *routines_new(enum trace_routines_of of, struct space *space);
/* Charges the table's memory to another space, or to none. */
void routines_give(struct routine_table *table, struct space *space);
void routines_link(struct routine_table *table);
void routines_unlink(struct routine_table *table);
/* Readers of guest memory reject copies made between these two. */
void routines_begin_change(struct routine_table *table);
void routines_end_change(struct routine_table *table);
void routines_clear(struct routine_table *table);                        /* drops its rows, and counts anew */
void routines_add(struct routine_table *to, struct routine_table *from); /* empties `from` */
/* Not in the list any more: */
void routines_free(struct routine_table *table);
void routines_keep(struct routine_table *table); /* keeps an empty table for routines_new(), or frees it */
void routines_free_kept(void);

static inline bool routines_are_current(const struct routine_table *table)
{
    return table && table->head.epoch == __atomic_load_n(&routines_epoch, __ATOMIC_RELAXED);
}
/* The time at which counting ended, or `now` if that is earlier. */
static inline uint64_t routines_counted_until(uint64_t now)
{
    const uint64_t until = __atomic_load_n(&routines_list.until, __ATOMIC_RELAXED);
    return until && until < now ? until : now;
}
/* The exclusive times of all rows of these kinds (trace/ring/routine_copy.h). */
uint64_t routines_time_in(struct routine_table *table, uint32_t kinds);

extern struct trace_routine_list trace_routine_list; /* routine_names.c, under its lock */

/* routines_program.c: memory that programs write (trace/ring/routine_copy.h). */
/* Lets the thread's program count, in memory that it has already, once it has noticed the new table. On the
 * thread's CPU. */
void routines_begin_program(struct routine_table *table, const struct thread *thread);
static inline struct trace_program *routines_program(const struct routine_table *table) /* NULL: none */
{
    return table->head.program_pages ? phys_to_virt(table->head.program_page[0]) : NULL;
}
/* The pages that its program writes, and how many rows it has there now. */
struct trace_program_pages routines_program_pages(const struct routine_table *table);
/* Changes whenever the program enters or leaves a routine. */
uint64_t routines_program_moved(const struct routine_table *table);
/* How many of its routines have found no number or row. */
uint64_t routines_refused(const struct routine_table *table);
/* Adds the open routines and the rows of the program to a table whose thread ends. The program's get at most
 * the time that the thread spent outside the kernel. */
void routines_end_open(struct routine_table *table, struct open_routines *open, uint64_t now);
