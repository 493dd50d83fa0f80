/*
 * moment.h - copies of the tables of counters of all CPUs, or of all tables of routines, read from any source
 * (source/source.h).
 *
 * The tables are those that this program knows, trace_table_list, so the guest must have the same schema.
 *
 * The guest goes on while they are copied: each row is of one moment, or known not to be, and
 * the moments of two rows differ. A row that was moved meanwhile (trace/format/table.h) is in a copy once, or
 * `moving` says that this could not be had. A copy is in this machine's byte order. Its contents are
 * untrusted.
 */
#pragma once

#include <tools/tarn/tables/routines.h>
#include <trace/events.h>
#include <trace/ring/table_read.h>

/* Of a CPU's tables, from TRACE_TABLES_OFFSET to the counts behind the last one. */
#define MOMENT_BYTES (trace_table_list[0].moves_ended + 8ull)

struct moment {
    unsigned cpu_count;
    uint64_t clock[WIRE_CPUS_MAX]; /* ticks when a CPU's tables were copied; 0: unknown */
    double time;                   /* now_seconds() when that began */
    struct routines routines;      /* in place of the CPUs' tables */
    bool moving[WIRE_CPUS_MAX];    /* rows may be in the CPU's copy twice, or not at all */
    uint64_t *area[WIRE_CPUS_MAX]; /* MOMENT_BYTES of each CPU */
};

/* The table with that name; NULL: there is none. */
const struct trace_table_info *tables_find(const char *name);

/* Reads the tables of CPUs, or those of routines. False: FAIL, and nothing to free. */
bool moment_read(struct moment *moment, struct source *source, bool of_routines, struct fail *fail);
void moment_free(struct moment *moment);

/* The CPU's ring for readers (trace/ring/table_read.h), which has nothing but the tables. */
const char *moment_ring(const struct moment *moment, unsigned cpu);
/* A word of the table's head on that CPU. */
uint64_t moment_head(const struct moment *moment, unsigned cpu, const struct trace_table_info *table,
                     enum trace_table_head_word word);
