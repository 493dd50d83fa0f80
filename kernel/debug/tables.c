/* SPDX-License-Identifier: BSD-2-Clause */
/* tables.c - command tables: the tables of counters, of all CPUs together. */
#include "trace/events.h" /* generated */
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/lock.h>
#include <kernel/debug/debug.h>
#include <kernel/kernel.h>
#include <kernel/trace/control.h>
#include <trace/print/tables.h>

#define ROWS_SHOWN 16u

static uint64_t rows[ROWS_SHOWN * TRACE_TABLE_ROW_WORDS_MAX];
static uint16_t order[ROWS_SHOWN];

static const char *ring_of(uint32_t cpu)
{
    return trace_ring(cpu);
}

static const char *name_found;

static void match_class(struct lock_class *class, void *number)
{
    if (class->number == *(uint64_t *)number)
        name_found = class->name;
}

static const char *name_of(const char *key, uint64_t value)
{
    name_found = NULL;
    if (!strcmp(key, "lock_class"))
        lock_class_for_each(match_class, &value);
    return name_found;
}

static void put_text(const char *text)
{
    debug_print("%s", text);
}

const char *debug_table_nth(uint32_t index)
{
    return index < TRACE_TABLE_COUNT ? trace_table_list[index].name : NULL;
}

void debug_tables(const struct debug_words *words)
{
    static struct trace_table_print print = {.ring_of = ring_of,
                                             .put = put_text,
                                             .name_of = name_of,
                                             .rows = rows,
                                             .order = order,
                                             .capacity = ROWS_SHOWN};
    const struct trace_table_info *table = words->count > 1 ? trace_table_named(words->word[1]) : NULL;
    if (words->count > 1 && !table) {
        debug_print("no table %s\n", words->word[1]);
        return;
    }
    if (trace_info_page.table_bytes == 0) {
        debug_print("there are no tables\n");
        return;
    }
    print.cpu_count = trace_info_page.cpu_count;
    print.clock_hz = trace_info_page.clock_hz;
    if (table)
        trace_table_print(&print, table);
    else
        trace_tables_list(&print);
}
