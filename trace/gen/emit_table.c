/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/gen/emit_table.c - writes build/gen/trace/events.[ch]: the events as data
 * (trace/format/event_table.h) for the kernel's printer and the host's decoder, the tables of counters, the
 * metadata template, the schema's UUID. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

static char *make_metadata(const struct schema *schema, size_t *length)
{
    char *text;
    FILE *memory = open_memstream(&text, length);
    emit_metadata(memory, schema);
    fclose(memory);
    return text;
}

void emit_table_header(FILE *out, const struct schema *schema)
{
    char uuid[37];
    format_uuid(uuid, schema->uuid);
    fprintf(out, "/* SPDX-License-Identifier: BSD-2-Clause */\n/* %s from trace/schema. */\n",
            generated_note);
    fprintf(out, "#ifndef TRACE_EVENTS_H\n#define TRACE_EVENTS_H\n\n#include <trace/format/event_table.h>\n"
                 "#include <trace/format/format.h>\n#include <trace/format/table.h>\n\n");
    fprintf(out, "#define TRACE_SCHEMA_UUID \"%s\"\n#define TRACE_SCHEMA_UUID_BYTES {", uuid);
    for (unsigned i = 0; i < 16; i++)
        fprintf(out, "%s0x%02x", i ? ", " : "", schema->uuid[i]);
    fprintf(
        out,
        "}\n\n/* by class number */\nextern const struct trace_class_info "
        "trace_class_table[TRACE_CLASS_COUNT];\n\n"
        "/* TSDL with @NAME@ where the running system fills in: see trace/format/metadata.h */\n"
        "extern const char trace_metadata_template[];\nextern const uint32_t trace_metadata_template_size; "
        "/* without the NUL */\n");
    size_t length;
    free(make_metadata(schema, &length));
    fprintf(out, "#define TRACE_METADATA_TEMPLATE_BYTES %zuu /* the same */\n\n", length);
    uint64_t details = 0;
    for (unsigned i = 0; i < schema->class_count; i++)
        details |= (uint64_t)schema->classes[i].is_detail << schema->classes[i].number;
    fprintf(out, "/* for help: the classes of details */\n#define TRACE_DETAIL_NAMES \"");
    for (unsigned i = 0, count = 0; i < schema->class_count; i++)
        if (schema->classes[i].is_detail)
            fprintf(out, "%s%s", count++ ? ", " : "", schema->classes[i].name);
    fprintf(out, "\"\n");
    fprintf(out, "/* a mask: all classes but those of details */\n#define TRACE_CLASSES_BASIC 0x%llxull\n\n",
            (unsigned long long)~details);
    fprintf(
        out,
        "/* the types of events that are declared `sampled` or `above` */\n#define TRACE_LIMITED_COUNT %uu\n"
        "extern const struct trace_limited trace_limited[TRACE_LIMITED_COUNT];\n\n",
        schema->limited_count);
    emit_table_constants(out, schema);
    fprintf(out, "static inline const struct trace_event_info *trace_event_find(uint32_t id)\n{\n"
                 "    uint32_t class_number = TRACE_ID_CLASS(id), minor = TRACE_ID_MINOR(id);\n"
                 "    if (class_number >= TRACE_CLASS_COUNT)\n        return 0;\n"
                 "    const struct trace_class_info *known = &trace_class_table[class_number];\n"
                 "    return minor < known->minor_limit ? known->events[minor] : 0;\n}\n\n#endif\n");
}

static void emit_enum_table(FILE *out, const struct class *class, const struct enumeration *e)
{
    fprintf(out, "\nstatic const struct trace_enum_value values_%s_%s[] = {\n", class->name, e->name);
    for (unsigned i = 0; i < e->count; i++)
        fprintf(out, "    {%lluu, \"%s\"},\n", (unsigned long long)e->values[i].value, e->values[i].name);
    fprintf(out, "};\nstatic const struct trace_enum_table enum_%s_%s = {\"%s\", values_%s_%s, %u};\n",
            class->name, e->name, e->name, class->name, e->name, e->count);
}

static void emit_event_table(FILE *out, const struct class *class, const struct event *event)
{
    static const char *const kinds[] = {"TRACE_FIELD_UNSIGNED", "TRACE_FIELD_SIGNED", "TRACE_FIELD_HEX",
                                        "TRACE_FIELD_COMM",     "TRACE_FIELD_STRING", "TRACE_FIELD_ARRAY"};
    if (event->field_count)
        fprintf(out, "\nstatic const struct trace_field_info fields_%s_%s[] = {\n", class->name, event->name);
    for (unsigned i = 0; i < event->field_count; i++) {
        const struct field *f = &event->fields[i];
        fprintf(out, "    {\"%s\", \"%s\", %s, %u, %u, %d, ", f->name, f->description, kinds[f->kind],
                f->bytes, f->offset, f->count_field);
        if (f->enumeration)
            fprintf(out, "&enum_%s_%s},\n", class->name, f->enumeration->name);
        else
            fprintf(out, "0},\n");
    }
    if (event->field_count)
        fprintf(out, "};\n");
    fprintf(out,
            "static const struct trace_event_info event_%s_%s = {\n    %u, \"%s\", \"%s\", \"%s\", \"%s\",\n",
            class->name, event->name, TRACE_ID(class->number, event->minor), class->name, event->name,
            event->full_name, event->description);
    fprintf(out, "    \"%s\",\n    ", event->format);
    if (event->field_count)
        fprintf(out, "fields_%s_%s", class->name, event->name);
    else
        fprintf(out, "0");
    fprintf(out, ", %u, %u,", event->field_count, event->fixed_bytes);
    if (event->limit >= 0 && event->above)
        fprintf(out, " TRACE_LIMIT_ABOVE, %d, \"%s\",", event->limit, event->above);
    else if (event->limit >= 0)
        fprintf(out, " TRACE_LIMIT_SAMPLED, %d, 0,", event->limit);
    else
        fprintf(out, " TRACE_LIMIT_NONE, 0, 0,");
    fprintf(out, "\n};\n");
}

static void emit_class_table(FILE *out, const struct class *class)
{
    for (unsigned i = 0; i < class->enum_count; i++) {
        bool used = false;
        for (unsigned e = 0; e < class->event_count; e++)
            for (unsigned f = 0; f < class->events[e].field_count; f++)
                used |= class->events[e].fields[f].enumeration == &class->enums[i];
        if (used)
            emit_enum_table(out, class, &class->enums[i]);
    }
    for (unsigned i = 0; i < class->event_count; i++)
        emit_event_table(out, class, &class->events[i]);
    fprintf(out, "static const struct trace_event_info *const events_%s[] = {\n", class->name);
    for (unsigned i = 0; i < class->event_count; i++)
        fprintf(out, "    [%u] = &event_%s_%s,\n", class->events[i].minor, class->name,
                class->events[i].name);
    fprintf(out, "};\n");
}

static void emit_limited(FILE *out, const struct schema *schema)
{
    fprintf(out, "\nconst struct trace_limited trace_limited[TRACE_LIMITED_COUNT] = {\n");
    for (unsigned i = 0; i < schema->class_count; i++)
        for (unsigned k = 0; k < schema->classes[i].event_count; k++) {
            const struct event *event = &schema->classes[i].events[k];
            if (event->limit < 0)
                continue;
            fprintf(out, "    {TRACE_ID(%d, %u), ", schema->classes[i].number, event->minor);
            if (event->above)
                fprintf(out, "\"%s\"},\n", event->above);
            else
                fprintf(out, "0},\n");
        }
    fprintf(out, "};\n");
}

void emit_table_source(FILE *out, const struct schema *schema)
{
    fprintf(out,
            "/* SPDX-License-Identifier: BSD-2-Clause */\n/* %s from trace/schema. */\n"
            "#include \"events.h\"\n",
            generated_note);
    for (unsigned i = 0; i < schema->class_count; i++)
        emit_class_table(out, &schema->classes[i]);
    fprintf(out, "\nconst struct trace_class_info trace_class_table[TRACE_CLASS_COUNT] = {\n");
    for (unsigned i = 0; i < schema->class_count; i++) {
        const struct class *class = &schema->classes[i];
        fprintf(out, "    [%d] = {\"%s\", \"%s\", events_%s, %u},\n", class->number, class->name,
                class->description, class->name, class->events[class->event_count - 1].minor + 1);
    }
    fprintf(out, "};\n");
    emit_limited(out, schema);
    emit_table_list(out, schema);
    size_t length;
    char *text = make_metadata(schema, &length);
    fprintf(out,
            "\nconst uint32_t trace_metadata_template_size = %zu;\n"
            "const char trace_metadata_template[] =\n",
            length);
    emit_c_string(out, text, length, "    ");
    fprintf(out, ";\n");
    free(text);
}
