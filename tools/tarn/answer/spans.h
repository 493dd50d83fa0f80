/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/spans.h - what activities (model.h: frames) add up to, and which took longest.
 *
 * Answers about system calls, faults and interrupts differ in what they count by; what they count is this.
 */
#ifndef TARN_SPANS_H
#define TARN_SPANS_H

#include <tools/tarn/answer/answer.h>
#include <tools/tarn/answer/map.h>

/* All zero: empty. Ticks. */
struct span {
    uint64_t count; /* of those that were seen whole or in part */
    uint64_t errors;
    uint64_t total;            /* from begin to end */
    uint64_t own;              /* of that: its thread ran, in no other activity inside it */
    uint64_t inside;           /* of that: its thread ran, in activities inside it */
    struct distribution whole; /* durations of those that were seen whole */
};

/* ARENA: of the distribution. */
void span_add(struct span *span, struct arena *arena, const struct model_frame *frame, uint64_t end,
              bool is_error);

/* Columns of a table; what is left of the total, the thread waited. */
/* clang-format off */
#define SPAN_COLUMNS(count_key)                                                                       \
    COUNT_COLUMN(count_key), TIME_COLUMN("total_ns"), TIME_COLUMN("own_ns"), TIME_COLUMN("inside_ns"), \
    TIME_COLUMN("waiting_ns"), TIME_SMALLEST("min_ns"), TIME_OF_ONE("mean_ns"),                       \
    TIME_OF_ONE("p50_ns"), TIME_OF_ONE("p90_ns"), TIME_OF_ONE("p99_ns"), TIME_LARGEST("max_ns")
/* clang-format on */
/* The place of the total among columns that end with these. */
#define SPAN_BY_TOTAL(columns) (int)(sizeof(columns) / sizeof((columns)[0]) - SPAN_COLUMN_COUNT + SPAN_TOTAL)
enum { SPAN_COUNT, SPAN_TOTAL, SPAN_OWN, SPAN_INSIDE, SPAN_WAITING, SPAN_MIN, SPAN_COLUMN_COUNT = 11 };
void span_merge(struct span *into, struct arena *arena, const struct span *from);
void span_fill(const struct span *span, const struct schema *schema, struct table_row *row,
               unsigned first_column);

/* Spans are kept in a map with keys of what it is, the number of the thread, and the rank of the processor
 * (or 0). A table groups them: */
enum spans_by {
    SPANS_BY_WHAT,
    SPANS_BY_PROCESS,
    SPANS_BY_THREAD,
    SPANS_BY_CPU,
    SPANS_BY_USE /* what, process */
};
/* What to call a row's WHAT; TEXT has room for what is not a constant. */
typedef const char *span_name(const struct answer *answer, uint64_t what, char text[ANSWER_NAME_BYTES]);
/* A row for each group; the columns "number" (what), "pid", "tid", "cpu", "what" (its name) and "errors" are
 * filled where the table has them, and SPAN_COLUMNS. */
void spans_fill(struct answer *answer, struct table *table, const struct map *spans, enum spans_by by,
                span_name *name);
/* All of them as a histogram. */
void spans_histogram(struct answer *answer, struct table *table, const struct map *spans);

/* The longest of many, at most LONGEST_KEPT: a heap with the shortest on top. */
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
/* Longest first; no more can be added. */
void longest_sort(struct longest_list *list);

/* Columns that every table of them begins with: when, how long, who. */
/* clang-format off */
#define LONGEST_COLUMNS                                                                \
    WHEN_COLUMN("at_ns"), TIME_COLUMN("duration_ns"),              \
    NUMBER_COLUMN("tid"), NUMBER_COLUMN("pid"), TEXT_COLUMN("thread")
/* clang-format on */
enum { LONGEST_AT, LONGEST_DURATION, LONGEST_TID, LONGEST_PID, LONGEST_THREAD, LONGEST_COLUMN_COUNT };
void longest_fill(const struct answer *answer, struct table *table, struct table_row *row,
                  const struct longest *item);

#endif
