/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/ring/profile_copy.h - completes a copy of a profile's rows (trace/format/profile.h): with what is
 * open at its moment, and with the program's own time. For the kernel, and for readers of its memory.
 *
 * The copy has space for OPEN_ROUTINES_MAX + 1 more rows. Any contents are safe; sums may wrap.
 */
#ifndef TRACE_RING_PROFILE_COPY_H
#define TRACE_RING_PROFILE_COPY_H

#include <trace/format/profile.h>

struct trace_profile_copy {
    struct trace_profile *head; /* its `rows` and `life` are valid */
    struct trace_profile_row *rows;
    uint64_t now; /* the moment */
};

static inline struct trace_profile_row *trace_profile_row_of(struct trace_profile_copy *copy, uint64_t key)
{
    for (uint32_t i = 0; i < copy->head->rows; i++)
        if (copy->rows[i].key == key)
            return &copy->rows[i];
    struct trace_profile_row *row = &copy->rows[copy->head->rows++];
    *row = (struct trace_profile_row){.key = key, .least = ~0ull};
    return row;
}

/* What a living thread is inside of, up to now. */
static inline void trace_profile_add_open(struct trace_profile_copy *copy, uint64_t born,
                                          const struct open_routines *open, uint64_t context)
{
    for (uint32_t i = 0; i < open->depth && i < OPEN_ROUTINES_MAX; i++) {
        const struct open_routine *routine = &open->at[i];
        const uint64_t inner =
            i + 1 < open->depth && i + 1 < OPEN_ROUTINES_MAX ? open->at[i + 1].since : copy->now;
        if (routine->since >= born && inner >= routine->since)
            trace_profile_row_of(copy, routine->key | context << TRACE_PROFILE_CONTEXT_SHIFT)->exclusive +=
                inner - routine->since - routine->nested;
    }
}

/* The exclusive times of all rows so far. */
static inline uint64_t trace_profile_time(const struct trace_profile_copy *copy)
{
    uint64_t time = 0;
    for (uint32_t i = 0; i < copy->head->rows; i++)
        if (trace_routine_kind(copy->rows[i].key) != TRACE_ROUTINE_SERVED)
            time += copy->rows[i].exclusive;
    return time;
}

/* The rest of its life is the program's. */
static inline void trace_profile_add_program(struct trace_profile_copy *copy)
{
    const uint64_t time = copy->head->life - trace_profile_time(copy);
    trace_profile_row_of(copy, trace_routine_key(TRACE_ROUTINE_PROGRAM, 0))->exclusive = time;
}

/* Moves the rows that have any time together. */
static inline void trace_profile_drop_empty(struct trace_profile_copy *copy)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < copy->head->rows; i++) {
        const struct trace_profile_row *row = &copy->rows[i];
        if (row->ended || row->exclusive || trace_routine_kind(row->key) == TRACE_ROUTINE_PROGRAM)
            copy->rows[kept++] = *row;
    }
    copy->head->rows = kept;
}

#endif
