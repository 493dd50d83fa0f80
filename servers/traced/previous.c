/*
 * previous.c - sends a host the previous boot's trace.
 *
 * Its rings are no longer written. Each ring is sent from its oldest packet to its open one, each packet as
 * far as it is valid (trace_packet_salvage). Invalid packets after the first valid one count as lost, except
 * an open packet without events.
 */
#include "traced.h"
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>
#include <trace/event/previous.h>

bool has_previous(void)
{
    struct trace_previous previous;
    return trace_previous_read_store(SLOT_TRACE, &previous) == 0;
}

int get_previous(struct wire_previous *wire)
{
    struct trace_previous previous;
    int error = trace_previous_read_store(SLOT_TRACE, &previous);
    if (error)
        return error;
    const struct trace_store *store = &previous.store;
    *wire = (struct wire_previous){
        .end = store->end,
        .packets = store->kept.packets,
        .unsummed = store->kept.unsummed,
        .damaged = store->kept.damaged,
    };
    wire_hello_of_store(&wire->hello, store, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    memcpy(wire->reason, store->reason, sizeof(wire->reason));
    return 0;
}

/* Returns the text, to be freed, or NULL; then STATUS says why. */
static char *read_text(const struct trace_previous *previous, size_t *size, int64_t *status)
{
    *size = previous->store.metadata_bytes;
    char *text = malloc(*size);
    *status = text ? trace_previous_metadata(SLOT_TRACE, TRACE_METADATA_TEXT, text, *size) : -E_NO_MEMORY;
    if (*status >= 0)
        return text;
    free(text);
    return NULL;
}

char *read_previous_metadata(size_t *size, int64_t *status)
{
    struct trace_previous previous;
    *status = trace_previous_read_store(SLOT_TRACE, &previous);
    return *status < 0 ? NULL : read_text(&previous, size, status);
}

static bool send_metadata(struct connection *connection, const struct trace_previous *previous, int *status)
{
    size_t size;
    int64_t got;
    char *text = read_text(previous, &size, &got);
    *status = text ? 0 : (int)got;
    bool is_sent = text && send_payload(connection, WIRE_METADATA, text, size);
    free(text);
    return is_sent;
}

/* Returns how many bytes of payload were sent: 0 of an invalid packet. -1: the link broke. */
static int64_t send_packet(struct connection *connection, const struct trace_reader *reader, uint64_t number,
                           uint64_t *cut)
{
    uint8_t *payload = begin_frame(connection, WIRE_PACKET_BYTES + trace_reader_bytes(reader, number));
    if (!payload)
        return -1;
    struct trace_packet *packet = (struct trace_packet *)(void *)(payload + WIRE_PACKET_BYTES);
    bool is_valid = trace_packet_salvage(reader, number, packet);
    *cut += is_valid && packet->flags & TRACE_PACKET_CUT;
    size_t bytes = is_valid ? put_packet_header(payload, reader, number) : 0;
    return end_frame(connection, WIRE_PACKET, payload, bytes) ? (int64_t)bytes : -1;
}

/* The open packet never had events, so its number was not used. */
static bool holds_nothing(const struct trace_reader *reader, uint64_t number)
{
    return trace_reader_head(reader) == number && trace_open_words(reader) == 0;
}

/* The counts hold up to `time`, when the last event was discarded. */
static bool send_ring(struct connection *connection, const struct trace_reader *reader,
                      struct wire_cpu_status *counts, uint64_t *time, struct drain *drain,
                      _Atomic bool *asked)
{
    uint64_t first, last;
    bool any = false;
    *counts = (struct wire_cpu_status){.discarded = trace_salvage_discarded(reader),
                                       .events = TRACE_EVENTS_UNKNOWN};
    const uint64_t at = trace_reader_load(reader, TRACE_CONTROL_AT(discarded_at));
    if (counts->discarded && at > *time)
        *time = at;
    if (!trace_salvage_range(reader, &first, &last))
        return true;
    for (uint64_t number = first; number <= last && !atomic_load(asked); number++) {
        const int64_t sent = send_packet(connection, reader, number, &counts->cut);
        if (sent < 0)
            return false;
        any |= sent > 0;
        if (sent)
            drain_count(drain, WIRE_FRAME_BYTES + (size_t)sent);
        if (sent || !holds_nothing(reader, number))
            counts->head = number + 1;
        /* Also the newest, if its writer had not written the header when the system ended. */
        counts->lost += any && !sent && counts->head > number;
    }
    counts->next = last + 1;
    counts->events = trace_reader_events_before(reader, counts->head);
    return true;
}

static bool send_rings(struct connection *connection, const struct trace_previous *previous,
                       _Atomic bool *asked)
{
    uint8_t payload[WIRE_STATUS_BYTES + WIRE_CPUS_MAX * WIRE_CPU_STATUS_BYTES];
    uint8_t *at = payload + WIRE_STATUS_BYTES;
    struct drain drain = {.is_marked = false};
    struct wire_status status = {.count = previous->store.cpu_count};
    for (uint32_t cpu = 0; cpu < previous->store.cpu_count; cpu++, at += WIRE_CPU_STATUS_BYTES) {
        struct trace_reader reader = trace_previous_ring(previous, cpu);
        struct wire_cpu_status counts;
        drain_begin(&drain, cpu);
        bool is_sent = send_ring(connection, &reader, &counts, &status.time, &drain, asked);
        drain_end(&drain, !is_sent || cpu + 1 == previous->store.cpu_count);
        if (!is_sent)
            return false;
        wire_put_cpu_status(at, &counts);
    }
    wire_put_status(payload, &status);
    return send_payload(connection, WIRE_STATUS, payload, (size_t)(at - payload));
}

bool send_previous(struct connection *connection, _Atomic bool *asked, int *status)
{
    struct trace_previous previous;
    *status = trace_previous_open(SLOT_TRACE, &previous);
    if (*status)
        return false;
    bool is_sent = send_metadata(connection, &previous, status) && send_rings(connection, &previous, asked);
    trace_previous_close(&previous);
    return is_sent;
}
