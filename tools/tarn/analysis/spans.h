/* SPDX-License-Identifier: BSD-2-Clause */
/* spans.h - keeps the longest of what lasts, and fills tables with it. */
#ifndef TARN_SPANS_H
#define TARN_SPANS_H

#include <tools/tarn/analysis/rows.h>
#include <tools/tarn/map.h>

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
