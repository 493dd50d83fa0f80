/* trace/print/app_schema.c - makes tables of applications' events (format/event_table.h) from their
 * descriptors; see app_schema.h. */
#include "trace/events.h" /* generated */
#include <stdbool.h>
#include <trace/print/app_schema.h>
#include <trace/print/words.h>

struct loader {
    const struct trace_descriptor *descriptor;
    char *memory;
    uint64_t space;
};

/* NULL: not enough memory. */
static void *take(struct loader *loader, uint64_t bytes, uint64_t align)
{
    const uint64_t pad = -(uint64_t)loader->memory & (align - 1);
    if (loader->space < pad + bytes)
        return NULL;
    char *taken = loader->memory + pad;
    loader->memory = taken + bytes;
    loader->space -= pad + bytes;
    return taken;
}

/* "a = %a%, b = %b%": a descriptor has no format for people. */
static const char *make_format(struct loader *loader, const struct trace_field_info *fields, uint32_t count)
{
    struct trace_text text = {loader->memory, loader->space, 0};
    for (uint32_t i = 0; i < count; i++) {
        trace_text_add(&text, i ? ", " : "");
        trace_text_add(&text, fields[i].name);
        trace_text_add(&text, " = %");
        trace_text_add(&text, fields[i].name);
        trace_text_char(&text, '%');
    }
    trace_text_char(&text, 0);
    return take(loader, text.length, 1);
}

static const struct trace_enum_table *load_enum(struct loader *loader, const struct trace_field_record *field)
{
    struct trace_enum_table *table = take(loader, sizeof(*table), 8);
    struct trace_enum_value *values = take(loader, field->value_count * sizeof(*values), 8);
    const struct trace_value_record *from = trace_field_values(field);
    if (!table || !values)
        return NULL;
    for (uint32_t i = 0; i < field->value_count; i++)
        values[i] = (struct trace_enum_value){trace_value_of(&from[i]),
                                              trace_descriptor_text(loader->descriptor, from[i].name)};
    *table = (struct trace_enum_table){"", values, field->value_count};
    return table;
}

static bool load_field(struct loader *loader, const struct trace_field_record *from,
                       struct trace_event_info *event, struct trace_field_info *field)
{
    *field = (struct trace_field_info){
        .name = trace_descriptor_text(loader->descriptor, from->name),
        .description = "",
        .kind = (uint8_t)from->kind,
        .bytes = (uint8_t)from->bytes,
        .offset = event->fixed_bytes,
        .count_field = from->kind == TRACE_FIELD_ARRAY ? (int16_t)from->count_field : -1,
        .enumeration = from->value_count > 0 ? load_enum(loader, from) : NULL,
    };
    if (from->kind != TRACE_FIELD_STRING && from->kind != TRACE_FIELD_ARRAY)
        event->fixed_bytes = (uint16_t)(event->fixed_bytes + from->bytes);
    return field->enumeration || from->value_count == 0;
}

/* The event's name without its class. */
static const char *short_name(const char *full_name)
{
    while (*full_name++ != '_')
        ;
    return full_name;
}

/* NULL: not enough memory. NEXT is the record behind it. */
static const struct trace_event_info *load_event(struct loader *loader, const struct trace_event_record *from,
                                                 uint32_t class_number, const char *class_name,
                                                 const void **next)
{
    struct trace_event_info *event = take(loader, sizeof(*event), 8);
    struct trace_field_info *fields = take(loader, from->field_count * sizeof(*fields), 8);
    const char *full_name = trace_descriptor_text(loader->descriptor, from->name);
    bool fits = event && fields;
    if (fits)
        *event = (struct trace_event_info){.id = TRACE_ID(class_number, from->minor),
                                           .class_name = class_name,
                                           .name = short_name(full_name),
                                           .full_name = full_name,
                                           .description = "",
                                           .fields = fields,
                                           .field_count = (uint16_t)from->field_count};
    *next = trace_event_fields(from);
    for (uint32_t i = 0; i < from->field_count; i++, *next = trace_field_end(*next))
        fits = fits && load_field(loader, *next, event, &fields[i]);
    if (fits && from->limit != TRACE_LIMIT_NONE) {
        event->limit_kind = (uint8_t)trace_event_limit_kind(from);
        event->limit = (uint8_t)trace_descriptor_limit(loader->descriptor, from);
        event->above =
            event->limit_kind == TRACE_LIMIT_ABOVE ? fields[from->limit - TRACE_LIMIT_ABOVE].name : NULL;
    }
    if (fits)
        event->format = make_format(loader, fields, event->field_count);
    return fits && event->format ? event : NULL;
}

static void load_class(struct trace_app_schemas *schemas, struct loader *loader, uint32_t class_number)
{
    const uint32_t app = class_number - TRACE_CLASS_APP_FIRST;
    const void *next = trace_descriptor_events(loader->descriptor);
    struct trace_text name = {schemas->names[app], TRACE_NAME_BYTES, 0};
    trace_text_add(&name, trace_descriptor_text(loader->descriptor, loader->descriptor->class_name));
    for (uint32_t i = 0; i < loader->descriptor->event_count; i++) {
        const struct trace_event_record *event = next;
        const struct loader before = *loader; /* an event that is left out takes no memory */
        schemas->events[app][event->minor] =
            load_event(loader, event, class_number, schemas->names[app], &next);
        if (!schemas->events[app][event->minor])
            *loader = before;
    }
}

void trace_load_app_schemas(struct trace_app_schemas *schemas, const void *entries, uint64_t size,
                            void *memory, uint64_t memory_size)
{
    struct loader loader = {.memory = memory, .space = memory_size};
    *schemas = (struct trace_app_schemas){0};
    for (uint64_t at = 0; size - at >= sizeof(struct trace_app_entry);) {
        const struct trace_app_entry *entry = (const void *)((const char *)entries + at);
        if (entry->bytes > TRACE_DESCRIPTOR_BYTES_MAX || TRACE_APP_ENTRY_BYTES(entry->bytes) > size - at ||
            entry->class_number - TRACE_CLASS_APP_FIRST >= TRACE_APP_CLASSES ||
            !trace_descriptor_check(&entry->descriptor, entry->bytes))
            return;
        loader.descriptor = &entry->descriptor;
        load_class(schemas, &loader, entry->class_number);
        at += TRACE_APP_ENTRY_BYTES(entry->bytes);
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
    for (uint32_t i = 0; i < TRACE_APP_CLASSES && length; i++)
        if (trace_is_word(name, length, schemas->names[i]))
            return (int)(TRACE_CLASS_APP_FIRST + i);
    return trace_find_system_class(name, length);
}
