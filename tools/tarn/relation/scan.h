/*
 * scan.h - the rows of one relation, one by one, in order of time.
 *
 * A scan of events seeks to its range and reads only the streams that it needs. For the model's relations a
 * scan steps the model event by event, from the checkpoint before its range on (index/index.h) or from
 * the start of the trace, and holds the rows of one event. Those come mostly in the order in which they end.
 */
#pragma once

#include <signal.h>
#include <tools/tarn/buffer.h>
#include <tools/tarn/index/index.h>
#include <tools/tarn/relation/relation.h>

/* COLUMN is VALUE, a number or a text. */
struct scan_condition {
    unsigned column;
    struct value value;
};

#define SCAN_CONDITIONS 8u

/* The part that the caller needs. Rows outside of it may come all the same. */
struct scan_limits {
    int64_t from_ns, to_ns; /* begin in from <= ts <= to; all: INT64_MIN, INT64_MAX */
    uint64_t columns;       /* bit N: column N is used; the last bit stands for all further ones */
    struct scan_condition conditions[SCAN_CONDITIONS];
    unsigned condition_count;
};

struct scan_source {
    const struct trace *trace;
    const struct filter *filter;
    struct symbols *symbols;           /* or NULL */
    struct relations *final;           /* with a finished model: for relations from SOURCE_STREAMS on */
    const volatile sig_atomic_t *stop; /* a scan ends when it is set */
    struct reporter *reporter;         /* or NULL */
    const struct losses *losses;       /* for SOURCE_TRACE; NULL: unknown */
};

/* Opens MODEL for the filter's range with an analysis_plain, and MERGE for a walk of all from BEGIN (ticks)
 * on. */
struct analysis *scan_walk_open(const struct scan_source *source, uint64_t begin, struct model *model,
                                struct merge *merge);

struct scan;
/* FAIL: the model cannot be opened. */
struct scan *scan_open(const struct scan_source *source, const struct relation *relation,
                       const struct scan_limits *limits, struct fail *fail);
void scan_close(struct scan *scan);
/* Moves to the next row; false: there is none. */
bool scan_next(struct scan *scan);
/* Returns a value of the row; its text is valid until the next call. */
struct value scan_value(struct scan *scan, unsigned column);
