/*
 * trace/format/descriptor.h - the events of one class, flat: as evgen writes them, as a program registers
 * them with the kernel, and as TSDL is made of them.
 *
 * The records follow the header in this order: an event, its first field, that field's values, the next
 * field, ... A name is the place of a NUL-terminated text, in bytes from the start of the descriptor. A
 * user's descriptor is checked once, in memory that only the checker can change; all else relies on that.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <trace/format/event_table.h>

#define TRACE_DESCRIPTOR_MAGIC      0x54617245u /* "TarE" */
#define TRACE_DESCRIPTOR_BYTES_MAX  16384u
#define TRACE_DESCRIPTOR_FIELDS_MAX 24u /* of one event */
#define TRACE_DESCRIPTOR_NAME_MAX   32u /* characters of a name */

struct trace_descriptor {
    uint32_t magic;
    uint32_t bytes; /* of all of it */
    uint32_t texts; /* place of the first text; the records end here */
    uint32_t class_name;
    uint32_t event_count;
};

struct trace_event_record {
    uint32_t minor, name; /* the whole name: "market_trade" */
    uint32_t field_count;
    /* TRACE_LIMIT_NONE, TRACE_LIMIT_SAMPLED, or TRACE_LIMIT_ABOVE plus the index of the field */
    uint32_t limit;
};

struct trace_field_record {
    uint32_t name, kind, bytes; /* as in struct trace_field_info */
    uint32_t count_field;       /* TRACE_FIELD_ARRAY: index of the field with the count */
    uint32_t value_count;       /* of its enumeration; 0: none */
};

struct trace_value_record {
    uint32_t name, low, high; /* halves of the value */
};

/* Whether SIZE bytes are a descriptor that an application may register: names that CTF allows, each event's
 * beginning with that of the class, minors below 64, natural alignment, a string or array only at the end, at
 * most TRACE_APP_LIMITED_MAX events with a limit, a threshold only for a number without sign.
 * DESCRIPTOR is aligned to 4. */
bool trace_descriptor_check(const struct trace_descriptor *descriptor, uint64_t size);

/* Of a checked descriptor: the event with that minor, or NULL. */
const struct trace_event_record *trace_descriptor_find(const struct trace_descriptor *descriptor,
                                                       uint32_t minor);

/* Of an event that can be limited: its number among those of the descriptor, in their order. */
uint32_t trace_descriptor_limit(const struct trace_descriptor *descriptor,
                                const struct trace_event_record *event);

/* Whether NAME is a keyword of TSDL, or a type that the metadata defines: not a field's name. */
bool trace_name_is_reserved(const char *name);

/* Writes the events as TSDL, without a NUL, at most `capacity` bytes. Returns the full length. */
uint64_t trace_descriptor_tsdl(const struct trace_descriptor *descriptor, uint32_t class_number, char *text,
                               uint64_t capacity);

static inline const char *trace_descriptor_text(const struct trace_descriptor *descriptor, uint32_t place)
{
    return (const char *)descriptor + place;
}

static inline const struct trace_event_record *trace_descriptor_events(
    const struct trace_descriptor *descriptor)
{
    return (const struct trace_event_record *)(descriptor + 1);
}

static inline const struct trace_field_record *trace_event_fields(const struct trace_event_record *event)
{
    return (const struct trace_field_record *)(event + 1);
}

static inline enum trace_limit_kind trace_event_limit_kind(const struct trace_event_record *event)
{
    return event->limit < TRACE_LIMIT_ABOVE ? (enum trace_limit_kind)event->limit : TRACE_LIMIT_ABOVE;
}

static inline const struct trace_value_record *trace_field_values(const struct trace_field_record *field)
{
    return (const struct trace_value_record *)(field + 1);
}

static inline uint64_t trace_value_of(const struct trace_value_record *value)
{
    return (uint64_t)value->high << 32 | value->low;
}

/* The field behind FIELD and its values, or behind the last one the next event. */
static inline const void *trace_field_end(const struct trace_field_record *field)
{
    return trace_field_values(field) + field->value_count;
}

static inline const struct trace_event_record *trace_event_end(const struct trace_event_record *event)
{
    const void *next = trace_event_fields(event);
    for (uint32_t i = 0; i < event->field_count; i++)
        next = trace_field_end((const struct trace_field_record *)next);
    return (const struct trace_event_record *)next;
}
