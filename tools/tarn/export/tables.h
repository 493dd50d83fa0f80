/* SPDX-License-Identifier: BSD-2-Clause */
/* tables.h - the relations of a trace (relation/relation.h), written in one walk by csv.c and sqlite.c. */
#ifndef TARN_EXPORT_TABLES_H
#define TARN_EXPORT_TABLES_H

#include <tools/tarn/export/export.h>
#include <tools/tarn/relation/relations.h>

struct tables;

/* Failures are reported by export_fail. TABLE is the relation's place in the catalog. */
struct table_writer {
    bool (*open)(struct tables *tables, struct fail *fail);
    void (*row)(struct tables *tables, unsigned table, const struct value *values);
    void (*finish)(struct tables *tables); /* after the last row */
    void (*close)(struct tables *tables);  /* frees everything; called even if `open` was not */
};

/* The state of these formats begins with this. */
struct tables {
    struct export export;
    const struct table_writer *writer;
    struct catalog catalog;
    struct relations relations;
    struct table_sink *sinks; /* by place in the catalog */
    struct value *values;     /* of the current row */
    struct map places;        /* set of places by process and address; written when executables are known */
};

/* For a kind's open, finish and close. */
bool tables_open(struct tables *tables, const struct table_writer *writer, struct fail *fail);
void tables_finish(struct analysis *analysis);
void tables_close(struct analysis *analysis);

#endif
