/* trace/format/descriptor.c - checks a descriptor, and writes its events as TSDL (CTF 1.8, section C); see
 * descriptor.h.
 */
#include <trace/format/descriptor.h>
#include <trace/format/event_table.h>
#include <trace/format/format.h>
#include <trace/format/layout.h>
#include <trace/format/text.h>

#define BODY_BYTES_MAX (8u * (TRACE_LENGTH_MAX - 1))

/* ---- the check ------------------------------------------------------------------------------------- */

static const char *const reserved_words[] = {
    "_Bool",   "_Complex", "_Imaginary", "align",    "callsite", "char",    "clock",
    "const",   "double",   "enum",       "env",      "event",    "float",   "floating_point",
    "int",     "integer",  "long",       "short",    "signed",   "stream",  "string",
    "struct",  "trace",    "typealias",  "typedef",  "unsigned", "variant", "void",
    "uint8_t", "uint16_t", "uint32_t",   "uint64_t", "int8_t",   "int16_t", "int32_t",
    "int64_t", "xint8_t",  "xint16_t",   "xint32_t", "xint64_t", "text8_t", "clock64_t",
};

/* The rest of a descriptor; records are taken from its front. */
struct records {
    const struct trace_descriptor *descriptor;
    uint64_t at; /* in bytes */
};

static const void *take(struct records *records, uint64_t bytes)
{
    const char *record = (const char *)records->descriptor + records->at;
    if (bytes > records->descriptor->texts - records->at)
        return 0;
    records->at += bytes;
    return record;
}

static bool is_word_character(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (!first && ((c >= '0' && c <= '9') || c == '_'));
}

/* NULL: no name. */
static const char *check_name(const struct trace_descriptor *descriptor, uint32_t place, uint32_t longest)
{
    const char *text = trace_descriptor_text(descriptor, place);
    uint32_t length = 0;
    if (place < descriptor->texts || place >= descriptor->bytes)
        return 0;
    while (length <= longest && is_word_character(text[length], length == 0))
        length++;
    return length > 0 && length <= longest && !text[length] ? text : 0;
}

bool trace_name_is_reserved(const char *name)
{
    for (unsigned i = 0; i < sizeof(reserved_words) / sizeof(*reserved_words); i++)
        if (trace_is_same(name, reserved_words[i]))
            return true;
    return false;
}

/* Values ascend and fit the type. */
static bool check_values(struct records *records, const struct trace_field_record *field)
{
    const uint64_t largest = field->bytes < 8 ? (1ull << 8 * field->bytes) - 1 : ~0ull;
    uint64_t last = 0;
    for (uint32_t i = 0; i < field->value_count; i++) {
        const struct trace_value_record *value = take(records, sizeof(*value));
        if (!value || !check_name(records->descriptor, value->name, TRACE_DESCRIPTOR_NAME_MAX) ||
            trace_value_of(value) > largest || (i > 0 && trace_value_of(value) <= last))
            return false;
        last = trace_value_of(value);
    }
    return true;
}

static bool is_integer(uint32_t kind)
{
    return kind == TRACE_FIELD_UNSIGNED || kind == TRACE_FIELD_SIGNED || kind == TRACE_FIELD_HEX;
}

static bool check_type(const struct trace_field_record *field, bool is_last)
{
    const bool is_power = field->bytes > 0 && field->bytes <= 8 && (field->bytes & (field->bytes - 1)) == 0;
    if (field->value_count > 0 && field->kind != TRACE_FIELD_UNSIGNED)
        return false;
    switch (field->kind) {
    case TRACE_FIELD_COMM:
        return field->bytes == TRACE_NAME_BYTES;
    case TRACE_FIELD_STRING:
        return field->bytes == 1 && is_last;
    case TRACE_FIELD_ARRAY:
        return field->bytes == 8 && is_last;
    default:
        return is_integer(field->kind) && is_power;
    }
}

/* The fields before one. */
struct fields {
    const struct trace_field_record *field[TRACE_DESCRIPTOR_FIELDS_MAX];
    uint32_t count;
    uint64_t offset; /* of the next one, in bytes */
};

static bool has_counter(const struct fields *fields, uint32_t index)
{
    return index < fields->count && fields->field[index]->kind == TRACE_FIELD_UNSIGNED &&
           fields->field[index]->bytes > 1 && fields->field[index]->value_count == 0;
}

static bool check_field(struct records *records, struct fields *fields, bool is_last)
{
    const struct trace_field_record *field = take(records, sizeof(*field));
    const char *name = field ? check_name(records->descriptor, field->name, TRACE_DESCRIPTOR_NAME_MAX) : 0;
    if (!name || trace_name_is_reserved(name) || !check_type(field, is_last) || !check_values(records, field))
        return false;
    if (field->kind == TRACE_FIELD_ARRAY && !has_counter(fields, field->count_field))
        return false;
    if ((is_integer(field->kind) || field->kind == TRACE_FIELD_ARRAY) && fields->offset % field->bytes != 0)
        return false;
    for (uint32_t i = 0; i < fields->count; i++)
        if (trace_is_same(trace_descriptor_text(records->descriptor, fields->field[i]->name), name))
            return false;
    fields->field[fields->count++] = field;
    fields->offset += field->bytes;
    return fields->offset <= BODY_BYTES_MAX;
}

static bool begins_with_class(const char *name, const char *class_name)
{
    while (*class_name && *name == *class_name)
        name++, class_name++;
    return !*class_name && name[0] == '_' && name[1];
}

static bool check_limit(const struct trace_event_record *event, const struct fields *fields)
{
    const uint32_t above = event->limit - TRACE_LIMIT_ABOVE;
    return event->limit < TRACE_LIMIT_ABOVE ||
           (above < fields->count && fields->field[above]->kind == TRACE_FIELD_UNSIGNED);
}

/* The events so far. */
struct events {
    uint64_t minors;
    uint32_t limited;
};

static bool check_event(struct records *records, const char *class_name, struct events *events)
{
    const struct trace_event_record *event = take(records, sizeof(*event));
    struct fields fields = {.count = 0};
    const char *name = event ? check_name(records->descriptor, event->name, TRACE_DESCRIPTOR_NAME_MAX) : 0;
    if (!name || !begins_with_class(name, class_name) || event->minor >= TRACE_MINORS_SWITCHED ||
        events->minors >> event->minor & 1 || event->field_count > TRACE_DESCRIPTOR_FIELDS_MAX)
        return false;
    events->minors |= 1ull << event->minor;
    events->limited += event->limit != TRACE_LIMIT_NONE;
    for (uint32_t i = 0; i < event->field_count; i++)
        if (!check_field(records, &fields, i + 1 == event->field_count))
            return false;
    return check_limit(event, &fields) && events->limited <= TRACE_APP_LIMITED_MAX;
}

bool trace_descriptor_check(const struct trace_descriptor *descriptor, uint64_t size)
{
    struct records records = {descriptor, sizeof(*descriptor)};
    struct events events = {0};
    if (size <= sizeof(*descriptor) || descriptor->magic != TRACE_DESCRIPTOR_MAGIC ||
        descriptor->bytes != size || descriptor->texts < sizeof(*descriptor) || descriptor->texts >= size ||
        descriptor->texts % 4 || *trace_descriptor_text(descriptor, descriptor->bytes - 1))
        return false;
    const char *class_name = check_name(descriptor, descriptor->class_name, TRACE_NAME_BYTES - 1);
    if (!class_name)
        return false;
    for (uint32_t i = 0; i < descriptor->event_count; i++)
        if (!check_event(&records, class_name, &events))
            return false;
    return events.minors != 0 && records.at == descriptor->texts;
}

/* ---- looking up ------------------------------------------------------------------------------------ */

const struct trace_event_record *trace_descriptor_find(const struct trace_descriptor *descriptor,
                                                       uint32_t minor)
{
    const struct trace_event_record *event = trace_descriptor_events(descriptor);
    for (uint32_t i = 0; i < descriptor->event_count; i++, event = trace_event_end(event))
        if (event->minor == minor)
            return event;
    return 0;
}

uint32_t trace_descriptor_limit(const struct trace_descriptor *descriptor,
                                const struct trace_event_record *event)
{
    uint32_t number = 0;
    for (const struct trace_event_record *other = trace_descriptor_events(descriptor); other != event;
         other = trace_event_end(other))
        number += other->limit != TRACE_LIMIT_NONE;
    return number;
}

/* ---- TSDL ------------------------------------------------------------------------------------------ */

struct output {
    const struct trace_descriptor *descriptor;
    struct trace_text text;
};

static void put(struct output *out, const char *text)
{
    trace_text_add(&out->text, text);
}

static void put_name(struct output *out, uint32_t place)
{
    put(out, trace_descriptor_text(out->descriptor, place));
}

static void put_number(struct output *out, uint64_t value)
{
    trace_text_number(&out->text, value);
}

static void put_integer_type(struct output *out, const char *prefix, uint32_t bytes)
{
    put(out, prefix);
    put(out, "int");
    put_number(out, 8 * bytes);
    put(out, "_t ");
}

/* Trace Compass reads no number from 2^63 on: an enumeration with such a value is declared signed. */
static void put_enum(struct output *out, const struct trace_field_record *field)
{
    const struct trace_value_record *values = trace_field_values(field);
    const bool is_signed = trace_value_of(&values[field->value_count - 1]) > INT64_MAX;
    put(out, "enum : ");
    put_integer_type(out, is_signed ? "" : "u", field->bytes);
    for (uint32_t i = 0; i < field->value_count; i++) {
        const uint64_t value = trace_value_of(&values[i]);
        put(out, i ? ", \"" : "{ \"");
        put_name(out, values[i].name);
        put(out, is_signed && value > INT64_MAX ? "\" = -" : "\" = ");
        put_number(out, is_signed && value > INT64_MAX ? -value : value);
    }
    put(out, " } ");
}

static void put_type(struct output *out, const struct trace_field_record *field)
{
    static const char *const prefixes[] = {[TRACE_FIELD_UNSIGNED] = "u",
                                           [TRACE_FIELD_SIGNED] = "",
                                           [TRACE_FIELD_HEX] = "x",
                                           [TRACE_FIELD_ARRAY] = "x"};
    if (field->kind == TRACE_FIELD_COMM)
        put(out, "text8_t ");
    else if (field->kind == TRACE_FIELD_STRING)
        put(out, "string { encoding = UTF8; } ");
    else if (field->value_count > 0)
        put_enum(out, field);
    else
        put_integer_type(out, prefixes[field->kind], field->bytes);
}

static const void *put_event(struct output *out, const struct trace_event_record *event,
                             uint32_t class_number)
{
    const struct trace_field_record *fields[TRACE_DESCRIPTOR_FIELDS_MAX];
    const void *next = trace_event_fields(event);
    put(out, "event {\n    name = \"");
    put_name(out, event->name);
    put(out, "\";\n    id = ");
    put_number(out, TRACE_ID(class_number, event->minor));
    put(out, ";\n    stream_id = 0;\n    fields := struct {\n");
    for (uint32_t i = 0; i < event->field_count; i++, next = trace_field_end(next)) {
        fields[i] = next;
        put(out, "        ");
        put_type(out, fields[i]);
        put_name(out, fields[i]->name);
        if (fields[i]->kind == TRACE_FIELD_COMM) {
            put(out, "[16]");
        } else if (fields[i]->kind == TRACE_FIELD_ARRAY) {
            put(out, "[");
            put_name(out, fields[fields[i]->count_field]->name);
            put(out, "]");
        }
        put(out, ";\n");
    }
    put(out, "    };\n};\n");
    return next;
}

uint64_t trace_descriptor_tsdl(const struct trace_descriptor *descriptor, uint32_t class_number, char *text,
                               uint64_t capacity)
{
    struct output out = {descriptor, {text, capacity, 0}};
    const void *event = trace_descriptor_events(descriptor);
    for (uint32_t i = 0; i < descriptor->event_count; i++)
        event = put_event(&out, event, class_number);
    return out.text.length;
}
