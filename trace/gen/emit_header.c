/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/gen/emit_header.c - writes <trace/CLASS.h>: one typed inline function per event.
 *
 * An event of constant size becomes a site that is off or on (trace/ring/ring.h), and a block with one store
 * per field (trace/ring/restart.h), or, with TRACE_CAS, reserve, stores and commit (trace/ring/cas.h). One
 * that ends in a string or an array collects its fixed fields on the stack and calls trace_log_string() or
 * trace_log_words().
 */
#include "model.h"

#include <limits.h>
#include <string.h>

static const char *c_type(const struct field *f)
{
    static const char *const u[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t"};
    static const char *const s[] = {"int8_t", "int16_t", "int32_t", "int64_t"};
    unsigned log = f->bytes == 8 ? 3 : f->bytes == 4 ? 2 : f->bytes == 2 ? 1 : 0;
    return f->kind == TRACE_FIELD_SIGNED ? s[log] : u[log];
}

/* Padding that the schema declares is not an argument: it is always 0. */
static bool is_reserved(const struct field *f)
{
    return !strncmp(f->name, "reserved", 8);
}

static void emit_parameters(FILE *out, const struct event *event)
{
    const char *comma = "";
    for (unsigned i = 0; i < event->field_count; i++) {
        const struct field *f = &event->fields[i];
        if (is_reserved(f))
            continue;
        fprintf(out, "%s", comma);
        comma = ", ";
        if (f->kind == TRACE_FIELD_COMM)
            fprintf(out, "const char %s[static %u]", f->name, TRACE_NAME_BYTES);
        else if (f->kind == TRACE_FIELD_STRING)
            fprintf(out, "const char *%s", f->name);
        else if (f->kind == TRACE_FIELD_ARRAY)
            fprintf(out, "const uint64_t *%s", f->name);
        else
            fprintf(out, "%s %s", c_type(f), f->name);
    }
    if (!*comma)
        fprintf(out, "void");
}

/* One statement that stores a field: trace_put_* into the slot, or trace_fix_* into the collected fields. */
static void emit_store(FILE *out, const struct field *f, const char *verb, const char *place)
{
    if (f->kind == TRACE_FIELD_COMM)
        fprintf(out, "    trace_%s_name(%s, %u, %s);\n", verb, place, f->offset, f->name);
    else
        fprintf(out, "    trace_%s_%u(%s, %u, %s);\n", verb, 8 * f->bytes, place, f->offset,
                is_reserved(f) ? "0" : f->name);
}

/* The rest of this many operands of a block may find no register (x86_64 with a frame pointer has 9 for
 * them). */
#define NEAR_OPERANDS 8u

static bool is_far(const struct field *f, unsigned operands)
{
    return operands >= NEAR_OPERANDS && f->kind != TRACE_FIELD_COMM && !is_reserved(f);
}

/* The stores, or the inputs, of a block. */
static void emit_block_part(FILE *out, const struct event *event, bool stores)
{
    unsigned operands = 0;
    for (unsigned i = 0; i < event->field_count; i++) {
        const struct field *f = &event->fields[i];
        const char *far = is_far(f, operands) ? "FAR_" : "";
        const bool is_name = f->kind == TRACE_FIELD_COMM;
        operands += !is_reserved(f);
        if (stores && is_reserved(f))
            fprintf(out, " TRACE_PUT_ZERO_%u(%u)", 8 * f->bytes, f->offset);
        else if (stores && is_name)
            fprintf(out, " TRACE_PUT_NAME(%u, %s)", f->offset, f->name);
        else if (stores)
            fprintf(out, " TRACE_PUT_%s%u(%u, %s)", far, 8 * f->bytes, f->offset, f->name);
        else if (is_name)
            fprintf(out, ", TRACE_IN_NAME(%s)", f->name);
        else if (!is_reserved(f))
            fprintf(out, ", TRACE_IN_%s%u(%s)", far, 8 * f->bytes, f->name);
    }
}

/* A value that moves to a register of the block does so behind the site. */
static void emit_arrivals(FILE *out, const struct event *event)
{
    unsigned operands = 0;
    for (unsigned i = 0; i < event->field_count; i++) {
        const struct field *f = &event->fields[i];
        if (!is_reserved(f) && f->kind != TRACE_FIELD_COMM && !is_far(f, operands))
            fprintf(out, "    TRACE_BEHIND_SITE(%s);\n", f->name);
        operands += !is_reserved(f);
    }
}

/* Whether its block copies anything from memory. */
static bool has_copies(const struct event *event)
{
    unsigned operands = 0;
    for (unsigned i = 0; i < event->field_count; i++) {
        if (event->fields[i].kind == TRACE_FIELD_COMM || is_far(&event->fields[i], operands))
            return true;
        operands += !is_reserved(&event->fields[i]);
    }
    return false;
}

/* `timed`: the block's value is the time, also if it copies. */
static void emit_block(FILE *out, const struct class *class, const struct event *event, const char *id,
                       bool timed)
{
    unsigned words = 1 + event->fixed_bytes / 8;
    emit_arrivals(out, event);
    fprintf(out, "    %s ARCH_TRACE_%sBLOCK(trace_%s_%s, %u, trace_header_half(%s, %u),\n       ",
            timed ? "return" : "(void)", timed && has_copies(event) ? "COPY_" : "", class->name, event->name,
            words, id, words);
    emit_block_part(out, event, true);
    fprintf(out, "%s", event->field_count ? "" : " \"\"");
    emit_block_part(out, event, false);
    fprintf(out, ");\n");
}

/* The fast path stores into the ring and calls nothing, so no register must survive a call; the slow path
 * collects the fields and calls cas.c. */
static void emit_cas(FILE *out, const struct event *event, const char *id, bool timed)
{
    unsigned words = 1 + event->fixed_bytes / 8;
    fprintf(out, "    struct trace_slot slot;\n");
    fprintf(out, "    if (__builtin_expect(trace_reserve(&slot, %u), 1)) {\n", words);
    for (unsigned i = 0; i < event->field_count; i++) {
        fprintf(out, "    ");
        emit_store(out, &event->fields[i], "put", "&slot");
    }
    fprintf(out, "        trace_commit(&slot, %s, %u);\n        return%s;\n    }\n", id, words,
            timed ? " (uint32_t)slot.time" : "");
    if (words > 1)
        fprintf(out, "    uint64_t fixed[%u];\n", words - 1);
    for (unsigned i = 0; i < event->field_count; i++)
        emit_store(out, &event->fields[i], "fix", "fixed");
    fprintf(out, "    %strace_log_slow(%s, %s, %u);\n", timed ? "return " : "", id, words > 1 ? "fixed" : "0",
            words);
}

static void emit_with_tail(FILE *out, const struct event *event, const char *id)
{
    const struct field *tail = tail_field(event);
    unsigned fixed_words = (event->fixed_bytes + 7) / 8;
    if (tail->kind == TRACE_FIELD_ARRAY) {
        const char *count = event->fields[tail->count_field].name;
        fprintf(out, "    if (%s > TRACE_TAIL_WORDS - %u)\n        %s = TRACE_TAIL_WORDS - %u;\n", count,
                fixed_words, count, fixed_words);
    }
    if (fixed_words) {
        fprintf(out, "    uint64_t fixed[%u];\n", fixed_words);
        for (unsigned i = 0; i + 1 < event->field_count; i++)
            emit_store(out, &event->fields[i], "fix", "fixed");
    }
    const char *fixed = fixed_words ? "fixed" : "0";
    if (tail->kind == TRACE_FIELD_STRING)
        fprintf(out, "    trace_log_string(%s, %s, %u, %s);\n", id, fixed, event->fixed_bytes, tail->name);
    else
        fprintf(out, "    trace_log_words(%s, %s, %u, %s, %s);\n", id, fixed, event->fixed_bytes, tail->name,
                event->fields[tail->count_field].name);
}

static void emit_function(FILE *out, const struct class *class, const struct event *event, const char *id,
                          const char *name, const char *suffix, bool timed)
{
    fprintf(out, "static inline __attribute__((always_inline)) %s trace_%s_%s%s(",
            timed ? "uint64_t" : "void", class->name, event->name, suffix);
    emit_parameters(out, event);
    if (event->above)
        fprintf(out, ")\n{\n    if (!TRACE_ABOVE_ON_%s(%u, %d, %s))", upper_case(class->name), event->minor,
                event->limit, event->above);
    else if (event->limit >= 0)
        fprintf(out, ")\n{\n    if (!TRACE_SAMPLE_ON_%s(%u, %d))", upper_case(class->name), event->minor,
                event->limit);
    else
        fprintf(out, ")\n{\n    if (!TRACE_ON_%s())", name);
    fprintf(out, "\n        return%s;\n", timed ? " TRACE_NOT_LOGGED" : "");
    if (tail_field(event)) {
        emit_with_tail(out, event, id);
    } else {
        fprintf(out, "#ifdef TRACE_CAS\n");
        emit_cas(out, event, id, timed);
        fprintf(out, "#else\n");
        emit_block(out, class, event, id, timed);
        fprintf(out, "#endif\n");
    }
    fprintf(out, "}\n");
}

static void emit_event(FILE *out, const struct class *class, const struct event *event, const char *id)
{
    char name[128];

    fprintf(out, "\n/* %s", event->description);
    for (unsigned i = 0; i < event->field_count; i++)
        if (!is_reserved(&event->fields[i]))
            fprintf(out, "\n *   %-16s %s", event->fields[i].name, event->fields[i].description);
    snprintf(name, sizeof(name), "%s_%s", upper_case(class->name), upper_case(event->name));
    fprintf(out, " */\n#define TRACE_ON_%s() TRACE_EVENT_ON_%s(%u)\n", name, upper_case(class->name),
            event->minor);
    if (!tail_field(event))
        fprintf(out, "#define TRACE_ID_%s %s\n", name, id);
    emit_function(out, class, event, id, name, "", !tail_field(event) && !has_copies(event));
    if (!tail_field(event) && has_copies(event)) /* the time costs such a block a register */
        emit_function(out, class, event, id, name, "_timed", true);
}

static void emit_enums(FILE *out, const struct class *class)
{
    for (unsigned i = 0; i < class->enum_count; i++) {
        const struct enumeration *e = &class->enums[i];
        fprintf(out, "\nenum trace_%s_%s {\n", class->name, e->name);
        for (unsigned k = 0; k < e->count; k++)
            fprintf(out, "    TRACE_%s_%s = %llu%s,\n", upper_case(class->name),
                    upper_case(e->values[k].name), (unsigned long long)e->values[k].value,
                    e->values[k].value > INT_MAX ? "u" : "");
        fprintf(out, "};\n");
    }
}

static void emit_opening(FILE *out, const struct class *class)
{
    const char *upper = upper_case(class->name);
    fprintf(out, "/* SPDX-License-Identifier: BSD-2-Clause */\n/* %s from %s. %s */\n", generated_note,
            class->file, class->description);
    fprintf(out, "#ifndef TRACE_%s_H\n#define TRACE_%s_H\n\n#include <trace/event/event.h>\n", upper, upper);
}

void emit_class_header(FILE *out, const struct schema *schema, const struct class *class)
{
    const char *upper = upper_case(class->name);
    char id[64];
    emit_opening(out, class);
    fprintf(out, "\n#define TRACE_CLASS_%s %du\n", upper, class->number);
    fprintf(out,
            "#ifdef TRACE_OUT_%s /* compiled out */\n#define TRACE_ON_%s() 0\n"
            "#define TRACE_EVENT_ON_%s(minor) 0\n#define TRACE_SAMPLE_ON_%s(minor, index) 0\n"
            "#define TRACE_ABOVE_ON_%s(minor, index, value) 0\n#else\n",
            upper, upper, upper, upper, upper);
    fprintf(out, "#define TRACE_ON_%s() trace_class_on(TRACE_CLASS_%s)\n", upper, upper);
    fprintf(out, "#define TRACE_EVENT_ON_%s(minor) trace_event_on(TRACE_CLASS_%s, minor)\n", upper, upper);
    fprintf(
        out,
        "#define TRACE_SAMPLE_ON_%s(minor, index) trace_sample_on(TRACE_CLASS_%s, minor, index)\n"
        "#define TRACE_ABOVE_ON_%s(minor, index, value) trace_above_on(TRACE_CLASS_%s, minor, index, value)\n"
        "#endif\n",
        upper, upper, upper, upper);
    emit_enums(out, class);
    for (unsigned i = 0; i < class->event_count; i++) {
        const struct event *event = &class->events[i];
        snprintf(id, sizeof(id), "TRACE_ID(%d, %u)", class->number, event->minor);
        emit_event(out, class, event, id);
    }
    fprintf(out, "\n#endif\n");
}

/* An application's class has its number in a variable: TRACE_CLASS_COUNT until it is registered. */
void emit_app_header(FILE *out, const struct schema *schema, const struct class *class)
{
    const char *upper = upper_case(class->name);
    char id[96];
    emit_opening(out, class);
    fprintf(out,
            "\n/* One source file of the program defines TRACE_DEFINE_%s before it includes this, and calls\n"
            " * trace_register_schema(&trace_schema_%s) once; until then nothing is logged. */\n"
            "extern uint32_t trace_class_%s;\nextern const struct trace_schema trace_schema_%s;\n"
            "#define TRACE_ON_%s() trace_app_enabled(trace_class_%s)\n"
            "#define TRACE_EVENT_ON_%s(minor) (TRACE_ON_%s() && trace_app_event_enabled(trace_class_%s, "
            "minor))\n"
            "#define TRACE_SAMPLE_ON_%s(minor, limit) \\\n"
            "    (TRACE_EVENT_ON_%s(minor) && trace_app_is_sample(trace_class_%s, limit))\n"
            "#define TRACE_ABOVE_ON_%s(minor, limit, value) \\\n"
            "    (TRACE_EVENT_ON_%s(minor) && trace_app_is_above(trace_class_%s, limit, value))\n",
            upper, class->name, class->name, class->name, upper, class->name, upper, upper, class->name,
            upper, upper, class->name, upper, upper, class->name);
    emit_enums(out, class);
    for (unsigned i = 0; i < class->event_count; i++) {
        const struct event *event = &class->events[i];
        snprintf(id, sizeof(id), "TRACE_ID(trace_class_%s, %u)", class->name, event->minor);
        emit_event(out, class, event, id);
    }
    fprintf(out,
            "\n#ifdef TRACE_DEFINE_%s\n#include <trace/cost/dummies.h>\nuint32_t trace_class_%s = "
            "TRACE_CLASS_COUNT;\n",
            upper, class->name);
    emit_descriptor(out, class);
    fprintf(out,
            "extern const struct trace_dummy trace_dummies_%s[] __attribute__((weak)); /* linked or not */\n",
            class->name);
    fprintf(out, "const struct trace_schema trace_schema_%s = {\n    .class_number = &trace_class_%s,\n",
            class->name, class->name);
    fprintf(out, "    .uuid = {");
    for (unsigned i = 0; i < 16; i++)
        fprintf(out, "%s0x%02x", i ? ", " : "", schema->uuid[i]);
    fprintf(out,
            "},\n    .descriptor = (const struct trace_descriptor *)&trace_descriptor_%s,\n"
            "    .dummies = trace_dummies_%s,\n};\n#endif\n\n#endif\n",
            class->name, class->name);
}
