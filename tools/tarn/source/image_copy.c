/* SPDX-License-Identifier: BSD-2-Clause */
/* image_copy.c - a copy of a packet from guest memory; see image_copy.h. */
#include <string.h>
#include <tools/tarn/source/content_end.h>
#include <tools/tarn/source/image_copy.h>

static struct trace_packet swapped(const struct image *image, struct trace_packet p)
{
    p.magic = image_32(image, p.magic), p.stream_id = image_32(image, p.stream_id);
    p.timestamp_begin = image_64(image, p.timestamp_begin);
    p.timestamp_end = image_64(image, p.timestamp_end);
    p.content_size = image_64(image, p.content_size), p.packet_size = image_64(image, p.packet_size);
    p.events_discarded = image_64(image, p.events_discarded);
    p.packet_seq_num = image_64(image, p.packet_seq_num), p.committed = image_64(image, p.committed);
    p.cpu_id = image_32(image, p.cpu_id), p.flags = image_32(image, p.flags);
    return p;
}

struct trace_packet image_copy_header(const struct image *image, const uint8_t *copy)
{
    struct trace_packet header;
    memcpy(&header, copy, sizeof(header));
    return swapped(image, header);
}

void image_copy_put_header(const struct image *image, uint8_t *copy, struct trace_packet header)
{
    header = swapped(image, header);
    memcpy(copy, &header, sizeof(header));
}

bool image_copy_content_is_sound(const struct trace_packet *packet)
{
    return packet->content_size <= packet->packet_size && packet->content_size % 64 == 0 &&
           packet->content_size >= (TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS) * 64 &&
           packet->timestamp_begin <= packet->timestamp_end;
}

struct walk {
    const struct image *image;
    const uint8_t *packet;
    uint64_t position, limit; /* in words */
    uint64_t time;            /* of the last event */
    uint64_t end;             /* no event is later; ~0: unknown */
    uint32_t id, length;      /* of the last event */
    bool broken;
};

static struct walk begin_walk(const struct image *image, const uint8_t *copy, uint64_t limit, uint64_t end)
{
    struct trace_packet header = image_copy_header(image, copy);
    return (struct walk){.image = image,
                         .packet = copy,
                         .position = TRACE_PACKET_WORDS,
                         .limit = limit,
                         .time = header.timestamp_begin,
                         .end = end};
}

static bool is_little(const struct image *image)
{
    return (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != image->swap;
}

/* Like trace_walk_next. */
static bool next_event(struct walk *walk)
{
    uint32_t first, time;

    if (walk->position >= walk->limit)
        return false;
    memcpy(&first, walk->packet + walk->position * 8, 4);
    memcpy(&time, walk->packet + walk->position * 8 + 4, 4);
    first = image_32(walk->image, first), time = image_32(walk->image, time);
    walk->id = is_little(walk->image) ? first & 0x3fffff : first >> 10;
    walk->length = is_little(walk->image) ? first >> 22 : first & 0x3ff;
    uint32_t step = time - (uint32_t)walk->time;
    bool is_filler = walk->id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_FILLER);
    bool fits = walk->length && walk->position + walk->length <= walk->limit;
    bool in_time = walk->end == ~0ull ? step <= 1u << 31 : step <= walk->end - walk->time;
    if (!walk->id || is_filler || !fits || !in_time) {
        walk->broken = true;
        return false;
    }
    walk->position += walk->length;
    walk->time += step;
    return true;
}

uint64_t image_copy_find_hole(const struct image *image, const uint8_t *copy, uint64_t limit)
{
    struct trace_packet header = image_copy_header(image, copy);
    struct walk walk =
        begin_walk(image, copy, limit, image_copy_content_is_sound(&header) ? header.timestamp_end : ~0ull);
    while (next_event(&walk))
        ;
    return walk.position;
}

/* Ends the content at word POSITION with an end event, and a filler up to SIZE. */
static void end_content(const struct image *image, uint8_t *copy, struct trace_packet *packet,
                        uint64_t position, uint64_t size, uint64_t time)
{
    put_content_end(copy + position * 8, is_little(image), size - position - 1, time);
    packet->timestamp_end = time;
    packet->content_size = (position + 1) * 64;
}

bool image_copy_cut(const struct image *image, uint8_t *copy, uint64_t limit, uint64_t size, uint64_t end,
                    bool all_there)
{
    struct walk walk = begin_walk(image, copy, limit, end);
    struct trace_packet packet = image_copy_header(image, copy);

    if (!next_event(&walk) || walk.id != TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_CONTEXT) ||
        walk.length != TRACE_CONTEXT_WORDS)
        return false;
    const uint64_t context_end = walk.position, context_time = walk.time;
    uint64_t cut = walk.position, time = walk.time;
    while (next_event(&walk) && walk.id != TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END)) {
        cut = walk.position;
        time = walk.time;
    }
    if (!walk.broken && !all_there) {
        /* a word is missing although every event looks written: trust none, see read.c */
        cut = context_end;
        time = context_time;
    }
    if (walk.broken || !all_there)
        packet.flags |= TRACE_PACKET_CUT;
    end_content(image, copy, &packet, cut, size, time);
    image_copy_put_header(image, copy, packet);
    return true;
}
