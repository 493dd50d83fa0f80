/* SPDX-License-Identifier: BSD-2-Clause */
/* pull_cut.c - finds the first bad event of a pulled packet; see pull_cut.h. */
#include <tools/tarn/source/pull_cut.h>

#define CHAIN 4u /* so many events in a row are not a coincidence */

static const uint32_t end_id = TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END);

struct content {
    const struct schema *schema;
    const uint8_t *end;
    uint64_t begin, latest; /* times of the packet */
};

static enum anomaly judge(const struct content *content, const uint8_t *at, struct event *event)
{
    uint32_t time = event_head(content->schema, at).time;
    enum anomaly anomaly = event_decode(content->schema, at, (size_t)(content->end - at), event);

    if (anomaly == ANOMALY_NONE || anomaly == ANOMALY_EVENT_ID)
        if ((uint32_t)(time - (uint32_t)content->begin) > content->latest - content->begin)
            return ANOMALY_EVENT_TIME;
    return anomaly;
}

/* Whether a sequence of CHAIN events starts at AT, or a shorter one that ends with the content. OTHERS:
 * undeclared events are allowed. */
static bool are_events(const struct content *content, const uint8_t *at, bool others)
{
    struct event event;

    for (unsigned i = 0; i < CHAIN && at < content->end; i++, at += event.words * 8ul) {
        enum anomaly anomaly = judge(content, at, &event);
        if (anomaly != ANOMALY_NONE && !(others && anomaly == ANOMALY_EVENT_ID))
            return false;
    }
    return true;
}

/* Returns where the events continue after one that does not decode: at its end, or if its length is
 * implausible, at the next place with a sequence of events. */
static const uint8_t *find_next(const struct content *content, const uint8_t *at, bool *is_guess)
{
    struct event event;
    enum anomaly anomaly = judge(content, at, &event);

    if (anomaly != ANOMALY_EVENT_LENGTH && anomaly != ANOMALY_EVENT_LAYOUT &&
        are_events(content, at + event.words * 8ul, true))
        return at + event.words * 8ul;
    *is_guess = true;
    do
        at += 8;
    while (!are_events(content, at, false));
    return at;
}

static void count_lost(const struct content *content, const uint8_t *at, struct packet_events *found)
{
    struct event event;

    while (at < content->end) {
        bool decodes = judge(content, at, &event) == ANOMALY_NONE;
        found->lost += !decodes || event_head(content->schema, at).id != end_id;
        at = decodes ? at + event.words * 8ul : find_next(content, at, &found->lost_is_least);
    }
}

struct walk {
    const uint8_t *at;
    uint64_t time, events;
    uint64_t step; /* between the times of the last two events */
    size_t bytes;  /* of the last event */
};

/* Walks to the first event that does not decode, or to the end of the content. It runs for every pulled
 * event, so its state is in registers. */
static enum anomaly walk_events(const struct content *content, struct walk *to)
{
    const struct schema *schema = content->schema;
    struct walk walk = *to;
    enum anomaly anomaly = ANOMALY_NONE;
    struct event event;

    while (walk.at < content->end) {
        struct event_head head = event_head(schema, walk.at);
        const struct event_type *type = schema_event(schema, head.id);
        uint64_t step = head.time - (uint32_t)walk.time;
        size_t left = (size_t)(content->end - walk.at);

        if (!event_is_simple(type, head.words, left) &&
            (anomaly = event_decode(schema, walk.at, left, &event)) != ANOMALY_NONE)
            break;
        if (__builtin_expect(step > content->latest - walk.time, 0)) {
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
    const struct content content = {schema, packet + size,
                                    load64((const uint8_t *)&header.timestamp_begin, schema->swap),
                                    load64((const uint8_t *)&header.timestamp_end, schema->swap)};
    struct walk walk = {.at = packet + sizeof(header), .time = content.begin};
    enum anomaly anomaly = walk_events(&content, &walk);
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
    if (anomaly != ANOMALY_NONE) {
        found.id = event_head(schema, walk.at).id;
        count_lost(&content, walk.at, &found);
    }
    return found;
}
