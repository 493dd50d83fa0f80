/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/export/relations.h - a trace as tables of rows, for csv.c and sqlite.c.
 *
 * First the tables of `enum relation`, what the model finds; then one for each kind of event, named like it,
 * with what stands before each event and then its fields. The context's names are those of LTTng (cpu_id,
 * vpid, vtid, procname), because an event's own fields are often called pid, tid, cpu. Times are nanoseconds
 * on the trace's clock. A thread's number is its own in the trace: idle threads all have tid 0.
 */
#ifndef TARN_RELATIONS_H
#define TARN_RELATIONS_H

#include <tools/tarn/answer/functions.h>
#include <tools/tarn/answer/map.h>
#include <tools/tarn/export/derived.h>
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

struct relation_table {
    const char *name;
    const char **columns;
    bool *is_text; /* by column */
    unsigned column_count;
};

struct relations;

/* Where rows go. Failures: export_fail. */
struct relation_writer {
    bool (*open)(struct relations *relations, struct fail *fail);
    void (*row)(struct relations *relations, unsigned table, const struct value *values);
    void (*finish)(struct relations *relations); /* all rows are there */
    void (*close)(struct relations *relations);  /* gives back what it holds; whether opened or not */
};

/* The state of a format of this kind begins with it. */
struct relations {
    struct export export;
    const struct relation_writer *writer;
    struct relation_table *tables; /* RELATIONS, then by event index */
    unsigned table_count;
    struct value *values; /* of the row at hand */
    struct activity_names names;
    struct functions functions;             /* of calls */
    struct derived (*derived)[DERIVED_MAX]; /* by event index */
    unsigned *derived_count;
    const struct field **ips; /* by event index: where the program was; NULL: the event does not say */
    struct map places;        /* whether there is a row, by process and address; images are known late */
    struct arena arena;
};

/* For a kind's open, finish and close. */
bool relations_open(struct relations *relations, const struct relation_writer *writer, struct fail *fail);
void relations_finish(struct answer *answer);
void relations_close(struct answer *answer);

#endif
