/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spans.h - adds up activities (model.h: frames), and keeps the longest.
 *
 * The analyses of system calls, faults and interrupts group them differently, but count the same.
 */
#ifndef TARN_SPANS_H
#define TARN_SPANS_H

#include <tools/tarn/analysis/rows.h>
#include <tools/tarn/map.h>

/* Times are in ticks. All zero: empty. */
struct span {
    uint64_t count; /* seen completely or partly */
    uint64_t errors;
    uint64_t total;            /* from begin to end */
    uint64_t own;              /* part of `total`: its thread ran, in no inner activity */
    uint64_t inside;           /* part of `total`: its thread ran in inner activities */
    struct distribution whole; /* durations of those seen completely */
};

/* ARENA is for the distribution. */
void span_add(struct span *span, struct arena *arena, const struct model_frame *frame, uint64_t end,
              bool is_error);

/* The columns of a table; the rest of the total is waiting time. */
/* clang-format off */
#define SPAN_COLUMNS(count_key)                                                                       \
    COUNT_COLUMN(count_key), TIME_COLUMN("total_ns"), TIME_COLUMN("own_ns"), TIME_COLUMN("inside_ns"), \
    TIME_COLUMN("waiting_ns"), TIME_SMALLEST("min_ns"), TIME_OF_ONE("mean_ns"),                       \
    TIME_OF_ONE("p50_ns"), TIME_OF_ONE("p90_ns"), TIME_OF_ONE("p99_ns"), TIME_LARGEST("max_ns")
/* clang-format on */
enum { SPAN_COUNT, SPAN_TOTAL, SPAN_OWN, SPAN_INSIDE, SPAN_WAITING, SPAN_MIN, SPAN_COLUMN_COUNT = 11 };

/* How a table groups spans. They are in a map, keyed by
 * what they are, thread number, and rank of the CPU (or 0). */
enum spans_by {
    SPANS_BY_WHAT,
    SPANS_BY_PROCESS,
    SPANS_BY_THREAD,
    SPANS_BY_CPU,
    SPANS_BY_USE /* by what and process */
};
/* Returns the name of WHAT, a constant or in TEXT. */
typedef const char *span_name(const struct analysis *analysis, uint64_t what, char text[ANALYSIS_NAME_BYTES]);
/* Adds a row for each group. Fills SPAN_COLUMNS, and the columns "number" (what), "pid", "tid", "cpu",
 * "what" (its name) and "errors" if the table has them. */
void spans_fill(struct analysis *analysis, struct table *table, const struct map *spans, enum spans_by by,
                span_name *name);
/* Fills the histogram of the distributions in all records of MAP, which are AT bytes from their start. */
void map_histogram(struct analysis *analysis, struct table *table, const struct map *map, size_t at);

/* The longest spans, at most LONGEST_KEPT: a heap with the shortest on top. */
#define LONGEST_KEPT 100u

struct longest {
    uint64_t ticks, begin;
    const struct model_thread *thread;
    uint64_t what;
    uint64_t args[2];
    int64_t result;
};

struct longest_list {
    struct longest items[LONGEST_KEPT];
    unsigned count;
};

void longest_add(struct longest_list *list, const struct longest *item);
void longest_sort(struct longest_list *list); /* longest first */

/* The first columns of every table of longest spans: when, how long, which thread. */
/* clang-format off */
#define LONGEST_COLUMNS                                                                \
    WHEN_COLUMN("at_ns"), TIME_COLUMN("duration_ns"),              \
    NUMBER_COLUMN("tid"), NUMBER_COLUMN("pid"), TEXT_COLUMN("thread")
/* clang-format on */
enum { LONGEST_AT, LONGEST_DURATION, LONGEST_TID, LONGEST_PID, LONGEST_THREAD, LONGEST_COLUMN_COUNT };
/* Adds a row with a name, and fills its other columns. */
typedef struct table_row *longest_row(struct analysis *analysis, struct table *table,
                                      const struct longest *item);
/* Adds a row for each item, longest first; nothing can be added to the list afterwards. */
void longest_rows(struct analysis *analysis, struct table *table, struct longest_list *list,
                  longest_row *add_row);

#endif
