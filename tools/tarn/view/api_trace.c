/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api_trace.c - /api/trace: what does not depend on a range.
 *
 * {name, arch, begin_clock_ns (a text), duration, busy: {from, to}, events_total, generation, version, live,
 * indexing, cpus: [{rank, cpu}], classes: [{id, name}], events: [{index, name, class, fields: [name]}],
 * styles: [{property, shape, name}], sizes, kernel: colors, unknown: colors, processes, threads, lost, link,
 * goto: {directory, opens} or {why}}
 *
 * busy: the shortest range with 98 % of the events, plus a margin; the whole trace if that is hardly longer.
 * live: it grows; indexing: the index is being made, and duration and events_total are those so far. styles:
 * the legend. colors: {light, dark: {user, kernel}}, of a program, of the kernel itself, or of a program
 * without a known name. processes: [{pid, name, colors}]. threads: [{n, tid, pid (-1: unknown), cpu (the rank
 * where it last ran), name, idle, begin (when it is first known)}]. lost: {events, packets, cut, damaged,
 * before (the trace begins), reports, texts: the first of them as `tarn check` prints them}. link is that of
 * /api/changes. goto: the directory for `tarn goto`, and whether /api/goto may run it; or why not.
 */
#include <math.h>
#include <stdio.h>
#include <tools/tarn/view/api.h>
#include <tools/tarn/view/layout.h>
#include <tools/tarn/view/styles.h>

static const char *environment(const struct view *view, const char *name)
{
    for (const struct tsdl_env *env = view->trace.schema.tsdl.env; env != NULL; env = env->next)
        if (strcmp(env->name, name) == 0)
            return env->text;
    return "";
}

static void add_cpu(unsigned rank, unsigned cpu, struct json *json)
{
    json_open(json, '{');
    json_key_number(json, "rank", rank);
    json_key_number(json, "cpu", cpu);
    json_close(json, '}');
}

/* Also those without a stream, of which nothing is known. */
static void add_cpus(const struct trace *trace, struct json *json)
{
    unsigned rank = 0;

    json_key_open(json, "cpus", '[');
    for (; rank < trace->stream_count; rank++)
        add_cpu(rank, trace->streams[rank].cpu, json);
    for (unsigned cpu = 0; rank < trace->stream_count + trace->missing_count; cpu++)
        if (trace_find_cpu(trace, cpu) == trace->stream_count)
            add_cpu(rank++, cpu, json);
    json_close(json, ']');
}

static void add_classes(const struct view *view, struct json *json)
{
    json_key_open(json, "classes", '[');
    for (unsigned i = 0; i < TRACE_CLASS_COUNT; i++) {
        const struct class_table *class = &view->trace.schema.classes[i];

        if (class->count == 0)
            continue;
        json_open(json, '{');
        json_key_number(json, "id", i);
        json_key_text(json, "name", class->name != NULL ? class->name : "");
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void add_events(const struct view *view, struct json *json)
{
    const struct schema *schema = &view->trace.schema;

    json_key_open(json, "events", '[');
    for (unsigned i = 0; i < schema->event_count; i++) {
        const struct event_type *type = schema->events[i];

        json_open(json, '{');
        json_key_number(json, "index", i);
        json_key_text(json, "name", type->name);
        json_key_number(json, "class", TRACE_ID_CLASS(type->id));
        json_key_open(json, "fields", '[');
        for (unsigned field = 0; field < type->field_count; field++)
            json_text(json, type->fields[field].name);
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void add_styles(struct json *json)
{
    json_key_open(json, "styles", '[');
    for (unsigned i = 0; i < STYLES; i++) {
        json_open(json, '{');
        json_key_text(json, "property", styles[i].property);
        json_key_text(json, "shape", styles[i].shape);
        json_key_text(json, "name", styles[i].text);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void add_colour(const char *key, struct colour colour, struct json *json)
{
    char text[8];

    snprintf(text, sizeof(text), "#%02x%02x%02x", (unsigned)round(colour.red * 255),
             (unsigned)round(colour.green * 255), (unsigned)round(colour.blue * 255));
    json_key_text(json, key, text);
}

static void add_colours(const char *key, const char *program, struct json *json)
{
    json_key_open(json, key, '{');
    for (int is_dark = 0; is_dark < 2; is_dark++) {
        struct process_colours colours = style_of_program(is_dark, program);

        json_key_open(json, is_dark ? "dark" : "light", '{');
        add_colour("user", colours.user, json);
        add_colour("kernel", colours.kernel, json);
        json_close(json, '}');
    }
    json_close(json, '}');
}

static void add_sizes(struct json *json)
{
    json_key_open(json, "sizes", '{');
    json_key_number(json, "strip", LAYOUT_STRIP);
    json_key_number(json, "cpu", LAYOUT_CPU);
    json_key_number(json, "padding", LAYOUT_PADDING);
    json_close(json, '}');
}

static void add_threads(const struct view *view, struct json *json)
{
    json_key_open(json, "threads", '[');
    for (uint32_t i = 0; i < index_thread_count(&view->index); i++) {
        const struct index_thread *thread = index_thread(&view->index, i);

        if (thread->tid == MODEL_NOBODY)
            continue;
        json_open(json, '{');
        json_key_number(json, "n", i);
        json_key_number(json, "tid", thread->tid);
        json_key_signed(json, "pid", thread->pid == MODEL_NOBODY ? -1 : (int64_t)thread->pid);
        json_key_number(json, "cpu", thread->cpu);
        json_key_text(json, "name", thread->name);
        json_key_bool(json, "idle", thread->is_idle);
        json_key_number(json, "begin", view_ns(view, thread->begin));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void add_processes(const struct view *view, struct json *json)
{
    json_key_open(json, "processes", '[');
    for (size_t i = 0; i < index_process_count(&view->index); i++) {
        const struct index_process *process = index_process(&view->index, i);

        json_open(json, '{');
        json_key_number(json, "pid", process->pid);
        json_key_text(json, "name", process->name);
        add_colours("colors", process->name, json);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void add_texts(const struct blob_array *texts, struct json *json)
{
    for (size_t i = 0; i < blob_array_count(texts); i++) {
        struct buffer_reader text = blob_array_get(texts, i);

        json_text_bytes(json, (const char *)text.at, text.left);
    }
}

static void add_losses(const struct view *view, struct json *json)
{
    const struct index_losses *losses = &view->index.losses;

    json_key_open(json, "lost", '{');
    json_key_number(json, "events", losses->events);
    json_key_number(json, "packets", losses->packets);
    json_key_number(json, "cut", losses->cut);
    json_key_number(json, "damaged", losses->damaged + view->damaged);
    json_key_number(json, "reports", losses->reports + view->judged_count);
    json_key_open(json, "texts", '[');
    add_texts(&view->judged, json);
    add_texts(&view->index.reports, json);
    json_close(json, ']');
    json_key_bool(json, "before", losses->before);
    json_key_bool(json, "unfinished", trace_is_unfinished(&view->trace));
    json_close(json, '}');
}

static void add_busy(const struct view *view, struct json *json)
{
    uint64_t from, to;

    index_find_busy(&view->index, &from, &to);
    json_key_open(json, "busy", '{');
    json_key_number(json, "from", view_ns(view, from));
    json_key_number(json, "to", view_ns(view, to));
    json_close(json, '}');
}

bool api_trace(struct view *view, const struct request *request, struct json *json, struct fail *fail)
{
    const struct schema *schema = &view->trace.schema;

    json_key_text(json, "name", view_name(view));
    json_key_text(json, "arch", environment(view, "architecture"));
    json_key(json, "begin_clock_ns"); /* text, because it exceeds the exact integers of JavaScript */
    json_open(json, '"');
    json_signed(json, schema_ns(schema, view->index.begin));
    json_close(json, '"');
    json_key_number(json, "duration", view_duration(view));
    add_busy(view, json);
    json_key_number(json, "events_total", view->index.events);
    json_key_number(json, "generation", view->generation);
    json_key_number(json, "version", view->version);
    json_key_bool(json, "live", view->is_live);
    json_key_bool(json, "indexing", view->index.is_partial);
    add_cpus(&view->trace, json);
    add_classes(view, json);
    add_events(view, json);
    add_styles(json);
    add_sizes(json);
    add_colours("kernel", "kernel", json);
    add_colours("unknown", "unknown", json);
    add_processes(view, json);
    add_threads(view, json);
    add_losses(view, json);
    api_add_link(view, json);
    api_add_goto(view, json);
    return true;
}
