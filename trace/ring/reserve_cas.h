/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/ring/reserve_cas.h - the discipline of the logging path: compare-and-swap reserve, counted commit.
 *
 * Idea: K42 (Wisniewski and Rosenburg, SC'03, 3.1). This file alone decides how a writer gets its words and
 * how it says that they are written; a discipline without atomics (restartable sequences) would replace it.
 *
 * Reserve. Window, index, clock, window again, compare-and-swap:
 *   - index before clock: if the swap succeeds nobody reserved since the index was read, so every earlier
 *     event's time was read before ours: timestamps never decrease along a ring;
 *   - the window again after the clock: a thread may be moved to another processor at any instruction. If it
 *     was moved before this check, it starts over; if after, index and clock were both read on the ring's
 *     own processor and the swap judges them. So every timestamp of a ring is a reading of that ring's
 *     processor, whatever the clocks of others say and however loads are reordered with clock readings.
 *   - anything unusual (time limit, buffer's end, moved, lost the race) goes to trace_log_slow().
 *
 * Commit. Data first, then the header word (identity, then time), then the count: a fresh header says that
 * the event is complete; a buffer whose count is full has no hole.
 */
#ifndef TRACE_RING_RESERVE_CAS_H
#define TRACE_RING_RESERVE_CAS_H

/* Words of the ring that belong to an event being written. */
struct trace_slot {
    char *event;                 /* its header word */
    struct trace_packet *packet; /* header of the buffer that holds it */
    uint64_t time;               /* of the event */
};

static inline __attribute__((always_inline)) uint32_t trace_id_length(uint32_t id, uint32_t words)
{
    union {
        struct trace_header header;
        uint32_t half[2];
    } u = {.header = {.id = id, .length = words}};
    return u.half[0];
}

/* From an index to places in the window. Masks come from the info page: whatever the index holds, the place
 * lies in the ring. Info fields are read with plain loads: they change only when the ring is set up anew, and
 * any mixture of old and new values stays within what is mapped. */
static inline __attribute__((always_inline)) void trace_place(struct trace_slot *slot, char *window,
                                                              uint64_t index)
{
    const struct trace_info *info = arch_trace_info();
    char *ring = window + TRACE_BUFFERS_OFFSET;
    slot->event = ring + (index & info->ring_mask) * 8;
    slot->packet = (struct trace_packet *)(ring + (index & info->packet_mask) * 8);
}

/* Reserves `words` for one event, if that is simple; false: trace_log_slow() knows what to do. */
static inline __attribute__((always_inline)) bool trace_reserve(struct trace_slot *slot, uint32_t words)
{
    char *window = arch_trace_window();
    struct trace_control *control = (struct trace_control *)window;
    /* relaxed: the swap below detects any change; nothing is read through the index */
    uint64_t index = __atomic_load_n(&control->index, __ATOMIC_RELAXED);
    TRACE_TEST_POINT(TRACE_AFTER_INDEX_READ);
    uint64_t now = arch_trace_clock();
    uint64_t next = index + words;
    /* the limit only moves forward: an old one sends us the slow way, which reads it again */
    if (__builtin_expect(now > control->time_limit, 0) ||
        __builtin_expect((index ^ next) > arch_trace_info()->buffer_mask, 0) ||
        !arch_trace_same_window(window))
        return false;
    TRACE_TEST_POINT(TRACE_BEFORE_RESERVE);
    /* relaxed: reserving publishes nothing; the commit does. Pairs with the swap of every other writer. */
    if (__builtin_expect(!__atomic_compare_exchange_n(&control->index, &index, next, false, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED),
                         0))
        return false;
    TRACE_TEST_POINT(TRACE_AFTER_RESERVE);
    slot->time = now;
    trace_place(slot, window, index);
    return true;
}

static inline __attribute__((always_inline)) void trace_commit(const struct trace_slot *slot, uint32_t id,
                                                               uint32_t words)
{
    volatile uint32_t *header = (volatile uint32_t *)slot->event;
    /* data before header: pairs with the acquire in trace_packet_state() and the walk after it */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    header[0] = trace_id_length(id, words);
    header[1] = (uint32_t)slot->time;
    TRACE_TEST_POINT(TRACE_BEFORE_COMMIT);
    /* release: publishes the event; pairs with the acquire in trace_packet_state() */
    __atomic_fetch_add(&slot->packet->committed, words, __ATOMIC_RELEASE);
}

#endif
