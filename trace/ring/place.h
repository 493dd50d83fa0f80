/* trace/ring/place.h - from an index to memory, and the store of a header: for writers in C, of either
 * discipline. */
#pragma once

#include <arch/trace.h>
#include <trace/format/layout.h>

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
    /* Fence 2 of cas.h, data before header: pairs with the acquire fence of readers of packets that are not
     * whole: trace_packet_copy() before trace_packet_cut(), trace_packet_snapshot(), trace_walk_next(). */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n((uint64_t *)event, arch_trace_header(trace_header_half(id, words), time),
                     __ATOMIC_RELAXED);
}

/* Converts an index to addresses. The masks come from the info page: whatever the index is, the place lies in
 * the ring. Plain loads are enough: the masks change only when the rings are set up again, and any mixture of
 * old and new values stays within mapped memory. */
static inline __attribute__((always_inline)) void trace_place(struct trace_slot *slot,
                                                              const struct trace_info *info, char *ring,
                                                              uint64_t index)
{
    char *buffers = ring + TRACE_BUFFERS_OFFSET;
    uint64_t place = index >> (TRACE_INDEX_SHIFT - 3) & info->ring_mask;
    slot->event = buffers + place;
    slot->packet = (struct trace_packet *)(buffers + (place & info->packet_mask));
}
