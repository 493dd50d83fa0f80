/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/ring/reserve_cas.h - how writers reserve and commit: compare-and-swap reserve, counted commit.
 *
 * From K42 (Wisniewski and Rosenburg, SC'03, 3.1). Only this file decides how a writer gets its words and how
 * it marks them as written; a protocol without atomics (restartable sequences) would replace it.
 *
 * Reserve. Ring address, index, clock, ring address again, compare-and-swap:
 *   - Index before clock: if the swap succeeds, no writer reserved since the index was read, so every earlier
 *     event's time was read before ours. Timestamps never decrease along a ring.
 *   - Ring address again after the clock: a thread may migrate at any instruction. If it migrated before this
 *     check, it starts over. If it migrates later, index and clock were both read on the ring's own CPU, and
 *     the swap decides. So every timestamp of a ring was read on its own CPU, whatever the clocks of others
 *     say and however loads are reordered with clock reads.
 *   - Anything else (time limit, buffer's end, migration, lost race) goes to trace_log_slow().
 *
 * Commit. Data first, then the header word in one store, then the count: a new header means that the event is
 * complete; a buffer whose count is full has no hole.
 *
 * Order between CPUs, for weakly ordered machines:
 *
 *     writer                                   reader (read.c)
 *     index = next                             copies the words
 *       fence 1                                  fence
 *     data                                     reads the index: has it come round?
 *
 *     data                                     sees a new header
 *       fence 2                                  fence
 *     header                                   reads data
 *
 *     data, header                             committed is full
 *       release 3                                acquire
 *     committed += words                       copies the words
 *
 * A reader that sees a byte of a new lap (1) also sees that the index is in that lap. The dependency of the
 * store on the swap is not enough: other CPUs may see the two in either order. Each writer needs a fence 1 of
 * its own, because it may be an interrupt directly after the swap that changed buffers.
 */
#ifndef TRACE_RING_RESERVE_CAS_H
#define TRACE_RING_RESERVE_CAS_H

/* Reserved words of the ring for one event. */
struct trace_slot {
    char *event;                 /* the event's header word */
    struct trace_packet *packet; /* header of the buffer that holds it */
    uint64_t time;               /* of the event, in ticks */
};

/* Stores an event's header with one store: a reader sees all or nothing of it, never this event's time with
 * the length of an event of an earlier lap. */
static inline __attribute__((always_inline)) void trace_store_header(char *event, uint32_t id, uint32_t words,
                                                                     uint64_t time)
{
    const union {
        struct trace_header header;
        uint32_t half[2];
    } u = {.header = {.id = id, .length = words}};
    /* Fence 2, data before header: pairs with the acquire fence of readers of packets that are not whole:
     * trace_packet_copy() before trace_packet_cut(), trace_packet_snapshot(), trace_walk_next(). */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n((uint64_t *)event, arch_trace_header(u.half[0], time), __ATOMIC_RELAXED);
}

/* Converts an index to addresses. The masks come from the info page: whatever the index is, the place lies in
 * the ring. Plain loads are enough: the masks change only when the rings are set up again, and any mixture of
 * old and new values stays within mapped memory. */
static inline __attribute__((always_inline)) void trace_place(struct trace_slot *slot,
                                                              const struct trace_info *info, char *ring,
                                                              uint64_t index)
{
    char *buffers = ring + TRACE_BUFFERS_OFFSET;
    uint64_t place = (index & info->ring_mask) * 8;
    slot->event = buffers + place;
    slot->packet = (struct trace_packet *)(buffers + (place & info->packet_mask));
}

/* Reserves `words` for one event in the simple case; false: call trace_log_slow(). */
static inline __attribute__((always_inline)) bool trace_reserve(struct trace_slot *slot, uint32_t words)
{
    const struct trace_info *info = arch_trace_info();
    char *ring = arch_trace_ring();
    struct trace_control *control = (struct trace_control *)ring;
    /* relaxed: the swap below detects any change; nothing is read through the index */
    uint64_t index = arch_trace_index(&control->index);
    TRACE_TEST_POINT(TRACE_AFTER_INDEX_READ);
    uint64_t now = arch_trace_clock();
    uint64_t next = index + words;
    /* the limit only grows: an old value leads to the slow path, which reads it again */
    if (__builtin_expect(now > control->time_limit, 0) ||
        __builtin_expect((index ^ next) > info->buffer_mask, 0) || !arch_trace_same_ring(ring))
        return false;
    TRACE_TEST_POINT(TRACE_BEFORE_RESERVE);
    /* relaxed: reserving publishes nothing; the commit does */
    if (!arch_trace_swap(&control->index, index, next))
        return false;
    /* Fence 1, index before data: pairs with the acquire fence of trace_packet_copy(). */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    TRACE_TEST_POINT(TRACE_AFTER_RESERVE);
    slot->time = now;
    trace_place(slot, info, ring, index);
    return true;
}

static inline __attribute__((always_inline)) void trace_commit(const struct trace_slot *slot, uint32_t id,
                                                               uint32_t words)
{
    trace_store_header(slot->event, id, words, slot->time);
    TRACE_TEST_POINT(TRACE_BEFORE_COMMIT);
    /* Release 3, header before count: pairs with the acquires of `committed` in trace_packet_state() and
     * trace_packet_snapshot(), and in change_buffer() a lap later. */
    __atomic_fetch_add(&slot->packet->committed, words, __ATOMIC_RELEASE);
}

#endif
