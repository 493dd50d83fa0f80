/* routine_tables.h - for tests of tables of routines: finds a table, and adds its rows. */
#pragma once

#include "tap.h"

#include <arch/trace.h>
#include <tarn/syscall.h>
#include <tarn/trace_control.h>
#include <user/tarnprof/tarnprof.h>

static struct tarnprof table; /* the one that was read last */

/* Reads the next of `of`; ends the test if the kernel refuses. */
static inline bool next(cap_t of)
{
    const int result = tarnprof_next(&table, of);
    if (result < 0) {
        printf("Bail out! routines_read: %d\n", result);
        exit(2);
    }
    return result > 0;
}

/* Reads the first table of the own process of that kind; of threads, that of the calling one. */
static inline bool read_own(enum trace_routines_of kind)
{
    table.serial = 0;
    while (next(TARNPROF_OWN))
        if (table.head->of == kind &&
            (kind != TRACE_ROUTINES_THREAD || table.head->tid == arch_thread_block()->tid))
            return true;
    return false;
}

static inline struct trace_routines_row row_of(enum trace_routine_kind kind, uint64_t argument,
                                               uint32_t context)
{
    const struct trace_routines_row *row = table.head ? tarnprof_find(&table, kind, argument, context) : NULL;
    return row ? *row : (struct trace_routines_row){0};
}

/* Whether exclusive times add up to the life, and none is negative. */
static inline bool adds_up(void)
{
    uint64_t time = 0;
    bool is_small = true;
    for (uint32_t i = 0; i < table.head->rows; i++) {
        if (trace_routine_kind(table.rows[i].routine) == TRACE_ROUTINE_SERVED)
            continue;
        time += table.rows[i].own;
        is_small = is_small && table.rows[i].own <= table.head->life;
    }
    if (time != table.head->life || !is_small)
        printf("# %s/%u of %u: life %llu, rows %llu\n", table.head->name, (unsigned)table.head->tid,
               (unsigned)table.head->of, (unsigned long long)table.head->life, (unsigned long long)time);
    return time == table.head->life && is_small;
}

static inline int64_t switch_routines(uint64_t level)
{
    return sys_trace_control(SLOT_TRACE, TRACE_OP_SET_ROUTINES, level, 0);
}
