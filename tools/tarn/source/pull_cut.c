/* SPDX-License-Identifier: BSD-2-Clause */
/* pull_cut.c - finds the first bad event of a pulled packet; see pull_cut.h. */
#include <tools/tarn/source/pull_cut.h>

static const uint32_t end_id = TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END);

struct walk {
    const uint8_t *at;
    uint64_t time, events;
    uint64_t step; /* between the times of the last two events */
    size_t bytes;  /* of the last event */
};

/* Walks to the first event that does not decode, or to the end of the content. It runs for every pulled
 * event, so its state is in registers. */
static enum anomaly walk_events(const struct schema *schema, const uint8_t *end, uint64_t latest,
                                struct walk *to)
{
    struct walk walk = *to;
    enum anomaly anomaly = ANOMALY_NONE;
    struct event event;

    while (walk.at < end) {
        struct event_head head = event_head(schema, walk.at);
        const struct event_type *type = schema_event(schema, head.id);
        uint64_t step = head.time - (uint32_t)walk.time;
        size_t left = (size_t)(end - walk.at);

        if (!event_is_simple(type, head.words, left) &&
            (anomaly = event_decode(schema, walk.at, left, &event)) != ANOMALY_NONE)
            break;
        if (__builtin_expect(step > latest - walk.time, 0)) {
            anomaly = ANOMALY_EVENT_TIME;
            break;
        }
        walk.step = step;
        walk.time += step;
        walk.bytes = head.words * 8ul;
        walk.at += walk.bytes;
        walk.events++;
    }
    *to = walk;
    return anomaly;
}

struct packet_events packet_walk(const struct schema *schema, const uint8_t *packet, size_t size)
{
    struct trace_packet header;

    memcpy(&header, packet, sizeof(header));
    if (schema->swap)
        packet_header_swap(&header);
    struct walk walk = {.at = packet + sizeof(header), .time = header.timestamp_begin};
    enum anomaly anomaly = walk_events(schema, packet + size, header.timestamp_end, &walk);
    /* Without an end event behind it, a string may end before its last word, and readers try to read one
     * more event from the rest. */
    if (anomaly == ANOMALY_NONE && walk.events > 0 && event_head(schema, walk.at - walk.bytes).id != end_id) {
        anomaly = ANOMALY_END;
        walk.at -= walk.bytes;
        walk.time -= walk.step;
        walk.events--;
    }
    struct packet_events found = {
        .events = walk.events, .bytes = (size_t)(walk.at - packet), .time = walk.time, .anomaly = anomaly};
    if (anomaly != ANOMALY_NONE)
        found.id = event_head(schema, walk.at).id;
    return found;
}
