/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/verify.c - compares rings in a guest's memory with a trace; see verify.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/goto/verify.h>
#include <tools/tarn/print/print.h>
#include <tools/tarn/read/losses.h>
#include <tools/tarn/source/guest.h>

/* One CPU during the comparison. */
struct sides {
    const struct trace *trace;
    struct guest_ring ring;
    struct packet_buffer buffer;
    struct packet packet; /* the trace's */
    uint8_t *copy;        /* the run's packet with the same number */
};

/* Opens a cursor at an event of the trace. */
static bool stand_at(struct cursor *cursor, const struct difference *at, const struct trace *trace,
                     struct losses *losses)
{
    losses_open(losses, trace);
    losses->quiet = true;
    return cursor_open_at(cursor, trace, at->stream, (struct position){at->packet_at, at->offset},
                          &losses->reporter);
}

/* Copies what the run has of a packet. False: it is not in the rings. */
static bool copy_packet(struct guest_ring *ring, uint64_t number, uint8_t *copy)
{
    uint64_t head = guest_ring_head(ring), open = head;

    if (number == head)
        return guest_packet_snapshot(ring, &open, copy);
    enum trace_packet_state state = guest_packet_copy(ring, number, copy);
    return state == TRACE_PACKET_WHOLE ||
           (state == TRACE_PACKET_INCOMPLETE && guest_packet_cut(ring, number, copy));
}

static bool ends_packet(struct event_head head)
{
    return head.id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END);
}

/* Returns the offset of the first event that differs; 0: none. After the end of either side nothing is
 * compared. */
static uint64_t compare_packet(const struct sides *sides, uint64_t content, uint64_t *compared)
{
    const uint8_t *ours = sides->copy, *theirs = sides->packet.bytes;

    if (sides->packet.content_bytes < content)
        content = sides->packet.content_bytes;
    for (uint64_t at = sizeof(struct trace_packet); at < content;) {
        struct event_head head = event_head(&sides->trace->schema, theirs + at);
        struct event_head other = event_head(&sides->trace->schema, ours + at);
        uint64_t bytes = head.words * 8ull;

        if (ends_packet(head) || ends_packet(other))
            return 0;
        if (bytes == 0 || bytes > content - at || memcmp(ours + at, theirs + at, bytes) != 0)
            return at;
        at += bytes;
        ++*compared;
    }
    return 0;
}

/* Keeps the difference if it is earlier than the known one. */
static void take_difference(struct difference *difference, const struct sides *sides,
                            const struct stream *stream, uint64_t offset)
{
    struct difference here = {.stream = stream, .packet_at = sides->packet.offset, .offset = offset};
    struct losses losses;
    struct cursor cursor;

    if (stand_at(&cursor, &here, sides->trace, &losses) &&
        (!difference->found || cursor.ticks < difference->ticks)) {
        uint64_t size = sides->packet.packet_bytes;

        difference->found = true;
        difference->ticks = cursor.ticks;
        difference->stream = stream;
        difference->packet_at = here.packet_at;
        difference->offset = offset;
        difference->bytes =
            difference->bytes != NULL ? difference->bytes : alloc_zero(1, TRACE_BUFFER_BYTES_MAX);
        memcpy(difference->bytes, sides->copy, size);
    }
    cursor_close(&cursor);
}

/* No packet of a ring could be compared: keeps the packet numbers of both sides. */
static void take_apart(struct difference *difference, struct sides *sides, const struct stream *stream,
                       uint64_t first)
{
    difference->is_apart = true;
    difference->cpu = stream->cpu;
    difference->trace_first = first;
    difference->trace_last = sides->packet.header.packet_seq_num;
    difference->run_first = guest_ring_oldest(&sides->ring);
    difference->run_last = guest_ring_head(&sides->ring);
}

static void compare_stream(struct difference *difference, struct sides *sides, const struct stream *stream)
{
    uint64_t first = UINT64_MAX;
    bool is_shared = false;

    for (uint64_t at = 0; at < stream->size;) {
        enum anomaly anomaly = stream_packet(sides->trace, stream, at, &sides->buffer, &sides->packet);

        if (anomaly_is_fatal(anomaly)) {
            at = stream_resync(sides->trace, stream, at + 1);
            continue;
        }
        at += sides->packet.packet_bytes;
        first = first == UINT64_MAX ? sides->packet.header.packet_seq_num : first;
        if (sides->packet.packet_bytes !=
                trace_eras_words(&sides->ring.eras, sides->packet.header.packet_seq_num) * 8 ||
            !copy_packet(&sides->ring, sides->packet.header.packet_seq_num, sides->copy))
            continue;
        is_shared = true;
        uint64_t bits =
            load64(sides->copy + offsetof(struct trace_packet, content_size), sides->trace->schema.swap);
        uint64_t offset = compare_packet(sides, bits / 8, &difference->compared);
        if (offset != 0) {
            take_difference(difference, sides, stream, offset);
            return;
        }
    }
    if (!is_shared && first != UINT64_MAX && !difference->is_apart)
        take_apart(difference, sides, stream, first);
}

bool verify_rings(struct difference *difference, const struct trace *trace, struct memory *memory,
                  struct fail *fail)
{
    struct sides sides = {.trace = trace};
    struct guest guest;

    *difference = (struct difference){0};
    if (!guest_open(&guest, memory, 0, fail))
        return false;
    sides.copy = alloc_zero(1, TRACE_BUFFER_BYTES_MAX);
    for (unsigned i = 0; i < trace->stream_count; i++) {
        const struct stream *stream = &trace->streams[i];

        if (stream->cpu < guest.store.cpu_count && guest_ring_open(&sides.ring, &guest, stream->cpu, fail))
            compare_stream(difference, &sides, stream);
    }
    free(sides.copy);
    free(sides.buffer.bytes);
    guest_close(&guest);
    return true;
}

/* ---- printing ---- */

/* Prints the cursor's event, and what the run has instead. */
static void print_difference(const struct difference *difference, struct cursor *cursor,
                             struct print_sides *sides)
{
    const struct schema *schema = &cursor->trace->schema;
    const uint8_t *bytes = difference->bytes + difference->offset;
    size_t left = cursor->packet.packet_bytes - difference->offset;
    uint32_t time = event_head(schema, bytes).time;

    fputs("  the trace: ", stderr);
    print_side(sides, 0, cursor);
    fputs("\n  this run:  ", stderr);
    if (event_decode(schema, bytes, left, &cursor->event) == ANOMALY_NONE) {
        cursor->ticks += (uint64_t)(int64_t)(int32_t)(time - (uint32_t)cursor->ticks);
        print_side(sides, 1, cursor);
    } else {
        fputs("not an event that the trace declares", stderr);
    }
    fputc('\n', stderr);
}

void difference_print(const struct difference *difference, const struct trace *trace)
{
    struct print_sides sides;
    struct losses losses;
    struct cursor cursor;
    struct fail ignored;

    if (stand_at(&cursor, difference, trace, &losses)) {
        if (print_sides_open(&sides, trace, trace, PRINT_TEXT, stderr, &ignored))
            print_difference(difference, &cursor, &sides);
        print_sides_close(&sides);
    }
    cursor_close(&cursor);
}

void difference_free(struct difference *difference)
{
    free(difference->bytes);
}
