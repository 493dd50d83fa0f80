/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/gen/emit_dummies.c - writes build/gen/trace/dummies.h: a call of each event's function with dummy
 * arguments, for who measures what logging costs (kernel/trace/bench.c).
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

static void emit_dummy(FILE *out, const struct class *class, const struct event *event)
{
    const char *comma = "";

    fprintf(out, "TRACE_DUMMY(%u, %s, trace_%s_%s(", TRACE_ID(class->number, event->minor), event->full_name,
            class->name, event->name);
    for (unsigned i = 0; i < event->field_count; i++) {
        if (!strncmp(event->fields[i].name, "reserved", 8))
            continue;
        fprintf(out, "%s", comma);
        emit_argument(out, event, i);
        comma = ", ";
    }
    fprintf(out, "))\n");
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
