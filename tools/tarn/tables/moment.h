/*
 * moment.h - copies of the tables of counters of all CPUs, or of all tables of routines, read from any source
 * (source/source.h).
 *
 * The tables are those that this program knows, trace_table_list, so the guest must have the same schema.
 *
 * The guest goes on while they are copied: each row is of one moment, or known not to be, and
 * the moments of two rows differ. A row that was moved meanwhile (trace/format/table.h) is in a copy once, or
 * `moving` says that this could not be had. A copy is in this machine's byte order. Sizes are checked, and
 * that rows fit. Other values are only numbers.
 */
#pragma once

#include <tools/tarn/source/source.h>
#include <trace/events.h>
#include <trace/format/routine.h>
#include <trace/print/routines.h>
#include <trace/ring/table_read.h>

struct routines_copy {
    struct trace_routines head;
    struct trace_routines_row *rows; /* head.rows */
};

struct routines {
    struct wire_hello hello;      /* where they were copied */
    uint64_t moment;              /* ticks when the first one was copied; 0: there is none */
    struct routines_copy *copies; /* in order of serial number */
    size_t count;
    uint64_t rows;                    /* of all of them, when they were read */
    struct trace_routine_names names; /* of routines of programs; allocated */
};

/* Copies all tables. Each is of one moment, but for rows with more updates begun than ended. Tables before
 * damage in guest memory are kept, and the damage reported. False: FAIL, and nothing to free. */
bool routines_read(struct routines *routines, struct source *source, struct fail *fail);
/* Drops the tables of other processes; UINT64_MAX: of none. */
void routines_keep(struct routines *routines, uint64_t pid);
void routines_free(struct routines *routines);
/* Take a table, whose rows are freed later, and the next name, in the byte order of SOURCE. False: FAIL. */
bool routines_append(struct routines *routines, const struct routines_copy *copy, struct fail *fail);
bool routines_append_name(struct routines *routines, const struct source *source,
                          const struct trace_routine *name, struct fail *fail);
/* The same from guest memory. False: FAIL; tables before damage have been appended. */
bool routines_read_memory(struct routines *routines, struct source *source, struct fail *fail);

/* Replaces characters that ASCII cannot print or that are in REFUSED. */
void make_plain(char *text, const char *refused);
/* For the user, if a source has none. */
#define ROUTINES_ARE_OFF "routines are not counted: `tarn ctl SOURCE routines on` counts them from then on"

/* The name of whose table it is: "sh", "sh (ended threads)". */
#define ROUTINES_NAME_BYTES 48
const char *routines_name(const struct trace_routines *head, char name[ROUTINES_NAME_BYTES]);

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

/* Reads the tables of CPUs, or those of routines. False: FAIL, and nothing to free. */
bool moment_read(struct moment *moment, struct source *source, bool of_routines, struct fail *fail);
void moment_free(struct moment *moment);

/* The CPU's ring for readers (trace/ring/table_read.h), which has nothing but the tables. */
const char *moment_ring(const struct moment *moment, unsigned cpu);
/* A word of the table's head on that CPU. */
static inline uint64_t moment_head(const struct moment *moment, unsigned cpu,
                                   const struct trace_table_info *table, enum trace_table_head_word word)
{
    return moment->area[cpu][table->offset / 8 + word];
}
