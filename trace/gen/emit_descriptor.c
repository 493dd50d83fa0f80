/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/gen/emit_descriptor.c - makes a class's descriptor (trace/format/descriptor.h), and writes it as C,
 * which has no byte order. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

struct builder {
    uint32_t *words; /* the records */
    size_t count, used;
    char *texts;
    size_t text_bytes;
};

static size_t count_words(const struct class *class)
{
    size_t bytes = sizeof(struct trace_descriptor);
    for (unsigned e = 0; e < class->event_count; e++) {
        const struct event *event = &class->events[e];
        bytes += sizeof(struct trace_event_record) + event->field_count * sizeof(struct trace_field_record);
        for (unsigned f = 0; f < event->field_count; f++)
            if (event->fields[f].enumeration)
                bytes += event->fields[f].enumeration->count * sizeof(struct trace_value_record);
    }
    return bytes / sizeof(uint32_t);
}

static void add(struct builder *builder, uint64_t word)
{
    builder->words[builder->used++] = (uint32_t)word;
}

static void add_name(struct builder *builder, const char *name)
{
    size_t size = strlen(name) + 1;
    add(builder, builder->count * sizeof(uint32_t) + builder->text_bytes);
    builder->texts = realloc(builder->texts, builder->text_bytes + size);
    memcpy(builder->texts + builder->text_bytes, name, size);
    builder->text_bytes += size;
}

static void add_field(struct builder *builder, const struct field *field)
{
    const struct enumeration *values = field->enumeration;
    add_name(builder, field->name);
    add(builder, field->kind);
    add(builder, field->bytes);
    add(builder, field->count_field < 0 ? 0 : (uint32_t)field->count_field);
    add(builder, values ? values->count : 0);
    for (unsigned i = 0; values && i < values->count; i++) {
        add_name(builder, values->values[i].name);
        add(builder, values->values[i].value);
        add(builder, values->values[i].value >> 32);
    }
}

static uint64_t limit_of(const struct event *event)
{
    unsigned field = 0;
    if (event->limit < 0 || !event->above)
        return event->limit < 0 ? TRACE_LIMIT_NONE : TRACE_LIMIT_SAMPLED;
    while (strcmp(event->fields[field].name, event->above))
        field++;
    return TRACE_LIMIT_ABOVE + field;
}

static void build(struct builder *builder, const struct class *class)
{
    *builder = (struct builder){.count = count_words(class)};
    builder->words = allocate(builder->count * sizeof(uint32_t));
    add(builder, TRACE_DESCRIPTOR_MAGIC);
    add(builder, 0); /* all bytes, when they are known */
    add(builder, builder->count * sizeof(uint32_t));
    add_name(builder, class->name);
    add(builder, class->event_count);
    for (unsigned e = 0; e < class->event_count; e++) {
        const struct event *event = &class->events[e];
        add(builder, event->minor);
        add_name(builder, event->full_name);
        add(builder, event->field_count);
        add(builder, limit_of(event));
        for (unsigned f = 0; f < event->field_count; f++)
            add_field(builder, &event->fields[f]);
    }
    builder->words[1] = (uint32_t)(builder->count * sizeof(uint32_t) + builder->text_bytes);
}

struct trace_descriptor *make_descriptor(const struct class *class)
{
    struct builder builder;
    build(&builder, class);
    char *descriptor = allocate(builder.words[1]);
    memcpy(descriptor, builder.words, builder.count * sizeof(uint32_t));
    memcpy(descriptor + builder.count * sizeof(uint32_t), builder.texts, builder.text_bytes);
    return (struct trace_descriptor *)descriptor;
}

void emit_descriptor(FILE *out, const struct class *class)
{
    struct builder builder;
    build(&builder, class);
    fprintf(out,
            "static const struct {\n    uint32_t words[%zu];\n    char texts[%zu];\n} trace_descriptor_%s = "
            "{\n    {",
            builder.count, builder.text_bytes, class->name);
    for (size_t i = 0; i < builder.count; i++)
        fprintf(out, "%s%u,", i % 12 ? " " : "\n        ", builder.words[i]);
    fprintf(out, "\n    },\n    \"");
    for (size_t i = 0; i + 1 < builder.text_bytes; i++)
        if (builder.texts[i])
            fputc(builder.texts[i], out);
        else
            fputs("\\0\"\n    \"", out); /* no digit may follow the escape */
    fprintf(out, "\",\n};\n");
}
