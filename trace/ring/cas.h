/*
 * trace/ring/cas.h - the discipline of writers that nobody restarts: compare-and-swap reserve, counted
 * commit.
 *
 * From K42 (Wisniewski and Rosenburg, SC'03, 3.1). For other kernels and for hosts; Tarn has restart.h.
 *
 * Reserve. Ring address, index, clock, ring address again, compare-and-swap:
 *   - Index before clock: if the swap succeeds, no writer reserved since the index was read, so every earlier
 *     event's time was read before ours. Timestamps never decrease along a ring.
 *   - Ring address again after the clock: a thread may migrate at any instruction. If it migrated before this
 *     check, it starts over. If it migrates later, index and clock were both read on the ring's own CPU, and
 *     the swap decides. So every timestamp of a ring was read on its own CPU, whatever the clocks of others
 *     say and however loads are reordered with clock reads. That is why relaxed operations on the index are
 *     enough. They are not if writers on several CPUs share a ring (trace/model/README.md): do not.
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
 * Each writer needs a fence 1 of its own, because it may be an interrupt directly after the swap that changed
 * buffers.
 */
#pragma once

#include <trace/ring/place.h>

/* Reserves `words` for one event in the simple case; false: call trace_log_slow(). */
static inline __attribute__((always_inline)) bool trace_reserve(struct trace_slot *slot, uint32_t words)
{
    const struct trace_info *info = arch_trace_info();
    char *ring = arch_trace_ring();
    struct trace_control *control = trace_control_of(ring);
    /* relaxed: the swap below detects any change; nothing is read through the index */
    uint64_t index = arch_trace_index(&control->index);
    TRACE_TEST_POINT(TRACE_AFTER_INDEX_READ);
    uint64_t now = arch_trace_clock();
    uint64_t next = index + TRACE_INDEX_STEP(words);
    /* the limit only grows: an old value leads to the slow path, which reads it again */
    if (__builtin_expect(now > control->time_limit, 0) ||
        __builtin_expect((index ^ next) >> TRACE_INDEX_SHIFT > info->buffer_mask, 0) ||
        !arch_trace_same_ring(ring))
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

/* Stores of fields into reserved words. */
#define TRACE_STORES(bits)                                              \
    static inline __attribute__((always_inline)) void trace_put_##bits( \
        struct trace_slot *slot, unsigned offset, uint##bits##_t value) \
    {                                                                   \
        *(trace_word_##bits *)(slot->event + 8 + offset) = value;       \
    }
TRACE_STORES(8)
TRACE_STORES(16)
TRACE_STORES(32)
TRACE_STORES(64)
#undef TRACE_STORES

static inline __attribute__((always_inline)) void trace_put_name(struct trace_slot *slot, unsigned offset,
                                                                 const char name[static TRACE_NAME_BYTES])
{
    *(trace_word_64 *)(slot->event + 8 + offset) = ((const trace_word_name *)name)[0];
    *(trace_word_64 *)(slot->event + 16 + offset) = ((const trace_word_name *)name)[1];
}

/* Slow path for an event of constant size: never blocks; logs the event or counts it as discarded. `fixed`
 * has its words - 1 data words. Returns as the log function does. */
__attribute__((cold)) uint64_t trace_log_slow(uint32_t id, const uint64_t *fixed, uint32_t words);
