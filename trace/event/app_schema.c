/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/event/app_schema.c - reads applications' events from the metadata; see app_schema.h.
 *
 * The kernel accepts into the metadata only what evgen writes, line by line (trace/control/schema_check.c).
 * Anything unexpected is left out, and its events are printed as numbers.
 */
#include "trace/events.h" /* generated */
#include <stdbool.h>
#include <stddef.h>
#include <trace/event/app_schema.h>
#include <trace/event/words.h>

#define FIELDS_MAX 24 /* as in schema_check.c */
#define ENUM_MAX   64

struct parser {
    const char *at, *end;  /* the rest of the line */
    const char *next, *of; /* the next line; the end of the text */
    char *memory;
    uint64_t room;
};

/* ---- memory --------------------------------------------------------------------------------------- */

/* NULL: not enough memory. */
static void *take(struct parser *p, uint64_t bytes, uint64_t align)
{
    const uint64_t pad = -(uint64_t)p->memory & (align - 1);
    if (p->room < pad + bytes)
        return NULL;
    char *taken = p->memory + pad;
    p->memory = taken + bytes;
    p->room -= pad + bytes;
    return taken;
}

static void copy(void *to, const void *from, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++)
        ((char *)to)[i] = ((const char *)from)[i];
}

static void *keep(struct parser *p, const void *from, uint64_t bytes)
{
    void *kept = take(p, bytes, 8);
    if (kept)
        copy(kept, from, bytes);
    return kept;
}

static const char *keep_text(struct parser *p, const char *from, uint64_t length)
{
    char *text = take(p, length + 1, 1);
    if (!text)
        return NULL;
    copy(text, from, length);
    text[length] = 0;
    return text;
}

/* ---- lines and words ------------------------------------------------------------------------------ */

/* The next line that is not empty, without leading blanks. */
static bool next_line(struct parser *p)
{
    do {
        p->at = p->next;
        for (p->end = p->at; p->end < p->of && *p->end != '\n'; p->end++)
            ;
        p->next = p->end < p->of ? p->end + 1 : p->end;
        while (p->at < p->end && *p->at == ' ')
            p->at++;
        if (p->at < p->end)
            return true;
    } while (p->next < p->of);
    return false;
}

static bool skip(struct parser *p, const char *word)
{
    const char *at = p->at;
    for (; *word; word++, at++)
        if (at == p->end || *at != *word)
            return false;
    p->at = at;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_character(char c)
{
    return is_digit(c) || c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool take_number(struct parser *p, uint64_t *value)
{
    const char *start = p->at;
    for (*value = 0; p->at < p->end && is_digit(*p->at); p->at++)
        *value = *value * 10 + (uint64_t)(*p->at - '0');
    return p->at > start;
}

/* A name, at least one character; NULL: none, or not enough memory. */
static const char *take_name(struct parser *p)
{
    const char *start = p->at;
    while (p->at < p->end && is_name_character(*p->at))
        p->at++;
    return p->at > start ? keep_text(p, start, (uint64_t)(p->at - start)) : NULL;
}

static uint64_t length_of(const char *text)
{
    uint64_t length = 0;
    while (text[length])
        length++;
    return length;
}

static bool is_same(const char *a, const char *b)
{
    for (; *a && *a == *b; a++, b++)
        ;
    return *a == *b;
}

/* ---- fields --------------------------------------------------------------------------------------- */

/* `"red" = 1, "green" = 2 } ` */
static const struct trace_enum_table *parse_enum(struct parser *p)
{
    struct trace_enum_value values[ENUM_MAX];
    uint32_t count = 0;
    while (count < ENUM_MAX && skip(p, "\"")) {
        struct trace_enum_value *value = &values[count++];
        value->name = take_name(p);
        if (!value->name || !skip(p, "\" = ") || !take_number(p, &value->value))
            return NULL;
        skip(p, ",");
        skip(p, " ");
    }
    struct trace_enum_table *table =
        keep(p, &(struct trace_enum_table){.name = "", .count = count}, sizeof(*table));
    if (table)
        table->values = keep(p, values, count * sizeof(values[0]));
    return table && table->values && skip(p, "} ") ? table : NULL;
}

/* The type and size of `TYPE `; false: unknown. */
static bool parse_type(struct parser *p, struct trace_field_info *field)
{
    uint64_t bits;
    if (skip(p, "string { encoding = UTF8; } ")) {
        field->kind = TRACE_FIELD_STRING;
        field->bytes = 1;
        return true;
    }
    if (skip(p, "text8_t ")) {
        field->kind = TRACE_FIELD_COMM;
        field->bytes = TRACE_NAME_BYTES;
        return true;
    }
    bool is_enum = skip(p, "enum : ");
    field->kind = skip(p, "x") ? TRACE_FIELD_HEX : skip(p, "u") ? TRACE_FIELD_UNSIGNED : TRACE_FIELD_SIGNED;
    if (!skip(p, "int") || !take_number(p, &bits) || bits > 64 || bits < 8 || bits & (bits - 1) ||
        !skip(p, "_t "))
        return false;
    field->bytes = (uint8_t)(bits / 8);
    return !is_enum || (skip(p, "{ ") && (field->enumeration = parse_enum(p)));
}

static int16_t find_counter(const struct trace_event_info *info, const char *name)
{
    for (int16_t i = 0; i < info->field_count; i++)
        if (is_same(info->fields[i].name, name))
            return i;
    return -1;
}

/* `TYPE NAME;`, `TYPE NAME[16];` or `TYPE NAME[COUNTER];` */
static bool parse_field(struct parser *p, struct trace_event_info *info, struct trace_field_info *fields)
{
    struct trace_field_info *field = &fields[info->field_count];
    *field = (struct trace_field_info){.count_field = -1, .offset = info->fixed_bytes, .description = ""};
    if (!parse_type(p, field) || !(field->name = take_name(p)))
        return false;
    const char *counter = skip(p, "[") ? take_name(p) : NULL;
    if (field->kind == TRACE_FIELD_HEX && counter) {
        field->kind = TRACE_FIELD_ARRAY;
        field->count_field = find_counter(info, counter);
        if (field->count_field < 0)
            return false;
    } else if (field->kind != TRACE_FIELD_STRING) {
        info->fixed_bytes = (uint16_t)(info->fixed_bytes + field->bytes);
    }
    info->field_count++;
    return true;
}

static char *append(char *to, const char *text)
{
    uint64_t length = length_of(text);
    copy(to, text, length);
    return to + length;
}

/* "a = %a%, b = %b%": the metadata has no format for people. */
static const char *make_format(struct parser *p, const struct trace_field_info *fields, uint32_t count)
{
    uint64_t length = 1;
    for (uint32_t i = 0; i < count; i++)
        length += 2 * length_of(fields[i].name) + 7; /* ", ", " = ", two %; */
    char *format = take(p, length, 1), *at = format;
    for (uint32_t i = 0; format && i < count; i++) {
        at = append(at, i ? ", " : "");
        at = append(append(at, fields[i].name), " = %");
        at = append(append(at, fields[i].name), "%");
    }
    if (format)
        *at = 0;
    return format;
}

/* ---- events --------------------------------------------------------------------------------------- */

/* Splits `market_trade`: the class is the part before the first underscore. */
static bool set_names(struct trace_event_info *event, const char *full_name)
{
    event->full_name = event->name = full_name;
    if (!full_name)
        return false;
    for (const char *at = full_name; *at; at++)
        if (*at == '_') {
            event->name = at + 1;
            break;
        }
    return true;
}

/* Parses from the line after `event {` to the closing `};`. */
static struct trace_event_info *parse_event(struct parser *p)
{
    struct trace_event_info event = {.description = "", .class_name = ""};
    uint64_t id;
    if (!next_line(p) || !skip(p, "name = \"") || !set_names(&event, take_name(p)))
        return NULL;
    if (!next_line(p) || !skip(p, "id = ") || !take_number(p, &id))
        return NULL;
    event.id = (uint32_t)id;
    struct trace_field_info fields[FIELDS_MAX];
    event.fields = fields;
    if (!next_line(p) || !next_line(p)) /* stream_id; fields := struct { */
        return NULL;
    while (next_line(p) && !skip(p, "};"))
        if (event.field_count == FIELDS_MAX || !parse_field(p, &event, fields))
            return NULL;
    if (!next_line(p) || !skip(p, "};")) /* the text is cut */
        return NULL;
    event.format = make_format(p, fields, event.field_count);
    event.fields = keep(p, fields, event.field_count * sizeof(fields[0]));
    return event.fields && event.format ? keep(p, &event, sizeof(event)) : NULL;
}

static void add_event(struct trace_app_schemas *schemas, const struct trace_event_info *info)
{
    uint32_t app = TRACE_ID_CLASS(info->id) - TRACE_CLASS_APP_FIRST, minor = TRACE_ID_MINOR(info->id);
    if (app < TRACE_APP_CLASSES && minor < TRACE_MINORS_SWITCHED)
        schemas->events[app][minor] = info;
}

/* After the start of a comment: `48 is market`. */
static void parse_class(struct parser *p, struct trace_app_schemas *schemas)
{
    uint64_t number;
    if (!take_number(p, &number) || !skip(p, " is ") || number - TRACE_CLASS_APP_FIRST >= TRACE_APP_CLASSES)
        return;
    char *name = schemas->names[number - TRACE_CLASS_APP_FIRST];
    for (uint32_t i = 0; i + 1 < TRACE_NAME_BYTES && p->at < p->end && is_name_character(*p->at); i++)
        name[i] = *p->at++;
}

void trace_learn_schemas(struct trace_app_schemas *schemas, const char *text, uint64_t size, void *memory,
                         uint64_t memory_size)
{
    struct parser p = {.next = text, .of = text + size, .memory = memory, .room = memory_size};
    *schemas = (struct trace_app_schemas){0};
    while (next_line(&p)) {
        const struct trace_event_info *info;
        const struct parser before = p; /* an event that is left out takes no memory */
        if (skip(&p, "/* class "))
            parse_class(&p, schemas);
        else if (!skip(&p, "event {"))
            continue;
        else if ((info = parse_event(&p)) && TRACE_ID_CLASS(info->id) >= TRACE_CLASS_APP_FIRST)
            add_event(schemas, info);
        else
            p.memory = before.memory, p.room = before.room;
    }
}

/* ---- look-up -------------------------------------------------------------------------------------- */

const struct trace_event_info *trace_find_event(const struct trace_app_schemas *schemas, uint32_t id)
{
    uint32_t class_number = TRACE_ID_CLASS(id), minor = TRACE_ID_MINOR(id);
    if (class_number < TRACE_CLASS_APP_FIRST)
        return trace_event_find(id);
    if (class_number >= TRACE_CLASS_COUNT || minor >= TRACE_MINORS_SWITCHED)
        return NULL;
    return schemas->events[class_number - TRACE_CLASS_APP_FIRST][minor];
}

const char *trace_find_class_name(const struct trace_app_schemas *schemas, uint32_t class_number)
{
    if (class_number >= TRACE_CLASS_COUNT)
        return NULL;
    if (class_number < TRACE_CLASS_APP_FIRST)
        return trace_class_table[class_number].name;
    const char *name = schemas->names[class_number - TRACE_CLASS_APP_FIRST];
    return *name ? name : NULL;
}

int trace_find_any_class(const struct trace_app_schemas *schemas, const char *name, uint64_t length)
{
    for (uint32_t i = 0; i < TRACE_APP_CLASSES && length; i++) {
        uint64_t same = 0;
        while (same < length && schemas->names[i][same] == name[same])
            same++;
        if (same == length && !schemas->names[i][same])
            return (int)(TRACE_CLASS_APP_FIRST + i);
    }
    return trace_find_system_class(name, length);
}
