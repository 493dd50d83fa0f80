/*
 * trace/ring/routine_copy.h - completes a copy of a table's rows (trace/format/routine.h): with the
 * open routines, the routines of the program, and the rest of the program's time. For the kernel,
 * and for readers of its memory.
 *
 * The copy has space for TRACE_ROUTINES_ROWS_BESIDES more rows and for the program's. Any contents are
 * safe; sums may wrap. A program's counts are limited to the thread's life.
 */
#pragma once

#include <stdbool.h>
#include <trace/format/routine.h>

/* The row with this key; NULL: there is none. */
static inline struct trace_routines_row *trace_routines_find(const struct trace_routines_row *rows,
                                                             uint32_t count, uint64_t key)
{
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].routine == key)
            return (struct trace_routines_row *)&rows[i];
    return 0;
}

/* Kinds of rows, as bits. */
#define TRACE_ROUTINES_KIND(kind) (1u << (kind))
#define TRACE_ROUTINES_OUT        TRACE_ROUTINES_KIND(TRACE_ROUTINE_OUT)       /* the thread did not run */
#define TRACE_ROUTINES_NESTED     (~TRACE_ROUTINES_KIND(TRACE_ROUTINE_SERVED)) /* they add up to the life */

/* The exclusive time of a row, if it is of these kinds. */
static inline uint64_t trace_routine_time(const struct trace_routines_row *row, uint32_t kinds)
{
    return kinds >> trace_routine_kind(row->routine) & 1 ? row->own : 0;
}

static inline uint64_t trace_routines_time(const struct trace_routines_row *rows, uint32_t count,
                                           uint32_t kinds)
{
    uint64_t time = 0;
    for (uint32_t i = 0; i < count; i++)
        time += trace_routine_time(&rows[i], kinds);
    return time;
}

/* The row with this key in a table that ends, or in a copy; a new one if there is none. */
typedef struct trace_routines_row *trace_routine_row_of(void *table, uint64_t key);

struct trace_routines_copy {
    struct trace_routines *head; /* its `rows` and `life` are valid */
    struct trace_routines_row *rows;
    uint64_t now; /* the moment */
};

/* For open routines, and for the program in none of its routines. */
#define TRACE_ROUTINES_ROWS_BESIDES (OPEN_ROUTINES_MAX + 1u)

static inline struct trace_routines_row *trace_routines_append(void *to, uint64_t key)
{
    struct trace_routines_copy *copy = to;
    struct trace_routines_row *row = &copy->rows[copy->head->rows++];
    *row = (struct trace_routines_row){.routine = key, .min = ~0ull};
    return row;
}

static inline struct trace_routines_row *trace_routines_row_of(void *to, uint64_t key)
{
    struct trace_routines_copy *copy = to;
    struct trace_routines_row *row = trace_routines_find(copy->rows, copy->head->rows, key);
    return row ? row : trace_routines_append(copy, key);
}

/* Adds the open routines of a living thread, in this context, up to now. */
static inline void trace_routines_add_open(const struct open_routines *open, uint64_t born, uint64_t now,
                                           uint64_t context, trace_routine_row_of *row_of, void *table)
{
    context = (context & TRACE_ROUTINES_CONTEXT_MAX) << TRACE_ROUTINES_CONTEXT_SHIFT;
    for (uint32_t i = 0; i < open->depth && i < OPEN_ROUTINES_MAX; i++) {
        const struct open_routine *routine = &open->at[i];
        const uint64_t inner = i + 1 < open->depth && i + 1 < OPEN_ROUTINES_MAX ? open->at[i + 1].since : now;
        if (routine->since >= born && inner >= routine->since)
            row_of(table, routine->key | context)->own += inner - routine->since - routine->nested;
    }
}

/* ---- Routines of the program ---- */

static inline uint64_t trace_routines_load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline uint64_t trace_routines_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The page frames of a living thread's struct trace_program, which its program may change at any time. */
struct trace_program_pages {
    uint64_t epoch; /* of the table */
    uint32_t count; /* 0: none */
    uint32_t rows;  /* that the program had when trace_program_begin() was called */
    const void *page[TRACE_PROGRAM_PAGES];
};

static inline const struct trace_program *trace_program_of(const struct trace_program_pages *pages)
{
    return pages->count ? (const struct trace_program *)pages->page[0] : 0;
}

/* Whether the program has begun to count in this epoch. */
static inline bool trace_program_counts(const struct trace_program *program, uint64_t epoch)
{
    return program && trace_routines_load(&program->rows_epoch) == epoch;
}

/* Counts the rows; the others are set. */
static inline void trace_program_begin(struct trace_program_pages *pages)
{
    const struct trace_program *program = trace_program_of(pages);
    pages->rows = 0;
    if (trace_program_counts(program, pages->epoch)) {
        const uint32_t rows = __atomic_load_n(&program->rows, __ATOMIC_RELAXED),
                       most = TRACE_PROGRAM_FIRST_ROWS + (pages->count - 1) * TRACE_PROGRAM_PAGE_ROWS;
        pages->rows = rows < most ? rows : most;
    }
}

/* Bytes from struct trace_program to a row, if its page frames are mapped one after the other. */
static inline uint32_t trace_program_row_place(uint32_t number)
{
    if (number < TRACE_PROGRAM_FIRST_ROWS)
        return (uint32_t) __builtin_offsetof(struct trace_program, first) + number * TRACE_ROUTINE_ROW_BYTES;
    number -= TRACE_PROGRAM_FIRST_ROWS;
    return (1 + number / TRACE_PROGRAM_PAGE_ROWS) * 4096u +
           number % TRACE_PROGRAM_PAGE_ROWS * TRACE_ROUTINE_ROW_BYTES;
}

static inline const struct trace_routines_row *trace_program_row(const struct trace_program_pages *pages,
                                                                 uint32_t number)
{
    const uint32_t place = trace_program_row_place(number);
    return (const struct trace_routines_row *)((const char *)pages->page[place / 4096] + place % 4096);
}

/* The key of a program's row; with context 0 it counts for nothing. */
static inline uint64_t trace_program_key(const struct trace_routines_row *from)
{
    return trace_routine_key(TRACE_ROUTINE_PROGRAM, 0) |
           (uint64_t)trace_routine_context(trace_routines_load(&from->routine))
               << TRACE_ROUTINES_CONTEXT_SHIFT;
}

/* Adds the credible part of a program's row, and returns its exclusive time, which is not added. A call takes
 * at least a tick, so there are no more calls than ticks of life. */
static inline uint64_t trace_program_add_row(struct trace_routines_row *to,
                                             const struct trace_routines_row *from, uint64_t life)
{
    const uint64_t greatest = trace_routines_least(trace_routines_load(&from->max), life),
                   least = trace_routines_least(trace_routines_load(&from->min), greatest);
    uint64_t calls = 0;
    for (uint32_t i = trace_table_bucket(least); i <= trace_table_bucket(greatest); i++) {
        const uint64_t times = trace_routines_least(trace_routines_load(&from->times[i]), life - calls);
        calls += times;
        to->times[i] += times;
    }
    if (calls) {
        to->begun += calls;
        to->ended += calls;
        to->total += trace_routines_least(trace_routines_load(&from->total), life);
        to->max = to->max > greatest ? to->max : greatest;
        to->min = trace_routines_least(to->min, least);
    }
    return trace_routines_least(trace_routines_load(&from->own), life);
}

static inline uint64_t trace_routines_difference(uint64_t later, uint64_t earlier)
{
    return later > earlier ? later - earlier : 0;
}

/* The time that the program's current routine has not been given yet, at `now`. */
struct trace_program_open {
    uint32_t context; /* which routine it is; 0: none */
    uint64_t rest;
};

static inline struct trace_program_open trace_program_open(const struct trace_program_pages *pages,
                                                           const struct open_routines *open, uint64_t now)
{
    const struct trace_program *program = trace_program_of(pages);
    if (!trace_program_counts(program, pages->epoch))
        return (struct trace_program_open){0};
    const uint64_t outside = open->depth ? open->at[0].since : now;
    return (struct trace_program_open){
        (uint32_t)(trace_routines_load(&program->clock.context) & TRACE_ROUTINES_CONTEXT_MAX),
        trace_routines_difference(outside - trace_routines_load(&program->clock.kernel),
                                  trace_routines_load(&program->since))};
}

/* Takes it, if the row with this key gets it. */
static inline uint64_t trace_program_take_open(struct trace_program_open *open, uint64_t key)
{
    const uint64_t taken = trace_routine_context(key) == open->context ? open->rest : 0;
    open->rest -= taken;
    return taken;
}

/* Adds the rows of a thread's program, which get at most `left` of its life together. */
static inline void trace_program_add_rows(const struct trace_program_pages *pages,
                                          const struct open_routines *open, uint64_t now, uint64_t life,
                                          uint64_t left, trace_routine_row_of *row_of, void *table)
{
    struct trace_program_open rest = trace_program_open(pages, open, now);
    for (uint32_t i = 0; i < pages->rows; i++) {
        const struct trace_routines_row *from = trace_program_row(pages, i);
        const uint64_t key = trace_program_key(from);
        if (!trace_routine_context(key))
            continue;
        struct trace_routines_row *row = row_of(table, key);
        const uint64_t own = trace_routines_least(left, trace_program_add_row(row, from, life) +
                                                            trace_program_take_open(&rest, key));
        row->own += own;
        left -= own;
    }
}

static inline uint64_t trace_routines_left(const struct trace_routines_copy *copy)
{
    return trace_routines_difference(
        copy->head->life, trace_routines_time(copy->rows, copy->head->rows, TRACE_ROUTINES_NESTED));
}

/* Completes the copy of a living thread's table. */
static inline void trace_routines_add_living(struct trace_routines_copy *copy, uint64_t born,
                                             const struct open_routines *open, uint64_t context,
                                             const struct trace_program_pages *pages)
{
    trace_routines_add_open(open, born, copy->now, context, trace_routines_row_of, copy);
    trace_program_add_rows(pages, open, copy->now, copy->head->life, trace_routines_left(copy),
                           trace_routines_append, copy);
}

/* Adds the row of code in none of the program's routines, which has the rest of the life. */
static inline struct trace_routines_row *trace_routines_add_rest(struct trace_routines_copy *copy)
{
    const uint64_t left = trace_routines_left(copy);
    struct trace_routines_row *row = trace_routines_append(copy, trace_routine_key(TRACE_ROUTINE_PROGRAM, 0));
    row->own = left;
    return row;
}

/* Removes rows without time or calls. */
static inline void trace_routines_drop_empty(struct trace_routines_copy *copy)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < copy->head->rows; i++) {
        const struct trace_routines_row *row = &copy->rows[i];
        if (row->ended || row->own || row->routine == trace_routine_key(TRACE_ROUTINE_PROGRAM, 0))
            copy->rows[kept++] = *row;
    }
    copy->head->rows = kept;
}
