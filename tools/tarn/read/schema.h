/*
 * schema.h - the events of a trace, as its metadata defines them.
 *
 * Packets have Tarn's layout (trace/format/format.h). An event consists of fields with fixed byte offsets;
 * only the last one may vary in size (a string, or a sequence whose count is an earlier field).
 */
#pragma once

#include <endian.h>
#include <string.h>
#include <tools/tarn/tarn.h>
#include <trace/format/format.h>

enum field_kind {
    FIELD_INTEGER,
    FIELD_ENUM,
    FIELD_TEXT,     /* fixed array of characters, ends at the first NUL */
    FIELD_STRING,   /* NUL-terminated; the last field */
    FIELD_ARRAY,    /* fixed array of integers */
    FIELD_SEQUENCE, /* integers, counted by an earlier field; the last field */
};

/* A value of an enumeration; signed values are sign-extended. */
struct label {
    const char *name;
    uint64_t value;
    const struct label *next;
};

struct field {
    const char *name;
    enum field_kind kind;
    uint8_t width; /* bytes of the integer or of one element */
    uint8_t base;
    bool is_signed;
    bool swap;                   /* not in host byte order */
    uint32_t offset;             /* bytes from the event's header */
    uint32_t count;              /* of an array */
    const struct field *counter; /* of a sequence: the field with its count */
    const struct label *labels;  /* of an enumeration, or of the elements of an array */
};

/* CHANGE: other events are logged from here on, perhaps switches. CONTEXT, SWITCH: say which thread runs. */
enum event_role { EVENT_PLAIN, EVENT_CHANGE, EVENT_CONTEXT, EVENT_SWITCH };

struct event_type {
    const char *name;
    uint32_t id;
    enum event_role role;
    uint32_t half;            /* of its header if the size is fixed: see struct event_half */
    uint32_t words;           /* includes the header; the minimum if the size varies */
    uint32_t fixed_words;     /* the same; UINT32_MAX if the size varies */
    const struct field *tail; /* the field that varies in size, or NULL */
    const struct field *fields;
    unsigned field_count;
    unsigned index; /* 0, 1, ... in metadata order */
    /* The cost of logging one, in thousandths; the least and the median. 0: not measured, or not counted. */
    uint32_t cost_ticks[2], cost_instructions[2];
};

/* Events that the tool itself uses; NULL if absent. */
struct known_events {
    const struct event_type *context; /* TRACE_MINOR_CONTEXT: pid, tid, name */
    const struct field *context_pid, *context_tid, *context_name;
    const struct event_type *switched; /* sched_switch */
    const struct field *prev_tid, *next_pid, *next_tid, *next_comm;
    const struct event_type *renamed; /* sched_rename */
    const struct field *renamed_tid, *renamed_name;
};

#define CONTEXT_FIELDS 4u

struct class_table {
    const struct event_type **by_minor;
    uint32_t count; /* length of `by_minor` */
    const char *name;
};

/* Event types of fixed size, by class and the low bits of the minor. */
#define FIXED_PLACES (TRACE_CLASS_COUNT * TRACE_MINORS_SWITCHED)
struct fixed_types {
    const struct event_type *at[FIXED_PLACES]; /* where there is none, one that no event has */
};

struct env_entry {
    const char *name;
    const char *text; /* numbers as text too */
    bool is_text;
    struct env_entry *next;
};

struct schema {
    struct arena arena;
    uint8_t uuid[16];
    bool swap;
    bool big_endian;
    struct env_entry *env;
    const char *clock_name;
    uint64_t clock_freq;
    int64_t clock_offset_s;
    uint64_t clock_offset; /* ticks, besides the seconds */
    int64_t clock_base_ns;
    uint64_t century; /* ticks: longer than any system runs */
    struct class_table classes[TRACE_CLASS_COUNT];
    struct fixed_types fixed;         /* of all events; with the same low bits of the minor, the last */
    const struct event_type **events; /* by index */
    unsigned event_count;
    struct known_events known;
    struct field context_fields[CONTEXT_FIELDS]; /* of the packet context, that CTF gives no meaning */
    uint64_t text_hash;                          /* of the file */
    unsigned cost_count;                         /* event types whose cost was measured */
};

/*
 * tsdl.c: metadata are TSDL (CTF 1.8) as trace/gen writes them: a frame that is the same in every trace, but
 * for the values of strings and placeholders, with the environment in it; then events. This program's own
 * template of metadata is the frame, so that a trace with another layout of packets is refused.
 *
 * Fills in the byte order, the UUID, the clock, the environment and the events. The arena has the texts, also
 * after failure.
 */
#define TSDL_BYTES_MAX (16u << 20)
bool tsdl_parse(struct schema *schema, const char *text, size_t length, struct fail *fail);

/* Reads DIR/metadata. */
bool schema_load(struct schema *schema, const char *directory, struct fail *fail);
bool schema_build(struct schema *schema, const char *text, size_t length, struct fail *fail);
void schema_free(struct schema *schema);
const struct field *schema_find_field(const struct event_type *type, const char *name); /* NULL: none */
const struct event_type *schema_find_event(const struct schema *schema, const char *name);

/* Returns the label of a value; NULL: the enumeration has none. FIELD may be NULL. */
const char *field_label(const struct field *field, uint64_t value);
void format_uuid(const uint8_t uuid[16], char text[37]);

/* Returns an environment entry; NULL: none of this name and type. */
const char *schema_env(const struct schema *schema, const char *name, bool is_text);

/* Returns the name of another kernel that logged with Tarn's trace (trace/kit); NULL: Tarn. */
const char *schema_other_system(const struct schema *schema);

/* The accuracy of the clock's rate. */
struct clock_trust {
    const char *sources; /* how the rate was determined */
    uint64_t error_ppm;  /* maximum error of the rate */
    bool is_certain;     /* two sources agree, or the architecture fixes the rate */
};
/* false: the trace does not say */
bool schema_clock_trust(const struct schema *schema, struct clock_trust *trust);

/* Returns the value of a label of FIELD, which may be NULL; NONE: it has no such label. */
uint64_t field_label_value(const struct field *field, const char *name, uint64_t none);

/* 0: unknown. */
uint64_t schema_cpu_count(const struct schema *schema);

static inline const struct event_type *schema_event(const struct schema *schema, uint32_t id)
{
    const struct class_table *class = &schema->classes[TRACE_ID_CLASS(id)];
    return TRACE_ID_MINOR(id) < class->count ? class->by_minor[TRACE_ID_MINOR(id)] : NULL;
}

/* Returns nanoseconds since the clock's origin (1970 if the offset says so). Computed exactly as babeltrace2
 * does, because order and ties depend on it. */
static inline int64_t schema_ns(const struct schema *schema, uint64_t ticks)
{
    double ns;
    if (__builtin_expect(schema->clock_freq == 1000000000, 1))
        return (int64_t)((uint64_t)schema->clock_base_ns + ticks);
    ns = 1e9 * (double)ticks / (double)schema->clock_freq;
    return ns >= 9.2e18 ? INT64_MAX : (int64_t)((uint64_t)schema->clock_base_ns + (uint64_t)ns);
}

/* Returns the nanoseconds from one time to a later one, 0 if it is not later. Unsigned, because damaged
 * times can be any distance apart. */
static inline uint64_t schema_elapsed_ns(const struct schema *schema, uint64_t from, uint64_t to)
{
    int64_t begin = schema_ns(schema, from), end = schema_ns(schema, to);
    return end > begin ? (uint64_t)end - (uint64_t)begin : 0;
}

/* Returns the first tick at or after a time of schema_ns; 2^60 if the clock never reaches it. */
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

/* The first 8 bytes of an event: a 10-bit word count and
 * the id, in the writer's byte order, then the time. */
struct event_head {
    uint32_t id, words, time;
};

static inline uint64_t event_word(bool is_big, const uint8_t *bytes)
{
    uint64_t word = load64(bytes, false);
    return is_big ? be64toh(word) : le64toh(word);
}

static inline struct event_head event_head(const struct schema *schema, const uint8_t *bytes)
{
    struct trace_header head = trace_header_of(!schema->big_endian, event_word(schema->big_endian, bytes));
    return (struct event_head){head.id, head.length, head.timestamp};
}

/* The same in halves, which takes less work: `half`, without the time, identifies an event of fixed size. */
struct event_half {
    uint32_t half, time;
    uint32_t place; /* in fixed_types */
};

static inline uint32_t fixed_place(uint32_t id)
{
    return TRACE_ID_CLASS(id) % TRACE_CLASS_COUNT * TRACE_MINORS_SWITCHED + id % TRACE_MINORS_SWITCHED;
}

static inline struct event_half event_half(bool is_big, uint64_t word)
{
    if (is_big)
        return (struct event_half){(uint32_t)(word >> 32), (uint32_t)word,
                                   fixed_place((uint32_t)(word >> 42))};
    return (struct event_half){(uint32_t)word, (uint32_t)(word >> 32), fixed_place((uint32_t)word)};
}

void fixed_types_open(struct fixed_types *types);
void fixed_types_add(struct fixed_types *types, const struct event_type *type); /* if its size is fixed */

/* Whether an event with LEFT bytes is of TYPE, which has its place, and has the right size. */
static inline bool fixed_type_fits(const struct event_type *type, struct event_half event, size_t left)
{
    return __builtin_expect(type->half == event.half, 1) && __builtin_expect(type->words * 8ul <= left, 1);
}

/* WIDTH is 1, 2, 4 or 8. Signed integers are sign-extended. */
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
