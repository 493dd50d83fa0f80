/*
 * trace/model/format.h - a packet header that GenMC can search; stands in for trace/format/format.h,
 * which it includes for all else.
 *
 * GenMC refuses words that are written in one size and read in another, and every word that a reader copies
 * while it is overwritten doubles the executions. So each field that changes is a word, those that every
 * packet has in common share one, and there is no UUID and no thread in the context event.
 */
#define trace_packet  trace_packet_real
#define trace_context trace_context_real
#include <real/format.h>
#undef trace_packet
#undef trace_context

#pragma once

struct trace_packet {
    uint64_t magic : 32, packet_size : 16, cpu_id : 8, stream_id : 4, flags : 4;
    uint8_t uuid[0];
    uint64_t timestamp_begin, timestamp_end, content_size, events_discarded, packet_seq_num, committed,
        events_before;
};
_Static_assert(sizeof(struct trace_packet) == 64, "a header of 8 words");

struct trace_context {
};
