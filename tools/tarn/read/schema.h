/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/read/schema.h - second stage of metadata: declared types to layouts the decoder walks.
 *
 * The metadata of a trace is the truth about its events; this stage checks that it declares Tarn's layout
 * (trace/format/format.h) and flattens each event into fields with fixed byte offsets. Only the last field
 * may vary in size (a string, or a sequence whose count is an earlier field). Anything else is refused.
 */
#ifndef TARN_SCHEMA_H
#define TARN_SCHEMA_H

#include <endian.h>
#include <string.h>
#include <tools/tarn/read/tsdl.h>
#include <tools/tarn/tarn.h>
#include <trace/format/format.h>

enum field_kind {
    FIELD_INTEGER,
    FIELD_ENUM,
    FIELD_TEXT,     /* fixed array of characters, ends at the first NUL */
    FIELD_STRING,   /* up to a NUL; the last field */
    FIELD_ARRAY,    /* fixed array of integers */
    FIELD_SEQUENCE, /* integers, counted by an earlier field; the last field */
};

struct field {
    const char *name;
    enum field_kind kind;
    uint8_t width; /* bytes of the integer or of one element */
    uint8_t base;
    bool is_signed;
    bool swap;                       /* not in this machine's byte order */
    uint32_t offset;                 /* bytes from the event's header */
    uint32_t count;                  /* elements of an array */
    const struct field *counter;     /* of a sequence */
    const struct tsdl_label *labels; /* of an enumeration, or of the elements of an array of them */
};

/* Events that tell who runs. */
enum event_role { EVENT_PLAIN, EVENT_CONTEXT, EVENT_SWITCH };

struct event_type {
    const char *name;
    uint32_t id;
    enum event_role role;
    uint32_t words;           /* header included; of a variable event the least possible */
    uint32_t fixed_words;     /* the same; of a variable event UINT32_MAX */
    const struct field *tail; /* the field that varies in size, or NULL */
    const struct field *fields;
    unsigned field_count;
    bool has_fields; /* declares a struct, even if it is empty */
    unsigned index;  /* 0, 1, ... in the order of the metadata */
};

/* Fields of events the tool knows the meaning of; absent ones are NULL. */
struct known_events {
    const struct event_type *context; /* TRACE_MINOR_CONTEXT: pid, tid, name */
    const struct field *context_pid, *context_tid, *context_name;
    const struct event_type *switched; /* sched_switch */
    const struct field *next_pid, *next_tid, *next_comm;
};

struct class_table {
    const struct event_type **by_minor;
    uint32_t count; /* minors below this have a place */
    const char *name;
};

struct schema {
    struct tsdl tsdl;
    bool swap;
    bool big_endian;
    uint64_t clock_freq;
    int64_t clock_base_ns;
    uint64_t century; /* ticks: no system has run for longer */
    struct class_table classes[TRACE_CLASS_COUNT];
    const struct event_type **events; /* by index */
    unsigned event_count;
    struct known_events known;
    const struct field *context_fields; /* packet context without what CTF gives a meaning */
    unsigned context_field_count;
};

/* Reads DIR/metadata. */
bool schema_load(struct schema *schema, const char *directory, struct fail *fail);
bool schema_build(struct schema *schema, const char *text, size_t length, struct fail *fail);
void schema_free(struct schema *schema);
const struct field *schema_find_field(const struct event_type *type, const char *name);
const struct event_type *schema_find_event(const struct schema *schema, const char *name);

/* An entry of the environment; NULL: there is none of this name and kind. */
const char *schema_env(const struct schema *schema, const char *name, bool is_text);

/* How far the trace says that its clock's rate can be trusted. */
struct clock_trust {
    const char *sources; /* what the rate rests on */
    uint64_t error_ppm;  /* the true rate differs by at most this much */
    bool is_certain;     /* two sources agree, or the architecture fixes the rate */
};
bool schema_clock_trust(const struct schema *schema, struct clock_trust *trust); /* false: it says nothing */

/* How many processors the system has, as its metadata says; 0: it does not say. */
uint64_t schema_cpu_count(const struct schema *schema);

static inline const struct event_type *schema_event(const struct schema *schema, uint32_t id)
{
    const struct class_table *class = &schema->classes[TRACE_ID_CLASS(id)];

    return TRACE_ID_MINOR(id) < class->count ? class->by_minor[TRACE_ID_MINOR(id)] : NULL;
}

/* Nanoseconds since the clock's origin (1970 when the offset says so). Exactly as babeltrace2 computes it,
 * because order and ties are decided by it. */
static inline int64_t schema_ns(const struct schema *schema, uint64_t ticks)
{
    double ns;

    if (__builtin_expect(schema->clock_freq == 1000000000, 1))
        return (int64_t)((uint64_t)schema->clock_base_ns + ticks);
    ns = 1e9 * (double)ticks / (double)schema->clock_freq;
    return ns >= 9.2e18 ? INT64_MAX : (int64_t)((uint64_t)schema->clock_base_ns + (uint64_t)ns);
}

/* Nanoseconds from one time to a later one; damaged times lie anywhere, so the distance may need all 64 bits.
 */
static inline uint64_t schema_elapsed_ns(const struct schema *schema, uint64_t from, uint64_t to)
{
    int64_t begin = schema_ns(schema, from), end = schema_ns(schema, to);
    return end > begin ? (uint64_t)end - (uint64_t)begin : 0;
}

/* The first tick at or after a time in schema_ns; 2^60 for times that no clock reaches. */
uint64_t schema_ticks(const struct schema *schema, int64_t ns);

static inline uint32_t load32(const uint8_t *bytes, bool swap)
{
    uint32_t value;

    memcpy(&value, bytes, sizeof(value));
    return swap ? __builtin_bswap32(value) : value;
}

static inline uint64_t load64(const uint8_t *bytes, bool swap)
{
    uint64_t value;

    memcpy(&value, bytes, sizeof(value));
    return swap ? __builtin_bswap64(value) : value;
}

/* What the first 8 bytes of an event say: its number of words, 10 bits, and its id, in the order of the
 * machine that wrote them; then its time. */
struct event_head {
    uint32_t id, words, time;
};

static inline struct event_head event_head(const struct schema *schema, const uint8_t *bytes)
{
    uint64_t head;

    memcpy(&head, bytes, sizeof(head));
    if (__builtin_expect(schema->big_endian, 0)) {
        head = be64toh(head);
        return (struct event_head){(uint32_t)(head >> 42), head >> 32 & 0x3ff, (uint32_t)head};
    }
    head = le64toh(head);
    return (struct event_head){head & 0x3fffff, (uint32_t)head >> 22, (uint32_t)(head >> 32)};
}

/* An integer of 1, 2, 4 or 8 bytes; signed ones are sign-extended. */
static inline uint64_t load_integer(const uint8_t *bytes, unsigned width, bool is_signed, bool swap)
{
    uint16_t half;

    switch (width) {
    case 1:
        return is_signed ? (uint64_t)(int8_t)*bytes : *bytes;
    case 2:
        memcpy(&half, bytes, sizeof(half));
        half = swap ? __builtin_bswap16(half) : half;
        return is_signed ? (uint64_t)(int16_t)half : half;
    case 4:
        return is_signed ? (uint64_t)(int32_t)load32(bytes, swap) : load32(bytes, swap);
    default:
        return load64(bytes, swap);
    }
}

/* EVENT is the address of the event's header. */
static inline uint64_t field_integer(const struct field *field, const uint8_t *event)
{
    return load_integer(event + field->offset, field->width, field->is_signed, field->swap);
}

#endif
