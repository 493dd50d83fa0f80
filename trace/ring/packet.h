/* trace/ring/packet.h - begin and end of a packet in a ring, for both disciplines. FORMAT.md, "A
 * buffer's life". Included by cas.c and restart.c only. */
#pragma once

#include <trace/format/era.h>
#include <trace/ring/place.h>

static inline void packet_store_event(char *event, uint32_t minor, uint32_t words, uint64_t time)
{
    trace_store_header(event, TRACE_ID(TRACE_CLASS_TRACE, minor), words, time);
}

static inline struct trace_slot packet_place(char *ring, uint64_t words)
{
    struct trace_slot slot = {0};
    trace_place(&slot, arch_trace_info(), ring, trace_index_at(words, 0));
    return slot;
}

/* Number of the packet that begins at word `start` of the ring's newest era. */
static inline uint64_t packet_number(const char *ring, uint64_t start)
{
    const uint64_t words = arch_trace_info()->buffer_mask + 1;
    const struct trace_era era = trace_era_now(trace_control_of(ring), words);
    return era.number + (start - era.start) / words;
}

/* First word of the oldest packet that was not consumed. */
static inline uint64_t packet_consumed_start(const char *ring, uint64_t consumed)
{
    const struct trace_info *info = arch_trace_info();
    const uint64_t words = info->buffer_mask + 1;
    const struct trace_era era = trace_era_now(trace_control_of(ring), words);
    if (consumed >= era.number)
        return era.start + (consumed - era.number) * words;
    struct trace_eras eras;
    trace_eras_load(&eras, trace_control_of(ring), trace_geometry_word(words * 8, info->buffer_count, 0));
    return trace_eras_start(&eras, consumed);
}

/* Whether a packet may begin at word `start`: its buffer was consumed, or may be overwritten. */
static inline bool packet_is_free(const char *ring, uint64_t start)
{
    const struct trace_info *info = arch_trace_info();
    const uint64_t ring_words = info->ring_mask / 8 + 1;
    /* Acquire of the mode: makes its `consumed` visible; pairs with the release in set_mode(). Acquire of
     * `consumed`: the consumer has read the buffer's last packet before we write into it; pairs with the
     * release in sys_trace_consume(). */
    return __atomic_load_n(&info->mode, __ATOMIC_ACQUIRE) == TRACE_MODE_FLIGHT ||
           start - packet_consumed_start(
                       ring, __atomic_load_n(&info->consumed[arch_trace_cpu(ring)], __ATOMIC_ACQUIRE)) <=
               ring_words - (info->buffer_mask + 1);
}

/* Ends the content of the packet that holds word `words`, up to there. */
static inline struct trace_packet *packet_end(char *ring, uint64_t words, uint64_t time)
{
    const uint64_t buffer_mask = arch_trace_info()->buffer_mask;
    const struct trace_slot slot = packet_place(ring, words);
    const uint64_t rest = buffer_mask - (words & buffer_mask);
    packet_store_event(slot.event, TRACE_MINOR_END, 1, time);
    if (rest > 0)
        packet_store_event(slot.event + 8, TRACE_MINOR_FILLER, rest <= TRACE_LENGTH_MAX ? (uint32_t)rest : 0,
                           time);
    slot.packet->timestamp_end = time;
    slot.packet->content_size = ((words & buffer_mask) + 1) * 64;
    return slot.packet;
}

struct packet_begin {
    uint64_t start; /* the buffer's first word */
    uint64_t time, discarded, events;
};

/* Writes header and context event, except number and count, by which readers find the packet. */
static inline struct trace_packet *packet_begin(char *ring, struct packet_begin begin)
{
    const struct trace_info *info = arch_trace_info();
    const struct trace_slot slot = packet_place(ring, begin.start);
    struct trace_packet *packet = slot.packet;
    packet->magic = TRACE_CTF_MAGIC;
    packet->stream_id = TRACE_STREAM_ID;
    for (unsigned i = 0; i < sizeof(packet->uuid); i++)
        packet->uuid[i] = info->uuid[i];
    packet->timestamp_begin = begin.time;
    packet->packet_size = (info->buffer_mask + 1) * 64;
    packet->events_discarded = begin.discarded;
    packet->events_before = begin.events;
    packet->cpu_id = arch_trace_cpu(ring);
    packet->flags = 0;
    char *event = slot.event + TRACE_PACKET_WORDS * 8;
    arch_trace_context(ring, (struct trace_context *)(event + 8));
    packet_store_event(event, TRACE_MINOR_CONTEXT, TRACE_CONTEXT_WORDS, begin.time);
    return packet;
}
