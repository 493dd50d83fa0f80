/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/gen/emit_docs.c - writes build/gen/docs/events.md, the reference page of all events and tables. */
#include "model.h"

static void emit_type(FILE *out, const struct event *event, const struct field *f)
{
    if (f->kind == TRACE_FIELD_COMM)
        fprintf(out, "comm");
    else if (f->kind == TRACE_FIELD_STRING)
        fprintf(out, "string");
    else if (f->kind == TRACE_FIELD_ARRAY)
        fprintf(out, "x64[%s]", event->fields[f->count_field].name);
    else if (f->enumeration)
        fprintf(out, "%s:u%u", f->enumeration->name, 8 * f->bytes);
    else
        fprintf(out, "%c%u",
                f->kind == TRACE_FIELD_SIGNED ? 's'
                : f->kind == TRACE_FIELD_HEX  ? 'x'
                                              : 'u',
                8 * f->bytes);
}

static void emit_event_docs(FILE *out, const struct class *class, const struct event *event)
{
    fprintf(out, "### `%s` (minor %u)\n\n%s. Printed as `%s`.\n\n", event->full_name, event->minor,
            event->description, event->format);
    if (event->field_count)
        fprintf(out, "| offset | type | field | meaning |\n|---|---|---|---|\n");
    for (unsigned i = 0; i < event->field_count; i++) {
        const struct field *f = &event->fields[i];
        fprintf(out, "| %u | ", f->offset);
        emit_type(out, event, f);
        fprintf(out, " | `%s` | %s |\n", f->name, f->description);
    }
    fprintf(out, "\n");
}

void emit_docs(FILE *out, const struct schema *schema)
{
    char uuid[37];
    format_uuid(uuid, schema->uuid);
    fprintf(
        out,
        "# Events of Tarn\n\n%s from trace/schema; schema %s. Offsets are bytes after the event header.\n\n",
        generated_note, uuid);
    for (unsigned i = 0; i < schema->class_count; i++) {
        const struct class *class = &schema->classes[i];
        fprintf(out, "## %s (class %d)\n\n%s. Declared in `%s`.\n\n", class->name, class->number,
                class->description, class->file);
        for (unsigned e = 0; e < class->enum_count; e++) {
            fprintf(out, "`%s`:", class->enums[e].name);
            for (unsigned k = 0; k < class->enums[e].count; k++)
                fprintf(out, " %llu %s%s", (unsigned long long)class->enums[e].values[k].value,
                        class->enums[e].values[k].name, k + 1 < class->enums[e].count ? "," : "\n\n");
        }
        for (unsigned e = 0; e < class->event_count; e++)
            emit_event_docs(out, class, &class->events[e]);
    }
    emit_tables_docs(out, schema);
}
