/*
 * trace/format/era.h - where a ring's packets lie, if their sizes differ (FORMAT.md, "When sizes change").
 *
 * A copy of a ring's eras tells for each packet its first word and its size. The control page is not trusted:
 * trace_eras_check() drops impossible eras.
 */
#pragma once

#include <trace/format/layout.h>

/* A copy of a ring's eras: at least one, the newest first, with the sizes of `geometry`. */
struct trace_eras {
    struct trace_era era[TRACE_ERAS];
    uint32_t count;
    uint64_t ring_words;
};

static inline bool trace_era_makes_sense(const struct trace_era *era, uint64_t ring_words)
{
    return era->words && !(era->words & (era->words - 1)) && era->words <= ring_words &&
           era->words <= TRACE_BUFFER_BYTES_MAX / 8 && !(era->start & (era->words - 1));
}

/* Completes a copy of the control page's table, which may hold anything. */
static inline void trace_eras_check(struct trace_eras *eras, uint64_t geometry)
{
    const uint64_t words = trace_geometry_words(geometry);
    eras->ring_words = words * trace_geometry_buffers(geometry);
    if (eras->era[0].words != words || !trace_era_makes_sense(&eras->era[0], eras->ring_words))
        eras->era[0] = (struct trace_era){.words = words}, eras->era[1].words = 0;
    for (eras->count = 1; eras->count < TRACE_ERAS; eras->count++) {
        const struct trace_era *era = &eras->era[eras->count];
        if (!trace_era_makes_sense(era, eras->ring_words) || era->number > era[-1].number ||
            era->start > era[-1].start)
            break;
    }
}

static inline void trace_eras_load(struct trace_eras *eras, const struct trace_control *control,
                                   uint64_t geometry)
{
    for (uint32_t i = 0; i < TRACE_ERAS; i++) {
        eras->era[i].words = __atomic_load_n(&control->eras[i].words, __ATOMIC_RELAXED);
        if (!eras->era[i].words)
            break;
        eras->era[i].number = __atomic_load_n(&control->eras[i].number, __ATOMIC_RELAXED);
        eras->era[i].start = __atomic_load_n(&control->eras[i].start, __ATOMIC_RELAXED);
    }
    trace_eras_check(eras, geometry);
}

/* The oldest packet that the eras know; older packets are gone. */
static inline uint64_t trace_eras_first(const struct trace_eras *eras)
{
    return eras->era[eras->count - 1].number;
}

static inline const struct trace_era *trace_eras_find(const struct trace_eras *eras, uint64_t number)
{
    uint32_t i = 0;
    while (i + 1 < eras->count && number < eras->era[i].number)
        i++;
    return &eras->era[i];
}

/* Words of packet `number`. */
static inline uint64_t trace_eras_words(const struct trace_eras *eras, uint64_t number)
{
    return trace_eras_find(eras, number)->words;
}

/* First word of packet `number`; of one before the first, the first one's. */
static inline uint64_t trace_eras_start(const struct trace_eras *eras, uint64_t number)
{
    const struct trace_era *era = trace_eras_find(eras, number);
    return number < era->number ? era->start : era->start + (number - era->number) * era->words;
}

/* Number of the first packet that begins at word `start` or later. */
static inline uint64_t trace_eras_number(const struct trace_eras *eras, uint64_t start)
{
    for (uint32_t i = 0; i < eras->count; i++) {
        const struct trace_era *era = &eras->era[i];
        if (start <= era->start)
            continue;
        const uint64_t number = era->number + (start - era->start + era->words - 1) / era->words;
        return i > 0 && number > era[-1].number ? era[-1].number : number;
    }
    return trace_eras_first(eras);
}

/* Number of the packet that the next event goes to: the open one, or the first not yet begun. */
static inline uint64_t trace_eras_head(const struct trace_eras *eras, uint64_t index)
{
    return trace_eras_number(eras, trace_index_head_start(index, eras->era[0].words));
}

/* Number of the newest packet that was begun, closed or open. */
static inline uint64_t trace_eras_newest(const struct trace_eras *eras, uint64_t index)
{
    const uint64_t head = trace_eras_head(eras, index);
    return head > 0 ? head - (index >> 63) : 0;
}

/* The first word that the index has not come round to. */
static inline uint64_t trace_eras_low(const struct trace_eras *eras, uint64_t index)
{
    const uint64_t end = (trace_index_words(index) | (eras->era[0].words - 1)) + 1;
    return end > eras->ring_words ? end - eras->ring_words : 0;
}

/* Number of the oldest packet whose buffer was not taken again. */
static inline uint64_t trace_eras_oldest(const struct trace_eras *eras, uint64_t index)
{
    return trace_eras_number(eras, trace_eras_low(eras, index));
}

static inline bool trace_eras_has_lost(const struct trace_eras *eras, uint64_t index, uint64_t number)
{
    return number < trace_eras_first(eras) || trace_eras_start(eras, number) < trace_eras_low(eras, index);
}

/* Byte of the ring's buffers at which word `word` lies. */
static inline uint64_t trace_eras_place(const struct trace_eras *eras, uint64_t word)
{
    return (word & (eras->ring_words - 1)) * 8;
}

/* The newest era of a ring with buffers of so many words. */
static inline struct trace_era trace_era_now(const struct trace_control *control, uint64_t words)
{
    const struct trace_era era = control->eras[0];
    return era.words == words ? era : (struct trace_era){.words = words};
}
