/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * relations.h - a trace as tables of rows, for csv.c and sqlite.c.
 *
 * First come the tables of `enum relation`, from the model; then one table for each event type, with the
 * same name, the context columns and the event's fields. The context columns have LTTng's names (cpu_id,
 * vpid, vtid, procname), because events often have their own fields pid, tid, cpu. Times are nanoseconds on
 * the trace's clock. A thread's number is unique in the trace, whereas all idle threads have tid 0.
 */
#ifndef TARN_RELATIONS_H
#define TARN_RELATIONS_H

#include <tools/tarn/analysis/functions.h>
#include <tools/tarn/export/export.h>
#include <tools/tarn/map.h>
#include <tools/tarn/symbols/symbols.h>

enum relation {
    RELATION_TRACE,
    RELATION_PROCESS,
    RELATION_THREAD,
    RELATION_STATE,
    RELATION_ACTIVITY,
    RELATION_CALL,
    RELATION_LOCK_CLASS,
    RELATION_IRQ,
    RELATION_PLACE,
    RELATIONS
};

#define DERIVED_MAX 4u /* per event */

/* An additional column of an event's table. */
struct derived {
    const struct field *field;
    const char *column;
};

struct relation_table {
    const char *name;
    const char **columns;
    bool *is_text; /* by column */
    unsigned column_count;
};

struct relations;

/* Failures are reported by export_fail. */
struct relation_writer {
    bool (*open)(struct relations *relations, struct fail *fail);
    void (*row)(struct relations *relations, unsigned table, const struct value *values);
    void (*finish)(struct relations *relations); /* after the last row */
    void (*close)(struct relations *relations);  /* frees everything; called even if `open` was not */
};

/* The state of these formats begins with this. */
struct relations {
    struct export export;
    const struct relation_writer *writer;
    struct relation_table *tables; /* RELATIONS of them, then by event index */
    unsigned table_count;
    struct value *values; /* of the current row */
    struct activity_names names;
    struct functions functions;             /* names of calls */
    struct derived (*derived)[DERIVED_MAX]; /* by event index */
    unsigned *derived_count;
    const struct field **ips; /* by event index: the field with the program's address; NULL: none */
    /* set of rows by process and address; written at the end, when executables are known */
    struct map places;
};

/* For a kind's open, finish and close. */
bool relations_open(struct relations *relations, const struct relation_writer *writer, struct fail *fail);
void relations_finish(struct analysis *analysis);
void relations_close(struct analysis *analysis);

#endif
