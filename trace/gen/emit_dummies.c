/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/gen/emit_dummies.c - writes a call of each event's function with dummy arguments, to measure what
 * logging costs (trace/cost/dummies.h): build/gen/trace/dummies.h, for kernel/trace/bench.c; and for each
 * application's class a source file that defines trace_dummies_CLASS.
 *
 *     TRACE_DUMMY(id, full_name, call)
 *
 * The arguments are the variables a, b, c, d, text and words of the place where a call stands; an array has
 * TRACE_DUMMY_WORDS words.
 */
#include "model.h"

#include <string.h>

static void emit_argument(FILE *out, const struct event *event, unsigned number)
{
    const struct field *field = &event->fields[number], *tail = tail_field(event);
    const bool is_count = tail != NULL && tail->count_field == (int)number;

    if (field->kind == TRACE_FIELD_COMM || field->kind == TRACE_FIELD_STRING)
        fprintf(out, "text");
    else if (field->kind == TRACE_FIELD_ARRAY)
        fprintf(out, "words");
    else if (is_count)
        fprintf(out, "TRACE_DUMMY_WORDS");
    else
        fprintf(out, "%c", "abcd"[number % 4]);
}

static void emit_call(FILE *out, const struct class *class, const struct event *event)
{
    const char *comma = "";

    fprintf(out, "trace_%s_%s(", class->name, event->name);
    for (unsigned i = 0; i < event->field_count; i++) {
        if (!strncmp(event->fields[i].name, "reserved", 8))
            continue;
        fprintf(out, "%s", comma);
        emit_argument(out, event, i);
        comma = ", ";
    }
    fprintf(out, ")");
}

static void emit_dummy(FILE *out, const struct class *class, const struct event *event)
{
    fprintf(out, "TRACE_DUMMY(%u, %s, ", TRACE_ID(class->number, event->minor), event->full_name);
    emit_call(out, class, event);
    fprintf(out, ")\n");
}

void emit_dummies(FILE *out, const struct schema *schema)
{
    fprintf(out, "/* SPDX-License-Identifier: BSD-2-Clause */\n/* %s from trace/schema. */\n",
            generated_note);
    fprintf(out, "#ifndef TRACE_DUMMY\n");
    for (unsigned i = 0; i < schema->class_count; i++)
        fprintf(out, "#include <trace/%s.h>\n", schema->classes[i].name);
    fprintf(out, "#else\n");
    for (unsigned i = 0; i < schema->class_count; i++)
        for (unsigned k = 0; k < schema->classes[i].event_count; k++)
            emit_dummy(out, &schema->classes[i], &schema->classes[i].events[k]);
    fprintf(out, "#endif\n");
}

void emit_app_dummies(FILE *out, const struct class *class, const char *header)
{
    fprintf(out, "/* SPDX-License-Identifier: BSD-2-Clause */\n/* %s from %s. */\n", generated_note,
            class->file);
    fprintf(out, "#define TRACE_SCRATCH\n#include <app/%s>\n#include <trace/cost/dummies.h>\n\n", header);
    for (unsigned i = 0; i < class->event_count; i++) {
        fprintf(out, "TRACE_DUMMY_FUNCTION(%s, ", class->events[i].full_name);
        emit_call(out, class, &class->events[i]);
        fprintf(out, ")\n");
    }
    fprintf(out, "\nextern const struct trace_dummy trace_dummies_%s[];\n", class->name);
    fprintf(out, "const struct trace_dummy trace_dummies_%s[] = {\n", class->name);
    for (unsigned i = 0; i < class->event_count; i++)
        fprintf(out, "    {%u, dummy_%s},\n", class->events[i].minor, class->events[i].full_name);
    fprintf(out, "    {0, 0},\n};\n");
}
