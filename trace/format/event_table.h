/*
 * trace/format/event_table.h - types of the generated table that describes the bodies of events.
 *
 * trace/gen fills such tables for the system's events (build/gen/trace/events.c); the kernel's printer and
 * the host's decoder use them. A reader of an application's schema builds the same structures at run time.
 */
#pragma once

#include <stdint.h>

enum trace_field_kind {
    TRACE_FIELD_UNSIGNED, /* 1, 2, 4 or 8 bytes, decimal; by name if there is an enumeration */
    TRACE_FIELD_SIGNED,   /* the same, two's complement */
    TRACE_FIELD_HEX,      /* unsigned, printed in hexadecimal */
    TRACE_FIELD_COMM,     /* TRACE_NAME_BYTES bytes, padded with NUL (not always terminated) */
    TRACE_FIELD_STRING,   /* NUL-terminated; only as the last field; ends with the event at the latest */
    /* 64-bit words in hexadecimal; only as the last field; an earlier field has the count */
    TRACE_FIELD_ARRAY,
};

struct trace_enum_value {
    uint64_t value;
    const char *name;
};

struct trace_enum_table {
    const char *name;
    const struct trace_enum_value *values; /* in ascending order */
    uint32_t count;
};

/* NULL: the value has no name. The table may be NULL. */
static inline const char *trace_enum_name(const struct trace_enum_table *table, uint64_t value)
{
    for (uint32_t i = 0; table && i < table->count; i++)
        if (table->values[i].value == value)
            return table->values[i].name;
    return 0;
}

struct trace_field_info {
    const char *name;
    const char *description;
    uint8_t kind;        /* enum trace_field_kind */
    uint8_t bytes;       /* of one element; 1 for a string */
    uint16_t offset;     /* from the end of the event header */
    int16_t count_field; /* TRACE_FIELD_ARRAY: index of the field with the count; else -1 */
    const struct trace_enum_table *enumeration;
};

/* Which events of a type are logged, if it is limited. */
enum trace_limit_kind {
    TRACE_LIMIT_NONE,    /* all */
    TRACE_LIMIT_SAMPLED, /* one in N */
    TRACE_LIMIT_ABOVE,   /* only if a field is at least a threshold */
};

struct trace_event_info {
    uint32_t id; /* TRACE_ID(class, minor) */
    const char *class_name;
    const char *name;
    const char *full_name; /* "sched_switch", the name in the metadata */
    const char *description;
    const char *format; /* for people: %field% stands for a field's value, %% for a percent sign */
    const struct trace_field_info *fields;
    uint16_t field_count;
    uint16_t fixed_bytes; /* body without a final string or array: the shortest event */
    uint8_t limit_kind;   /* enum trace_limit_kind */
    uint8_t limit;     /* if it can be limited: its number, in trace_limited or in its application's class */
    const char *above; /* TRACE_LIMIT_ABOVE: name of the field; else NULL */
};

/* A type of events that can be limited. */
struct trace_limited {
    uint32_t id;       /* TRACE_ID(class, minor) */
    const char *above; /* NULL: sampled; else the field that a threshold is for */
};

struct trace_class_info {
    const char *name; /* NULL: no such class */
    const char *description;
    const struct trace_event_info *const *events; /* by minor; NULL where there is none */
    uint32_t minor_limit;                         /* entries in events */
};
