/* SPDX-License-Identifier: BSD-2-Clause */
/* export.c - shared by all formats; see export.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/export/export.h>
#include <tools/tarn/output.h>
#include <tools/tarn/print/print_value.h>
#include <unistd.h>

const struct export_format export_formats[] = {
    {"perfetto", "a protobuf trace for ui.perfetto.dev and trace_processor", "perfetto-trace",
     &perfetto_export},
    {"chrome", "JSON trace events, for chrome://tracing, Perfetto, speedscope", "json", &chrome_export},
    {"csv", "a directory of tables: one per event type, and tables of the model's results", "csv",
     &csv_export},
    {"sqlite", "a database with the same tables", "sqlite", &sqlite_export},
    {NULL, NULL, NULL, NULL},
};

static void end_stretch(struct export *export, struct stretch *stretch)
{
    if (stretch->thread != NULL && stretch->from != stretch->to && !export->has_failed)
        export->write_stretch(export, stretch);
}

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct export *export = EXPORT_OF(ANALYSIS_OF(self, struct analysis), struct export);
    bool runs = thread->state == MODEL_RUNNING, is_asleep = runs && model_is_asleep(thread);
    struct stretch *stretch;

    if (!analysis_wants(&export->analysis, thread))
        return;
    stretch = slots_at(&export->stretches, thread->number);
    /* A waiting thread is on no CPU, so a new CPU does not end its stretch. */
    if (stretch->thread == NULL || stretch->state != thread->state || stretch->to != from ||
        stretch->is_asleep != is_asleep || (stretch->cpu != thread->cpu && runs)) {
        end_stretch(export, stretch);
        *stretch = (struct stretch){thread, thread->state, thread->cpu, is_asleep, from, to};
    }
    stretch->to = to;
}

static void alloc_list_text(struct export *export)
{
    const struct schema *schema = &export->analysis.trace->schema;
    size_t capacity = 1;

    for (unsigned i = 0; i < schema->event_count; i++)
        for (unsigned f = 0; f < schema->events[i]->field_count; f++) {
            size_t needed = value_capacity(&schema->events[i]->fields[f], false);

            capacity = needed > capacity ? needed : capacity;
        }
    export->list_text = arena_alloc(&export->analysis.arena, capacity);
}

void export_open(struct export *export,
                 void (*write_stretch)(struct export *export, const struct stretch *stretch))
{
    alloc_list_text(export);
    analysis_slots(&export->analysis, &export->stretches, sizeof(struct stretch));
    export->write_stretch = write_stretch;
    export->analysis.observer.segment = on_segment;
}

void export_finish_stretches(struct export *export)
{
    for (uint32_t i = 0; i < export->stretches.count; i++)
        end_stretch(export, slots_at(&export->stretches, i));
}

void export_fail(struct export *export, const char *format, ...)
{
    va_list arguments;

    if (export->has_failed)
        return;
    export->has_failed = true;
    va_start(arguments, format);
    vsnprintf(export->fail.text, sizeof(export->fail.text), format, arguments);
    va_end(arguments);
}

void export_close_file(struct export *export, struct out *out, const char *path)
{
    if (out->fd < 0)
        return;
    bool is_written = out_close(out);
    int error = errno;
    bool is_there = output_close(out->fd, path != NULL ? path : "");
    out->fd = -1;
    if (path != NULL && !(is_written && is_there))
        export_fail(export, "cannot write '%s': %s", path, strerror(is_written ? errno : error));
}

struct value value_text(const char *text)
{
    return text != NULL ? (struct value){VALUE_TEXT, 0, text, strlen(text)}
                        : (struct value){VALUE_NULL, 0, NULL, 0};
}

struct value value_of_field(struct export *export, const struct field *field, const struct event *event)
{
    struct value value = {field->is_signed    ? VALUE_SIGNED
                          : field->base == 16 ? VALUE_HEX
                                              : VALUE_UNSIGNED,
                          0, NULL, 0};
    char number[ANALYSIS_NAME_BYTES];
    const char *label;

    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_STRING:
        return (struct value){VALUE_TEXT, 0, (const char *)event->bytes + field->offset,
                              field_text_length(field, event)};
    case FIELD_ARRAY:
    case FIELD_SEQUENCE:
        return (struct value){VALUE_TEXT, 0, export->list_text,
                              (size_t)(put_safe_list(export->list_text, event, field) - export->list_text)};
    case FIELD_INTEGER:
    case FIELD_ENUM:
        break;
    }
    value.number = field_integer(field, event->bytes);
    if (field->kind == FIELD_ENUM) {
        label = label_of(field, value.number, number);
        if (label != number)
            return value_text(label);
    }
    return value;
}

void activity_names_open(struct activity_names *names, const struct analysis *analysis)
{
    for (unsigned kind = 0; kind < ACTIVITIES; kind++)
        names->labels[kind] = model_detail_field(&analysis->trace->schema, kind);
}

const char *activity_name(const struct activity_names *names, const struct model_frame *frame,
                          char text[ANALYSIS_NAME_BYTES])
{
    char number[ANALYSIS_NAME_BYTES];

    if (frame->detail == UINT32_MAX) /* a fault that has not ended */
        return model_activity_names[frame->kind];
    snprintf(text, ANALYSIS_NAME_BYTES, "%.20s %.40s", model_activity_names[frame->kind],
             label_of(names->labels[frame->kind], frame->detail, number));
    return text;
}
