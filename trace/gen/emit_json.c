/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/gen/emit_json.c - writes build/gen/trace/events.json: the events as data (trace/format/event_table.h)
 * for programs not written in C, such as tools/gdb. Offsets and sizes are bytes. */
#include "model.h"

static void emit_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void emit_field(FILE *out, const struct field *f)
{
    static const char *const kinds[] = {"unsigned", "signed", "hex", "comm", "string", "array"};
    fprintf(out, "{\"name\": \"%s\", \"kind\": \"%s\", \"bytes\": %u, \"offset\": %u", f->name,
            kinds[f->kind], f->bytes, f->offset);
    if (f->count_field >= 0)
        fprintf(out, ", \"count_field\": %d", f->count_field);
    if (f->enumeration) {
        fprintf(out, ", \"values\": {");
        for (unsigned i = 0; i < f->enumeration->count; i++)
            fprintf(out, "%s\"%llu\": \"%s\"", i ? ", " : "",
                    (unsigned long long)f->enumeration->values[i].value, f->enumeration->values[i].name);
        fputc('}', out);
    }
    fputc('}', out);
}

static void emit_event(FILE *out, const struct class *class, const struct event *event)
{
    fprintf(out, "  {\"id\": %u, \"class\": \"%s\", \"name\": \"%s\", \"fixed_bytes\": %u,\n   \"format\": ",
            TRACE_ID(class->number, event->minor), class->name, event->full_name, event->fixed_bytes);
    emit_string(out, event->format);
    fprintf(out, ",\n   \"fields\": [");
    for (unsigned i = 0; i < event->field_count; i++) {
        fprintf(out, i ? ",\n    " : "\n    ");
        emit_field(out, &event->fields[i]);
    }
    fprintf(out, "]}");
}

void emit_json(FILE *out, const struct schema *schema)
{
    char uuid[37];
    const char *separator = "\n";
    format_uuid(uuid, schema->uuid);
    fprintf(out, "{\"note\": \"%s from trace/schema\", \"uuid\": \"%s\", \"events\": [", generated_note,
            uuid);
    for (unsigned c = 0; c < schema->class_count; c++) {
        for (unsigned e = 0; e < schema->classes[c].event_count; e++, separator = ",\n") {
            fputs(separator, out);
            emit_event(out, &schema->classes[c], &schema->classes[c].events[e]);
        }
    }
    fprintf(out, "\n]}\n");
}
