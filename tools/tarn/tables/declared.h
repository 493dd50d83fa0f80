/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * declared.h - the tables of counters that a system has (trace/format/table.h), from the comment in its
 * metadata (FORMAT.md, "Tables").
 *
 * The metadata are untrusted: a list that is accepted leads nowhere outside of an area of declared->bytes.
 */
#ifndef TARN_TABLES_DECLARED_H
#define TARN_TABLES_DECLARED_H

#include <tools/tarn/tarn.h>
#include <trace/format/table.h>

#define DECLARED_MAX 64u /* tables */

struct declared {
    unsigned count;
    uint64_t bytes; /* of a CPU's area, from TRACE_TABLES_OFFSET to the end of the last table and counts */
    struct trace_table_info tables[DECLARED_MAX]; /* their pointers lead into this structure: it stays */
    const char *adds[DECLARED_MAX];               /* names; of each table, the one that it adds, or NULL */
    struct arena arena;
};

/* Reads the list in TEXT, the metadata. False: FAIL, and nothing to free. */
bool declared_read(struct declared *declared, const char *text, size_t length, struct fail *fail);
void declared_free(struct declared *declared);
const struct trace_table_info *declared_find(const struct declared *declared, const char *name); /* or NULL */

#endif
