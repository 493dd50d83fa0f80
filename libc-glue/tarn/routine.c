/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * routine.c - counts routines of the program in memory that the thread shares with the kernel. Interface:
 * tarn/routine.h; struct trace_program in trace/format/profile.h.
 *
 * The thread's time, as its program clock counts it, moves from routine to routine at each enter and leave. A
 * reader on another CPU sees `since` change first, so it never finds time twice.
 *
 * When profiles begin anew the kernel changes `epoch`, at any time, and nothing else: the next enter drops
 * what is of an older one.
 */
#include "internal.h"

#include <string.h>
#include <tarn/error.h>
#include <tarn/routine.h>

#define FIRST_PAGES 2u                          /* rows for what most programs do */
#define NOT_COUNTED ((struct trace_program *)1) /* there is no memory for this thread */

static _Thread_local struct trace_program *own __attribute__((tls_model("local-exec"))); /* NULL: not yet */

static inline uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void store(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static inline struct trace_profile_row *row_at(struct trace_program *program, uint32_t unit)
{
    return (struct trace_profile_row *)((char *)program + unit * TRACE_PROGRAM_UNIT);
}

/* Both clocks at one moment: the kernel may interrupt, and then counts that. */
static inline uint64_t read_program_clock(const struct trace_program *program, uint64_t *now)
{
    uint64_t kernel;
    do {
        kernel = load(&program->clock.kernel);
        *now = arch_trace_clock();
    } while (load(&program->clock.kernel) != kernel);
    return *now - kernel;
}

/* ---- Memory ---- */

static void begin_anew(struct trace_program *program, uint64_t epoch)
{
    uint64_t now;
    store(&program->rows_epoch, 0);
    store(&program->clock.context, 0);
    if (program->rows) /* else the memory is new */
        memset(program->index, 0, sizeof program->index);
    program->rows = program->depth = program->current = 0;
    program->refused = 0;
    store(&program->since, read_program_clock(program, &now));
    __atomic_store_n(&program->rows_epoch, epoch, __ATOMIC_RELEASE); /* a reader finds no rows of before */
}

/* NULL: nothing is counted now. */
static __attribute__((noinline)) struct trace_program *begin_counting(void)
{
    if (!own) {
        const int64_t address = sys_profile_map(FIRST_PAGES);
        if (address == -E_NOT_FOUND) /* just being switched */
            return NULL;
        own = address > 0 ? (struct trace_program *)(uintptr_t)address : NOT_COUNTED;
    }
    if (own == NOT_COUNTED)
        return NULL;
    begin_anew(own, load(&own->epoch));
    return own;
}

static inline struct trace_program *program_of_thread(void)
{
    struct trace_program *program = own;
    if (__builtin_expect((uintptr_t)program > 1 && load(&program->rows_epoch) == load(&program->epoch), 1))
        return program;
    return begin_counting();
}

/* ---- Rows ---- */

/* The place of the next row, in units; 0: there is no memory for it. */
static uint32_t place_of_next(const struct trace_program *program)
{
    const uint32_t behind = program->rows - TRACE_PROGRAM_FIRST_ROWS,
                   row_units = TRACE_PROFILE_ROW_BYTES / TRACE_PROGRAM_UNIT;
    if (program->rows < TRACE_PROGRAM_FIRST_ROWS)
        return (uint32_t)offsetof(struct trace_program, first) / TRACE_PROGRAM_UNIT +
               program->rows * row_units;
    const uint32_t page = 1 + behind / TRACE_PROGRAM_PAGE_ROWS;
    if (page >= TRACE_PROGRAM_PAGES || (page >= program->pages && sys_profile_map(page + 1) < 0))
        return 0;
    return page * (TARN_PAGE_SIZE / TRACE_PROGRAM_UNIT) + behind % TRACE_PROGRAM_PAGE_ROWS * row_units;
}

static __attribute__((noinline)) uint32_t add_row(struct trace_program *program, uint32_t context,
                                                  uint16_t *entry)
{
    const uint32_t unit = place_of_next(program);
    if (!unit)
        return 0;
    struct trace_profile_row *row = row_at(program, unit);
    if (row->key) /* else the memory is new */
        *row = (struct trace_profile_row){0};
    row->key = trace_routine_key(TRACE_ROUTINE_PROGRAM, 0) | (uint64_t)context << TRACE_PROFILE_CONTEXT_SHIFT;
    row->least = UINT64_MAX;
    *entry = (uint16_t)unit;
    __atomic_store_n(&program->rows, program->rows + 1, __ATOMIC_RELEASE); /* a reader finds the row */
    return unit;
}

/* 0: there is no memory for another row. */
static inline uint32_t find_row(struct trace_program *program, uint32_t context)
{
    for (uint32_t i = context;; i++) {
        uint16_t *entry = &program->index[i % TRACE_PROGRAM_INDEX];
        if (__builtin_expect(!*entry, 0))
            return add_row(program, context, entry);
        if (trace_routine_context(row_at(program, *entry)->key) == context)
            return *entry;
    }
}

/* ---- Enter and leave ---- */

/* The word for the kernel was set right after the clock was read: what the kernel does in between is in the
 * time of the one routine, and in its rows of the other. */
static inline void move_to(struct trace_program *program, uint32_t unit, uint64_t clock)
{
    const uint64_t elapsed = clock - program->since;
    store(&program->since, clock);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* a reader that sees the time in the row sees that it moved */
    if (program->current)
        row_at(program, program->current)->exclusive += elapsed;
    program->current = unit;
}

void routine_enter(uint32_t context)
{
    struct trace_program *program = program_of_thread();
    uint64_t now;
    if (!program)
        return;
    const uint32_t depth = program->depth++,
                   unit = depth < TRACE_PROGRAM_DEPTH && context ? find_row(program, context) : 0;
    if (depth < TRACE_PROGRAM_DEPTH)
        program->stack[depth].row = (uint16_t)unit;
    if (__builtin_expect(!unit, 0)) {
        program->refused++;
        return;
    }
    const uint64_t from = load(&program->clock.context), clock = read_program_clock(program, &now);
    store(&program->clock.context, context);
    program->stack[depth].since = now;
    program->stack[depth].context = (uint32_t)from;
    program->stack[depth].from = (uint16_t)program->current;
    row_at(program, unit)->begun++;
    move_to(program, unit, clock);
}

static inline void count(struct trace_profile_row *row, uint64_t elapsed)
{
    const uint32_t bucket = 63 ^ (uint32_t)__builtin_clzll(elapsed | 1);
    if (elapsed < row->least)
        row->least = elapsed;
    if (elapsed > row->greatest)
        row->greatest = elapsed;
    row->times[bucket < TRACE_PROFILE_BUCKETS ? bucket : TRACE_PROFILE_BUCKETS - 1]++;
    if (row->begun - row->ended++ == 1)
        row->inclusive += elapsed;
}

void routine_leave(void)
{
    struct trace_program *program = own;
    uint64_t now;
    if ((uintptr_t)program <= 1 || load(&program->rows_epoch) != load(&program->epoch) || !program->depth)
        return;
    const uint32_t depth = --program->depth;
    if (depth >= TRACE_PROGRAM_DEPTH || !program->stack[depth].row)
        return;
    const uint64_t clock = read_program_clock(program, &now);
    store(&program->clock.context, program->stack[depth].context);
    struct trace_profile_row *row = row_at(program, program->stack[depth].row);
    move_to(program, program->stack[depth].from, clock);
    count(row, now - program->stack[depth].since);
}

/* ---- Numbers ---- */

bool routine_number_holds(uint64_t number)
{
    const struct trace_program *program = own;
    return (uintptr_t)program > 1 && number / TRACE_CONTEXTS == load(&program->epoch);
}

uint64_t routine_number(uint64_t known, const char *name, const void *function)
{
    const struct trace_program *program = program_of_thread();
    if (!program || routine_number_holds(known))
        return known;
    const int64_t number = sys_profile_name(name ? name : "", (uintptr_t)function);
    return number > 0 ? (uint64_t)number : load(&program->epoch) * TRACE_CONTEXTS;
}
