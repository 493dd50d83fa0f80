/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * routines.c - command routines: prints tables of routines as they are in memory. Open routines are printed
 * beside the thread's rows, which do not have their time yet.
 */
#include <kernel/debug/debug.h>
#include <kernel/diagnosis/routine_rows.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/trace/control.h>
#include <trace/print/app_schema.h>
#include <trace/print/routines.h>

#define ROUTINES_MAX 100000u /* the list may be damaged */
#define ROWS_SHOWN   16u

static const char *const kinds[] = {"thread", "ended", "children", "orphans"};

static const struct trace_event_info *find_info(uint32_t id)
{
    return trace_find_event(trace_app_schemas(), id);
}

static uint64_t in_us(uint64_t ticks)
{
    const uint64_t hz = trace_info_page.clock_hz;
    return hz ? ticks / hz * 1000000 + ticks % hz * 1000000 / hz : 0;
}

static uint32_t rows_of(const struct routine_table *table)
{
    return table->head.count < ROUTINE_ROWS_MAX ? table->head.count : ROUTINE_ROWS_MAX;
}

static const char *name_of(const struct routine_table *table)
{
    return table->thread ? table->thread->block->name : table->space ? table->space->name : "";
}

static const char *routine_of(uint64_t key)
{
    static char name[TRACE_ROUTINE_NAME_BYTES];
    return trace_routine_name(key, find_info, name);
}

/* ---- All ---- */

static void put_table(struct routine_table *table)
{
    const struct thread *thread = table->thread;
    debug_print("%5u %4u %-16.16s %-8s %4u %12lu %12lu %s\n", table->head.tid, table->head.pid,
                name_of(table), kinds[table->head.of % 4], table->head.count,
                in_us(routines_time_in(table, ~TRACE_ROUTINES_OUT)),
                in_us(routines_time_in(table, TRACE_ROUTINES_OUT)),
                thread && thread->routines.depth
                    ? routine_of(thread->routines.at[(thread->routines.depth - 1) % OPEN_ROUTINES_MAX].key)
                    : "");
}

/* ---- One ---- */

/* The row with the most time behind `last`, in descending order; NULL: no more. */
static struct trace_routine_row *next_largest(struct routine_table *table,
                                              const struct trace_routine_row *last)
{
    struct trace_routine_row *found = NULL;
    for (uint32_t i = 0; i < rows_of(table); i++) {
        struct trace_routine_row *row = routine_row(table, i);
        const bool is_behind =
            !last || row->exclusive < last->exclusive || (row->exclusive == last->exclusive && row > last);
        if (is_behind && (row->ended || row->exclusive) && (!found || row->exclusive > found->exclusive))
            found = row;
    }
    return found;
}

static void put_rows(struct routine_table *table)
{
    const struct trace_routine_row *row = NULL;
    uint32_t shown = 0;
    debug_print("      own us      count     total us       max us  routine\n");
    while (shown++ < ROWS_SHOWN && (row = next_largest(table, row)))
        debug_print("%12lu %10lu %12lu %12lu  %s%s\n", in_us(row->exclusive), row->ended,
                    in_us(row->inclusive), in_us(row->greatest), routine_of(row->key),
                    row->begun == row->ended ? "" : " (is updated)");
    for (uint32_t i = 0; table->thread && i < table->thread->routines.depth && i < OPEN_ROUTINES_MAX; i++)
        debug_print("now in %s\n", routine_of(table->thread->routines.at[i].key));
}

void debug_routines(const struct debug_words *words)
{
    const bool is_one = words->count > 1;
    const uint64_t tid = is_one ? debug_number(words->word[1]) : 0;
    uint32_t count = 0, shown = 0;
    if (!routines_epoch) {
        debug_print("routines are not counted\n");
        return;
    }
    if (!is_one)
        debug_print("  tid  pid name             of       rows  in kernel us       out us now in\n");
    for (struct list *link = routine_tables.next; link != &routine_tables && count++ < ROUTINES_MAX;
         link = link->next) {
        struct routine_table *table = list_object(link, struct routine_table, all);
        if (table->head.epoch != routines_epoch || (is_one && (!tid || table->head.tid != tid)))
            continue;
        (is_one ? put_rows : put_table)(table);
        shown++;
    }
    if (is_one && !shown)
        debug_print("thread %lu has no table\n", tid);
}
