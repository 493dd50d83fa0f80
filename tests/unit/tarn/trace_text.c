/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/unit/tarn/trace_text.c - traces written by hand; see trace_text.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tests/unit/tarn/trace_text.h>

struct stream_text {
    struct writer to;
    uint8_t running[8 + TRACE_NAME_BYTES]; /* number, process and name of the thread that runs */
};

struct text_writer {
    const struct synthetic_options *options;
    struct schema schema;
    struct stream_text streams[TRACE_TEXT_CPUS];
    struct fail *fail;
    unsigned line;
    uint64_t time; /* of the line before */
};

static bool wrong(struct text_writer *writer, const char *what, const char *word)
{
    return fail_set(writer->fail, "line %u: %s '%.60s'", writer->line, what, word);
}

static const struct event_type *own_event(const struct text_writer *writer, uint32_t minor)
{
    return schema_event(&writer->schema, TRACE_ID(TRACE_CLASS_TRACE, minor));
}

static bool append(struct text_writer *writer, struct stream_text *stream, const struct event_type *type,
                   const uint8_t *event, uint64_t bytes)
{
    if (!writer_has_space(&stream->to, bytes + 8))
        return wrong(writer, "no more space in the packet for", type->name);
    writer_append(&stream->to, type->id, event, bytes);
    return true;
}

static bool begin_packet(struct text_writer *writer, struct stream_text *stream,
                         const struct event_type *first)
{
    const struct event_type *context = own_event(writer, TRACE_MINOR_CONTEXT);
    uint8_t event[SYNTHETIC_EVENT_BYTES] = {0};

    writer_begin(&stream->to);
    memset(stream->running, 0, sizeof(stream->running));
    return first == context || append(writer, stream, context, event, context->words * 8ul);
}

static bool parse_number(const struct field *field, const char *text, uint64_t *value)
{
    char *end;

    for (const struct label *label = field->labels; label != NULL; label = label->next)
        if (strcmp(label->name, text) == 0) {
            *value = label->value;
            return true;
        }
    *value = *text == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    return end != text && *end == '\0';
}

/* Elements; COUNT gets their number. */
static bool set_elements(struct text_writer *writer, uint8_t *event, const struct field *field, char *text,
                         uint64_t *count)
{
    char *rest = NULL;
    uint64_t value;

    *count = 0;
    for (char *word = strtok_r(text, ":", &rest); word != NULL; word = strtok_r(NULL, ":", &rest)) {
        if (!parse_number(field, word, &value) ||
            field->offset + (*count + 1) * field->width > SYNTHETIC_EVENT_BYTES)
            return wrong(writer, "no element", word);
        synthetic_store(&writer->schema, event + field->offset + (*count)++ * field->width, value,
                        field->width);
    }
    return true;
}

/* BYTES: how long the event is. */
static bool set_field(struct text_writer *writer, uint8_t *event, const struct field *field, char *text,
                      uint64_t *bytes)
{
    uint64_t value, length = strlen(text);

    switch (field->kind) {
    case FIELD_TEXT:
        memcpy(event + field->offset, text, length < field->count ? length : field->count);
        return true;
    case FIELD_STRING:
        if (field->offset + length >= SYNTHETIC_EVENT_BYTES)
            return wrong(writer, "too long", text);
        memcpy(event + field->offset, text, length + 1);
        *bytes = field->offset + length + 1;
        return true;
    case FIELD_ARRAY:
        return set_elements(writer, event, field, text, &value);
    case FIELD_SEQUENCE:
        if (!set_elements(writer, event, field, text, &value))
            return false;
        synthetic_store(&writer->schema, event + field->counter->offset, value, field->counter->width);
        *bytes = field->offset + value * field->width;
        return true;
    default:
        if (!parse_number(field, text, &value))
            return wrong(writer, "no number and no label", text);
        synthetic_store(&writer->schema, event + field->offset, value, field->width);
        return true;
    }
}

enum direction { STORE, LOAD };

/* Number, process and name of a thread, which FIELDS name, between an event and a place without gaps. */
static void copy_thread(const struct event_type *type, const char *const fields[3], uint8_t *event,
                        uint8_t *place, enum direction direction)
{
    for (unsigned i = 0; i < 3; i++) {
        const struct field *field = schema_find_field(type, fields[i]);
        const uint64_t bytes = field->kind == FIELD_TEXT ? field->count : field->width;

        if (direction == STORE)
            memcpy(place, event + field->offset, bytes);
        else
            memcpy(event + field->offset, place, bytes);
        place += bytes;
    }
}

static const char *const next[] = {"next_tid", "next_pid", "next_comm"};

/* TEXT: number, process and name of the thread that runs next, with slashes between. */
static bool set_next(struct text_writer *writer, uint8_t *event, const struct event_type *type, char *text)
{
    uint64_t bytes;

    for (unsigned i = 0; i < 3; i++) {
        char *slash = i < 2 ? strchr(text, '/') : NULL;

        if (i < 2 && slash == NULL)
            return wrong(writer, "no thread", text);
        if (slash != NULL)
            *slash = '\0';
        if (!set_field(writer, event, schema_find_field(type, next[i]), text, &bytes))
            return false;
        text = slash + 1;
    }
    return true;
}

static bool write_event(struct text_writer *writer, struct stream_text *stream, const struct event_type *type,
                        char *fields)
{
    static const char *const ran[] = {"prev_tid", "prev_pid", "prev_comm"};
    static const char *const context[] = {"tid", "pid", "name"};
    const bool is_switch = strcmp(type->name, "sched_switch") == 0;
    uint8_t event[SYNTHETIC_EVENT_BYTES + 8] = {0};
    uint64_t bytes = type->words * 8ul;
    char *rest = NULL;

    if (stream->to.used == 0 && !begin_packet(writer, stream, type))
        return false;
    if (is_switch)
        copy_thread(type, ran, event, stream->running, LOAD);
    for (char *word = strtok_r(fields, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        const struct field *field;

        if (value != NULL)
            *value++ = '\0';
        if (is_switch && value != NULL && strcmp(word, "next") == 0) {
            if (!set_next(writer, event, type, value))
                return false;
            continue;
        }
        field = schema_find_field(type, word);
        if (value == NULL || field == NULL)
            return wrong(writer, "no field", word);
        if (!set_field(writer, event, field, value, &bytes))
            return false;
    }
    if (is_switch || type == own_event(writer, TRACE_MINOR_CONTEXT))
        copy_thread(type, is_switch ? next : context, event, stream->running, STORE);
    return append(writer, stream, type, event, bytes);
}

static bool write_line(struct text_writer *writer, char *line)
{
    const uint64_t begin = *line == '+' ? writer->time : 0;
    unsigned long long time;
    unsigned cpu;
    char name[80];
    int used = 0;
    struct stream_text *stream;
    const struct event_type *type;

    if (*line == '\0' || *line == '#')
        return true;
    if (sscanf(line, "%llu %u %79s%n", &time, &cpu, name, &used) != 3 || cpu >= TRACE_TEXT_CPUS)
        return wrong(writer, "no time, processor and event in", line);
    stream = &writer->streams[cpu];
    writer->time = time += begin;
    if (time < stream->to.time)
        return wrong(writer, "earlier than the line before:", line);
    stream->to.time = time;
    if (strcmp(name, "!lost") == 0) {
        writer_end(&stream->to);
        stream->to.about.discarded += strtoull(line + used, NULL, 0);
        return true;
    }
    if (strcmp(name, "!closed") == 0) { /* for a loss that lasts until now */
        stream->to.about.flags = TRACE_PACKET_CLOSING;
        writer_begin(&stream->to);
        writer_put(&stream->to);
        stream->to.used = 0;
        return true;
    }
    type = schema_find_event(&writer->schema, name);
    return type != NULL ? write_event(writer, stream, type, line + used) : wrong(writer, "no event", name);
}

static bool write_lines(struct text_writer *writer, char *text)
{
    char *next;

    for (; text != NULL; text = next) {
        next = strchr(text, '\n');
        if (next != NULL)
            *next++ = '\0';
        writer->line++;
        if (!write_line(writer, text))
            return false;
    }
    return true;
}

static bool open_streams(struct text_writer *writer)
{
    bool ok = true;

    for (uint32_t cpu = 0; cpu < TRACE_TEXT_CPUS && ok; cpu++)
        ok = writer_open(&writer->streams[cpu].to, writer->options, &writer->schema, cpu, writer->fail);
    return ok;
}

/* Processors without a line have no stream. */
static bool close_streams(struct text_writer *writer)
{
    bool ok = true;
    char path[4096];

    for (uint32_t cpu = 0; cpu < TRACE_TEXT_CPUS; cpu++) {
        struct writer *to = &writer->streams[cpu].to;
        bool is_empty;

        if (to->used != 0)
            writer_end(to);
        is_empty = to->file != NULL && ftell(to->file) == 0;
        ok &= writer_close(to, writer->fail);
        snprintf(path, sizeof(path), "%s/cpu%u", writer->options->directory, cpu);
        if (is_empty)
            remove(path);
    }
    return ok;
}

/* The highest processor that a line has, and those below. */
static uint64_t count_processors(const char *text)
{
    uint64_t count = 1;

    for (; text != NULL && *text != '\0'; text = strchr(text, '\n'), text += text != NULL) {
        char *cpu;

        strtoull(text, &cpu, 10);
        const uint64_t with_it = strtoull(cpu, NULL, 10) + 1;
        count = with_it > count ? with_it : count;
    }
    return count;
}

bool trace_text_write(const struct synthetic_options *wanted, const char *text, struct fail *fail)
{
    struct synthetic_options all = *wanted;
    const struct synthetic_options *options = &all;
    struct text_writer *writer = alloc_zero(1, sizeof(*writer));
    char *metadata, *lines = strdup(text);
    bool ok;

    all.cpus = count_processors(text);
    metadata = synthetic_metadata(options, fail);
    writer->options = options;
    writer->fail = fail;
    ok = metadata != NULL && lines != NULL &&
         schema_build(&writer->schema, metadata, strlen(metadata), fail) &&
         synthetic_start(options, metadata, fail) && open_streams(writer) && write_lines(writer, lines);
    ok = close_streams(writer) && ok;
    schema_free(&writer->schema);
    free(metadata);
    free(lines);
    free(writer);
    return ok;
}
