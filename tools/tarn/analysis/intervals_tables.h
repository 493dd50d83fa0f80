/* SPDX-License-Identifier: BSD-2-Clause */
/* intervals_tables.h - data of `tarn intervals`: collected in intervals.c, shown by intervals_tables.c. */
#ifndef TARN_INTERVALS_TABLES_H
#define TARN_INTERVALS_TABLES_H

#include <tools/tarn/analysis/kinds.h>
#include <tools/tarn/analysis/pairs.h>
#include <tools/tarn/analysis/spans.h>

enum { BY_GROUP, BY_THREAD, BY_DURATION, BY_LONGEST, BY_OPEN, INTERVALS_TABLES };

struct group {
    uint64_t restarted, not_begun; /* begins without an end, ends without a begin */
    struct distribution durations;
};

/* An interval that has begun and not yet ended. */
struct open_interval {
    uint64_t begin;     /* ticks */
    uint64_t group;     /* with which it is counted */
    uint64_t uncounted; /* of the thread at the begin */
    const struct model_thread *thread;
};

struct intervals {
    struct analysis analysis;
    struct interval_spec spec;
    struct pair pair;
    const struct interval_spec *preset;
    /* NULL: one group. group_of_end is NULL if the end event does not have the group. */
    const struct field *group_field, *group_of_end;
    struct map open;    /* struct open_interval by what begin and end have in common */
    struct map groups;  /* struct group by value */
    struct map threads; /* struct distribution by number of the thread that logged the begin */
    struct longest_list longest;
    uint64_t too_many; /* begins dropped because there were too many */
};

extern const struct table intervals_tables[INTERVALS_TABLES], intervals_totals;

struct group *intervals_group(struct intervals *intervals, uint64_t value, bool is_known);
void intervals_fill(struct analysis *analysis);

#endif
