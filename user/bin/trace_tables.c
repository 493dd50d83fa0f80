/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_tables.c - prints tables of counters; see trace_tables.h. They are read where they are mapped. */
#include <stdio.h>
#include <stdlib.h>
#include <tarn/abi.h>

#include <arch/trace.h>
#include <trace/print/tables.h>
#include <user/bin/trace_tables.h>
#include <user/bin/util.h>

#define ROWS_SHOWN 1000u

static const char *ring_at(uint32_t cpu)
{
    return (const char *)(USER_TRACE_RINGS + ((uint64_t)cpu << TRACE_RING_SHIFT));
}

static void put_text(const char *text)
{
    fputs(text, stdout);
}

int show_tables(const char *name)
{
    static struct trace_table_print print = {.ring_of = ring_at, .put = put_text, .capacity = ROWS_SHOWN};
    const struct trace_info *info = arch_trace_info();
    const struct trace_table_info *table = name ? trace_table_named(name) : NULL;
    if (name && !table)
        return refuse("'%s': no table has that name; `trace tables` lists them", name);
    if (info->table_bytes == 0)
        return refuse("this system has no tables of counters: for so many CPUs it has not enough memory");
    print.cpu_count = info->cpu_count;
    print.clock_hz = info->clock_hz;
    if (!table)
        return trace_tables_list(&print), 0;
    print.rows = malloc(ROWS_SHOWN * TRACE_TABLE_ROW_WORDS_MAX * sizeof *print.rows);
    print.order = malloc(ROWS_SHOWN * sizeof *print.order);
    if (print.rows && print.order)
        trace_table_print(&print, table);
    else
        complain("no memory for the rows");
    const int status = print.rows && print.order ? 0 : 1;
    free(print.rows);
    free(print.order);
    return status;
}
