/*
 * routine.c - counts routines of the program in memory that the thread shares with the kernel. Interface:
 * tarn/routine.h; struct trace_program in trace/format/routine.h.
 *
 * The thread's time, as its program clock counts it, moves from routine to routine at each enter and leave. A
 * reader on another CPU sees `since` change first, so it never finds time twice.
 *
 * When counting begins anew the kernel changes `epoch`, at any time, and nothing else: the next enter drops
 * what is of an older one.
 */
#include "internal.h"

#include <string.h>
#include <tarn/error.h>
#include <tarn/routine.h>
#include <trace/ring/routine_copy.h>

#define FIRST_PAGES 2u /* rows for what most programs do */
#define UNIT_SHIFT  48u
#define REFUSED     UINT64_MAX

static _Thread_local struct trace_program *own __attribute__((tls_model("local-exec"))); /* NULL: not yet */
static _Thread_local bool has_no_memory __attribute__((tls_model("local-exec")));        /* ever */

static inline uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void store(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static inline struct trace_routines_row *row_at(struct trace_program *program, uint32_t unit)
{
    return (struct trace_routines_row *)((char *)program + unit * TRACE_PROGRAM_UNIT);
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

static inline uint64_t key_of(uint32_t context)
{
    return trace_routine_key(TRACE_ROUTINE_PROGRAM, 0) | (uint64_t)context << TRACE_ROUTINES_CONTEXT_SHIFT;
}

/* The word for the kernel that says which routine the thread is in, and for us where its row is. */
static inline uint64_t context_word(uint32_t context, uint32_t unit)
{
    return (uint64_t)unit << UNIT_SHIFT | context;
}

static void begin_anew(struct trace_program *program, uint64_t epoch)
{
    const uint32_t first = offsetof(struct trace_program, first) / TRACE_PROGRAM_UNIT;
    uint64_t now;
    store(&program->rows_epoch, 0);
    if (program->rows) /* else the memory is new */
        memset(program->index, 0, sizeof program->index);
    program->first[0] = (struct trace_routines_row){.routine = key_of(0)};
    program->rows = 1;
    program->depth = 0;
    program->refused = 0;
    store(&program->clock.context, context_word(0, first));
    store(&program->since, read_program_clock(program, &now));
    __atomic_store_n(&program->rows_epoch, epoch, __ATOMIC_RELEASE); /* a reader finds no rows of before */
}

/* Without counting, nothing is counted now. */
static __attribute__((noinline)) bool begin_counting(void)
{
    const int64_t address = has_no_memory ? -E_NO_MEMORY : sys_routines_map(FIRST_PAGES);
    if (address <= 0) {
        has_no_memory = address != -E_NOT_FOUND; /* that is: just being switched */
        return false;
    }
    own = (struct trace_program *)(uintptr_t)address;
    begin_anew(own, load(&own->epoch));
    return true;
}

static inline bool is_counting(const struct trace_program *program)
{
    return program && load(&program->rows_epoch) == load(&program->epoch);
}

/* ---- Rows ---- */

/* The place of the next row, in units; 0: there is no memory for it. */
static uint32_t place_of_next(const struct trace_program *program)
{
    const uint32_t place = trace_program_row_place(program->rows), page = place / TARN_PAGE_SIZE;
    if (page >= TRACE_PROGRAM_PAGES || (page >= program->pages && sys_routines_map(page + 1) < 0))
        return 0;
    return place / TRACE_PROGRAM_UNIT;
}

static uint32_t add_row(struct trace_program *program, uint32_t context, uint16_t *entry)
{
    const uint32_t unit = place_of_next(program);
    if (!unit)
        return 0;
    struct trace_routines_row *row = row_at(program, unit);
    if (row->routine) /* else the memory is new */
        *row = (struct trace_routines_row){0};
    row->routine = key_of(context);
    row->min = UINT64_MAX;
    *entry = (uint16_t)unit;
    __atomic_store_n(&program->rows, program->rows + 1, __ATOMIC_RELEASE); /* a reader finds the row */
    return unit;
}

/* 0: there is no memory for another row. */
static uint32_t find_row(struct trace_program *program, uint32_t context)
{
    for (uint32_t i = context;; i++) {
        uint16_t *entry = &program->index[i % TRACE_PROGRAM_INDEX];
        if (!*entry)
            return add_row(program, context, entry);
        if (row_at(program, *entry)->routine == key_of(context))
            return *entry;
    }
}

/* ---- Enter and leave ---- */

/* Gives the time until now to the routine that the thread was in. The word for the kernel was set right after
 * the clock was read: what the kernel does in between is in the time of the one routine, and in its rows of
 * the other. */
static inline void give_time(struct trace_program *program, struct trace_routines_row *row, uint64_t clock)
{
    const uint64_t elapsed = clock - program->since;
    store(&program->since, clock);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* a reader that sees the time in the row sees that it moved */
    row->own += elapsed;
}

static inline void enter(struct trace_program *program, uint32_t depth, uint32_t context, uint32_t unit)
{
    uint64_t now;
    const uint64_t from = load(&program->clock.context), clock = read_program_clock(program, &now);
    store(&program->clock.context, context_word(context, unit));
    program->depth = depth + 1;
    program->stack[depth].since = now;
    program->stack[depth].from = from;
    row_at(program, unit)->begun++;
    give_time(program, row_at(program, (uint32_t)(from >> UNIT_SHIFT)), clock);
}

/* Its row is not where it is found at once, or not there yet, or may not be. */
static __attribute__((noinline)) void enter_slowly(uint32_t context)
{
    if (!is_counting(own) && !begin_counting())
        return;
    const uint32_t depth = own->depth,
                   unit = depth < TRACE_PROGRAM_DEPTH && context ? find_row(own, context) : 0;
    if (unit) {
        enter(own, depth, context, unit);
        return;
    }
    if (depth < TRACE_PROGRAM_DEPTH)
        own->stack[depth].from = REFUSED;
    own->depth = depth + 1;
    own->refused++;
}

void routine_enter(uint32_t context)
{
    struct trace_program *program = own;
    if (__builtin_expect(!is_counting(program) || program->depth >= TRACE_PROGRAM_DEPTH, 0)) {
        enter_slowly(context);
        return;
    }
    const uint32_t unit = program->index[context % TRACE_PROGRAM_INDEX];
    if (__builtin_expect(row_at(program, unit)->routine != key_of(context),
                         0)) /* unit 0 has the key of no row */
        enter_slowly(context);
    else
        enter(program, program->depth, context, unit);
}

/* `limit`: times up to that are neither the greatest nor in the last bucket. */
static __attribute__((noinline)) void raise_greatest(struct trace_routines_row *row, uint64_t elapsed)
{
    const uint64_t last = (1ull << (TRACE_TABLE_BUCKETS - 1)) - 1;
    if (elapsed > row->max)
        row->max = elapsed;
    row->limit = row->max < last ? row->max : last;
}

static inline void count(struct trace_routines_row *row, uint64_t elapsed)
{
    uint32_t bucket = 63 ^ (uint32_t)__builtin_clzll(elapsed | 1);
    if (__builtin_expect(elapsed > row->limit, 0)) {
        raise_greatest(row, elapsed);
        bucket = bucket < TRACE_TABLE_BUCKETS ? bucket : TRACE_TABLE_BUCKETS - 1;
    }
    if (elapsed < row->min)
        row->min = elapsed;
    row->times[bucket]++;
    if (row->begun - row->ended++ == 1) /* the outermost */
        row->total += elapsed;
}

static inline void leave(struct trace_program *program, uint32_t depth)
{
    uint64_t now;
    struct trace_routines_row *row = row_at(program, (uint32_t)(program->clock.context >> UNIT_SHIFT));
    const uint64_t clock = read_program_clock(program, &now);
    store(&program->clock.context, program->stack[depth].from);
    give_time(program, row, clock);
    count(row, now - program->stack[depth].since);
}

void routine_leave(void)
{
    struct trace_program *program = own;
    if (__builtin_expect(!program || !program->depth, 0))
        return;
    const uint32_t depth = --program->depth;
    if (__builtin_expect(depth < TRACE_PROGRAM_DEPTH && program->stack[depth].from != REFUSED, 1))
        leave(program, depth);
}

/* ---- Numbers ---- */

bool routine_number_holds(uint64_t number)
{
    return own && number / TRACE_CONTEXTS == load(&own->epoch);
}

uint64_t routine_number(uint64_t known, const char *name, const void *function)
{
    if ((!is_counting(own) && !begin_counting()) || routine_number_holds(known))
        return known;
    const int64_t number = sys_routine_name(name ? name : "", (uintptr_t)function);
    return number > 0 ? (uint64_t)number : load(&own->epoch) * TRACE_CONTEXTS;
}
