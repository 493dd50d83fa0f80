/* SPDX-License-Identifier: BSD-2-Clause */
/* lockstep.c - compares two traces of the same run; see lockstep.h. */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/read/lockstep.h>

static bool is_same_layout(const struct event_type *a, const struct event_type *b)
{
    if (a->id != b->id || strcmp(a->name, b->name) != 0 || a->field_count != b->field_count)
        return false;
    for (unsigned i = 0; i < a->field_count; i++) {
        const struct field *one = &a->fields[i], *other = &b->fields[i];

        if (strcmp(one->name, other->name) != 0 || one->kind != other->kind || one->width != other->width ||
            one->is_signed != other->is_signed || one->offset != other->offset || one->count != other->count)
            return false;
    }
    return true;
}

void lockstep_types_open(struct lockstep_types *types, const struct schema *a, const struct schema *b)
{
    types->same = alloc_zero(a->event_count + 1, sizeof(types->same[0]));
    for (unsigned i = 0; i < a->event_count && a->big_endian == b->big_endian; i++) {
        const struct event_type *other = schema_find_event(b, a->events[i]->name);

        if (other != NULL && is_same_layout(a->events[i], other))
            types->same[i] = other;
    }
}

void lockstep_types_close(struct lockstep_types *types)
{
    free(types->same);
    types->same = NULL;
}

/* ---- one event ------------------------------------------------------------------------------------- */

static bool is_text(const struct field *field)
{
    return field->kind == FIELD_TEXT || field->kind == FIELD_STRING;
}

static bool is_list(const struct field *field)
{
    return field->kind == FIELD_ARRAY || field->kind == FIELD_SEQUENCE;
}

static uint64_t element(const struct field *field, const struct event *event, uint64_t number)
{
    return load_integer(event->bytes + field->offset + number * field->width, field->width, field->is_signed,
                        field->swap);
}

static bool is_compared(const struct field *field, bool only_order)
{
    if (strncmp(field->name, "build_id", strlen("build_id")) == 0)
        return false;
    return !only_order || is_text(field) || (field->labels != NULL && !is_list(field));
}

bool lockstep_same_field(const struct lockstep *pair, const struct field *field)
{
    const struct event *event = &pair->sides[0].cursor.event, *other = &pair->sides[1].cursor.event;
    const struct field *match = schema_find_field(other->type, field->name);
    uint64_t count = is_list(field) ? field_count(field, event) : 1;

    if (!is_compared(field, pair->sides[0].only_order))
        return true;
    if (match == NULL || is_text(field) != is_text(match) || is_list(field) != is_list(match))
        return false;
    if (is_text(field)) {
        size_t length = field_text_length(field, event);

        return length == field_text_length(match, other) &&
               memcmp(event->bytes + field->offset, other->bytes + match->offset, length) == 0;
    }
    if (is_list(field) && count != field_count(match, other))
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (element(field, event, i) != element(match, other, i))
            return false;
    return true;
}

static bool has_same_fields(const struct lockstep *pair)
{
    const struct event *a = &pair->sides[0].cursor.event, *b = &pair->sides[1].cursor.event;

    if (strcmp(a->type->name, b->type->name) != 0 || a->type->field_count != b->type->field_count)
        return false;
    for (unsigned i = 0; i < a->type->field_count; i++)
        if (!lockstep_same_field(pair, &a->type->fields[i]))
            return false;
    return true;
}

static inline bool is_alike(const struct lockstep *pair)
{
    const struct cursor *a = &pair->sides[0].cursor, *b = &pair->sides[1].cursor;

    if (a->ticks != b->ticks && !pair->sides[0].only_order)
        return false;
    if (pair->types->same[a->event.type->index] == b->event.type && a->event.words == b->event.words &&
        memcmp(a->event.bytes, b->event.bytes, a->event.words * 8ul) == 0)
        return true;
    return has_same_fields(pair);
}

/* ---- one CPU --------------------------------------------------------------------------------------- */

/* Begin and end of packets are where the sizes of events put them. */
static bool is_of_packet(const struct lockstep_side *side)
{
    uint32_t id = event_id(&side->trace->schema, &side->cursor.event);

    return id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_CONTEXT) ||
           id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END);
}

bool lockstep_next(struct lockstep_side *side)
{
    const struct filter *filter = side->filter;
    struct cursor *cursor = &side->cursor;

    do {
        if (!cursor_next(cursor) || cursor->ticks >= filter->to_ticks)
            return side->has_event = false;
    } while (cursor->ticks < filter->from_ticks ||
             (filter->types != NULL && !filter->types[cursor->event.type->index]) ||
             (side->only_order && is_of_packet(side)));
    return side->has_event = true;
}

static uint64_t packet_of(const struct lockstep_side *side)
{
    return side->cursor.packet.header.packet_seq_num;
}

static bool is_first_of_packet(const struct lockstep_side *side)
{
    return side->cursor.event.bytes == side->cursor.packet.bytes + sizeof(struct trace_packet);
}

/* The last packet may have been copied before it was full. Then the puller added its end event. */
static bool is_at_end(const struct lockstep_side *side)
{
    const struct cursor *cursor = &side->cursor;

    return !side->has_event ||
           (event_id(&side->trace->schema, &cursor->event) == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END) &&
            cursor->next_packet >= cursor->stream->size);
}

static bool join(struct lockstep *pair)
{
    struct lockstep_side *a = &pair->sides[0], *b = &pair->sides[1];

    while (a->has_event && b->has_event && packet_of(a) != packet_of(b)) {
        struct lockstep_side *behind = packet_of(a) < packet_of(b) ? a : b;

        behind->before++;
        lockstep_next(behind);
    }
    if (!a->has_event || !b->has_event)
        return false;
    pair->first_packet = packet_of(a);
    return pair->is_joint = true;
}

static void note_difference(struct lockstep *pair)
{
    const struct lockstep_side *a = &pair->sides[0], *b = &pair->sides[1];

    pair->ticks = a->cursor.ticks < b->cursor.ticks || a->only_order ? a->cursor.ticks : b->cursor.ticks;
    pair->difference = LOCKSTEP_EVENT;
    if (packet_of(a) != packet_of(b) && is_first_of_packet(a) && is_first_of_packet(b)) {
        pair->difference = LOCKSTEP_PACKETS;
        pair->lacking = packet_of(a) < packet_of(b);
    }
}

static void count_rest(struct lockstep_side *side)
{
    for (; !is_at_end(side); lockstep_next(side))
        side->after++;
}

static void open_side(struct lockstep_side *side, struct reporter *reporter)
{
    cursor_open(&side->cursor, side->trace, side->stream, side->filter->from_ticks, reporter);
    if (lockstep_next(side))
        side->first_packet = packet_of(side);
}

void lockstep_walk(struct lockstep *pair, uint64_t bound, struct reporter *const reporters[2])
{
    struct lockstep_side *a = &pair->sides[0], *b = &pair->sides[1];

    if (a->stream == NULL || b->stream == NULL)
        return;
    open_side(a, reporters[0]);
    open_side(b, reporters[1]);
    if (!join(pair))
        return;
    while (a->has_event && b->has_event && is_alike(pair)) {
        if (a->cursor.ticks > bound)
            return;
        pair->alike++;
        lockstep_next(a);
        lockstep_next(b);
    }
    if (!is_at_end(a) && !is_at_end(b)) {
        note_difference(pair);
        return;
    }
    count_rest(a);
    count_rest(b);
}

void lockstep_close(struct lockstep *pair)
{
    for (unsigned side = 0; side < 2; side++)
        cursor_close(&pair->sides[side].cursor);
}
