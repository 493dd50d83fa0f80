/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/unit/tarn/synthetic.c - synthetic traces; see synthetic.h. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tests/unit/tarn/synthetic_parts.h>
#include <tools/tarn/read/tsdl.h>
#include <trace/format/metadata.h>

uint64_t generator_draw(struct generator *gen, uint64_t below)
{
    gen->random ^= gen->random << 13;
    gen->random ^= gen->random >> 7;
    gen->random ^= gen->random << 17;
    return (gen->random * 0x2545f4914f6cdd1dull >> 16) % below;
}

void synthetic_store(const struct schema *schema, uint8_t *at, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        at[schema->big_endian ? width - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

/* ---- packets ------------------------------------------------------------------------------------- */

static void put_event(const struct writer *writer, uint64_t at, uint32_t id, uint64_t words, uint64_t time)
{
    uint32_t length = words > TRACE_LENGTH_MAX ? 0 : (uint32_t)words;

    synthetic_store(writer->schema, writer->packet + at,
                    writer->schema->big_endian ? id << 10 | length : id | length << 22, 4);
    synthetic_store(writer->schema, writer->packet + at + 4, (uint32_t)time, 4);
}

bool writer_open(struct writer *writer, const struct synthetic_options *options, const struct schema *schema,
                 uint32_t cpu, struct fail *fail)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/cpu%u", options->directory, cpu);
    writer->schema = schema;
    writer->bytes = options->packet;
    writer->about.cpu = cpu;
    writer->file = fopen(path, "wb");
    writer->packet = alloc_zero(1, writer->bytes + SYNTHETIC_EVENT_BYTES);
    return writer->file != NULL || fail_set(fail, "%s: %s", path, strerror(errno));
}

bool writer_close(struct writer *writer, struct fail *fail)
{
    const bool is_open = writer->file != NULL,
               failed = is_open && ferror(writer->file) | fclose(writer->file);

    free(writer->packet);
    return !failed || fail_set(fail, "cpu%u cannot be written", writer->about.cpu);
}

void writer_begin(struct writer *writer)
{
    memset(writer->packet, 0, writer->bytes);
    writer->used = sizeof(struct trace_packet);
    writer->about.begin = writer->time;
    writer->first = writer->events;
}

bool writer_has_space(const struct writer *writer, uint64_t bytes)
{
    return writer->used + bytes + 8 <= writer->bytes;
}

void writer_append(struct writer *writer, uint32_t id, const uint8_t *event, uint64_t bytes)
{
    uint64_t words = (bytes + 7) / 8;

    memcpy(writer->packet + writer->used, event, words * 8);
    put_event(writer, writer->used, id, words, writer->time);
    writer->used += words * 8;
    writer->events++;
}

void writer_put(struct writer *writer)
{
    const struct synthetic_packet *about = &writer->about;
    const uint64_t words[] = {about->begin,     writer->time, writer->used * 8,  writer->bytes * 8,
                              about->discarded, about->seq,   writer->bytes / 8, about->before};
    uint8_t *packet = writer->packet;

    synthetic_store(writer->schema, packet, TRACE_CTF_MAGIC, 4);
    synthetic_store(writer->schema, packet + 4, TRACE_STREAM_ID, 4);
    memcpy(packet + 8, writer->schema->uuid, 16);
    for (int i = 0; i < 8; i++)
        synthetic_store(writer->schema, packet + 24 + 8 * i, words[i], 8);
    synthetic_store(writer->schema, packet + offsetof(struct trace_packet, cpu_id), about->cpu, 4);
    synthetic_store(writer->schema, packet + offsetof(struct trace_packet, flags), about->flags, 4);
    if (writer->bytes > writer->used)
        put_event(writer, writer->used, TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_FILLER),
                  (writer->bytes - writer->used) / 8, writer->time);
    fwrite(packet, writer->bytes, 1, writer->file); /* writer_close looks for errors */
}

void writer_end(struct writer *writer)
{
    static const uint8_t end[8];

    writer_append(writer, TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END), end, sizeof(end));
    writer_put(writer);
    writer->about.before += writer->events - 1 - writer->first;
    writer->about.seq++;
    writer->used = 0;
}

/* ---- events -------------------------------------------------------------------------------------- */

static const char *const programs[] = {"init", "sh",      "ls",   "grep", "sort", "fs",
                                       "net",  "console", "sdet", "wc",   "idle"};

static void set_comm(char comm[TRACE_NAME_BYTES], uint32_t tid)
{
    char name[32];

    memset(comm, 0, TRACE_NAME_BYTES);
    snprintf(name, sizeof(name), "%s", tid == 99 ? "a_name_of_16_byt" : programs[tid % 11]);
    memcpy(comm, name, strnlen(name, TRACE_NAME_BYTES));
}

static uint64_t some_number(struct generator *gen, const struct field *field)
{
    if (field->kind == FIELD_ENUM && field->labels != NULL && generator_draw(gen, 50) != 0) {
        unsigned skip = (unsigned)generator_draw(gen, 8);
        const struct label *label = field->labels;

        while (skip-- > 0 && label->next != NULL)
            label = label->next;
        return label->value;
    }
    if (field->width == 8 && field->base == 16)
        return generator_draw(gen, 4) ? 0xffff800000000000ull + generator_draw(gen, 1ull << 40)
                                      : generator_draw(gen, 1ull << 47);
    if (generator_draw(gen, 100) == 0)
        return gen->random; /* any bits */
    if (field->is_signed)
        return generator_draw(gen, 200) - 100;
    return generator_draw(gen, field->width == 8 ? 10000000 : field->width == 4 ? 4096 : 64);
}

static size_t some_text(struct generator *gen, char *text, size_t size)
{
    static const char *const texts[] = {"/bin/sh",
                                        "/home/user/17/input",
                                        "a line of text",
                                        "",
                                        "naïve \"quotes\" \\ ?'",
                                        "tab\there\nnewline",
                                        "/lib/libc.so",
                                        "\x01\x7f control"};
    int length = snprintf(text, size, "%s", texts[generator_draw(gen, generator_draw(gen, 4) ? 3 : 8)]);

    return (size_t)length + 1;
}

/* Fills one field; returns the bytes that a field of variable size takes. */
static uint64_t fill_field(struct generator *gen, uint8_t *event, const struct field *field)
{
    uint8_t *at = event + field->offset;
    uint64_t count = field->kind == FIELD_SEQUENCE ? generator_draw(gen, 9) : field->count;

    switch (field->kind) {
    case FIELD_TEXT:
        memset(at, 0, field->count);
        if (field->count == TRACE_NAME_BYTES)
            set_comm((char *)at, (uint32_t)generator_draw(gen, 100));
        return 0;
    case FIELD_STRING:
        return some_text(gen, (char *)at, 64);
    case FIELD_SEQUENCE:
        synthetic_store(&gen->schema, event + field->counter->offset, count, field->counter->width);
        /* fall through */
    case FIELD_ARRAY:
        for (uint64_t i = 0; i < count; i++)
            synthetic_store(&gen->schema, at + i * field->width, some_number(gen, field), field->width);
        return field->kind == FIELD_SEQUENCE ? count * field->width : 0;
    default:
        synthetic_store(&gen->schema, at, some_number(gen, field), field->width);
        return 0;
    }
}

static void store_named(struct generator *gen, uint8_t *event, const struct event_type *type,
                        const char *name, uint64_t value, const char *comm)
{
    const struct field *field = schema_find_field(type, name);

    if (field == NULL)
        return;
    if (comm != NULL)
        memcpy(event + field->offset, comm, TRACE_NAME_BYTES);
    else
        synthetic_store(&gen->schema, event + field->offset, value, field->width);
}

/* One of those that run on a processor. */
static uint32_t some_thread(struct generator *gen, uint64_t cpu)
{
    uint64_t cpus = gen->options.cpus, own = SYNTHETIC_THREADS / cpus;

    return own > 0 ? (uint32_t)(cpu + cpus * generator_draw(gen, own)) : (uint32_t)cpu;
}

/* A switch goes from the running thread to another one. */
static void fill_switch(struct generator *gen, struct writer *writer, uint8_t *event,
                        const struct event_type *type)
{
    store_named(gen, event, type, "prev_tid", writer->tid, NULL);
    store_named(gen, event, type, "prev_pid", writer->pid, NULL);
    store_named(gen, event, type, "prev_comm", 0, writer->comm);
    writer->tid = some_thread(gen, writer->about.cpu); /* no thread runs on two CPUs */
    writer->pid = writer->tid % 11;
    set_comm(writer->comm, writer->tid);
    store_named(gen, event, type, "next_tid", writer->tid, NULL);
    store_named(gen, event, type, "next_pid", writer->pid, NULL);
    store_named(gen, event, type, "next_comm", 0, writer->comm);
}

uint64_t generator_make(struct generator *gen, struct writer *writer, uint8_t *event,
                        const struct event_type *type)
{
    uint64_t bytes = 8;

    memset(event, 0, SYNTHETIC_EVENT_BYTES);
    for (unsigned i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];
        uint64_t variable = fill_field(gen, event, field);
        uint64_t fixed = field->kind == FIELD_ARRAY || field->kind == FIELD_TEXT
                             ? field->count * (uint64_t)field->width
                         : field->kind == FIELD_STRING || field->kind == FIELD_SEQUENCE ? 0
                                                                                        : field->width;

        bytes = field->offset + fixed + variable;
    }
    if (strcmp(type->name, "sched_switch") == 0)
        fill_switch(gen, writer, event, type);
    else if (strcmp(type->name, "sched_process_fork") == 0) /* of a new thread */
        store_named(gen, event, type, "child_tid", SYNTHETIC_THREADS + writer->events, NULL);
    if (type->id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_CONTEXT)) {
        store_named(gen, event, type, "pid", writer->pid, NULL);
        store_named(gen, event, type, "tid", writer->tid, NULL);
        store_named(gen, event, type, "name", 0, writer->comm);
    }
    return (bytes + 7) / 8 * 8;
}

void generator_begin(struct generator *gen, struct writer *writer)
{
    const uint32_t context = TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_CONTEXT);
    uint8_t event[SYNTHETIC_EVENT_BYTES] = {0};

    writer_begin(writer);
    writer_append(writer, context, event,
                  generator_make(gen, writer, event, schema_event(&gen->schema, context)));
}

void generator_end(struct generator *gen, struct writer *writer)
{
    writer_end(writer);
    if (gen->options.losses && generator_draw(gen, 4) == 0)
        writer->about.discarded += generator_draw(gen, 1000) + 1;
    if (gen->options.losses && generator_draw(gen, 10) == 0) {
        writer->about.seq += generator_draw(gen, 3) + 1;
        writer->about.before += SYNTHETIC_LOST;
    }
}

/* ---- every event alike --------------------------------------------------------------------------- */

struct current {
    uint32_t pid, tid;
    char comm[TRACE_NAME_BYTES];
};

static void set_current(struct writer *writer, const struct current *current)
{
    writer->pid = current->pid;
    writer->tid = current->tid;
    memcpy(writer->comm, current->comm, sizeof(writer->comm));
}

static struct current get_current(const struct writer *writer)
{
    struct current current = {writer->pid, writer->tid, ""};

    memcpy(current.comm, writer->comm, sizeof(current.comm));
    return current;
}

static const struct event_type *some_type(struct generator *gen)
{
    const struct event_type *type;

    do
        type = gen->schema.events[generator_draw(gen, gen->schema.event_count)];
    while (type->id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_FILLER) ||
           type->id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END) || type->words >= 100);
    return type;
}

static void write_uniform(struct generator *gen, struct writer *writer, uint64_t events)
{
    uint8_t event[SYNTHETIC_EVENT_BYTES] = {0};

    writer->tid = writer->about.cpu;
    writer->pid = writer->tid % 11;
    set_comm(writer->comm, writer->tid);
    generator_begin(gen, writer);
    while (writer->events < events) {
        const struct event_type *type = some_type(gen);
        const struct current before = get_current(writer);
        uint64_t bytes;

        writer->time += gen->options.ties ? generator_draw(gen, 4) == 0 : generator_draw(gen, 2000);
        if (generator_draw(gen, 200000) == 0)
            writer->time += 0x70000000;
        bytes = generator_make(gen, writer, event, type);
        if (!writer_has_space(writer, bytes)) {
            const struct current next = get_current(writer);

            generator_end(gen, writer);
            set_current(writer, &before); /* the event may be a switch, which comes after the context */
            generator_begin(gen, writer);
            set_current(writer, &next);
        }
        writer_append(writer, type->id, event, bytes);
    }
}

static bool write_stream(struct generator *gen, uint32_t cpu, uint64_t events, struct fail *fail)
{
    struct writer writer = {.time = 0xffffff00};

    if (!writer_open(&writer, &gen->options, &gen->schema, cpu, fail))
        return writer_close(&writer, fail) && false;
    if (gen->options.losses && cpu == 1)
        writer.about.discarded = 7; /* before the first packet */
    (gen->options.uniform ? write_uniform : workload_write)(gen, &writer, events);
    generator_end(gen, &writer);
    gen->written += writer.events;
    return writer_close(&writer, fail);
}

/* ---- the directory ------------------------------------------------------------------------------- */

static char *read_text(const char *path, struct fail *fail)
{
    FILE *file = fopen(path, "rb");
    char *text;

    if (file == NULL) {
        fail_set(fail, "%s: %s", path, strerror(errno));
        return NULL;
    }
    text = alloc_zero(1, TSDL_BYTES_MAX + 1);
    if (fread(text, 1, TSDL_BYTES_MAX, file) == 0)
        fail_set(fail, "%s is empty", path);
    fclose(file);
    return text;
}

static struct synthetic_options with_defaults(const struct synthetic_options *options)
{
    static const struct synthetic_options usual = SYNTHETIC_DEFAULTS;
    struct synthetic_options all = *options;

    all.metadata = all.metadata ?: usual.metadata;
    all.order = all.order ?: usual.order;
    all.events = all.events ?: usual.events;
    all.cpus = all.cpus ?: usual.cpus;
    all.seed = all.seed ?: usual.seed;
    all.packet = all.packet ?: usual.packet;
    all.freq = all.freq ?: usual.freq;
    return all;
}

char *synthetic_metadata(const struct synthetic_options *wanted, struct fail *fail)
{
    const struct synthetic_options options = with_defaults(wanted);
    const struct trace_metadata_values values = {.byte_order = options.order,
                                                 .hostname = "synthetic",
                                                 .architecture = "synthetic",
                                                 .cpu_count = (uint32_t)options.cpus,
                                                 .clock_hz = options.freq,
                                                 .clock_offset_ns = 1700000000333333333};
    char *template = read_text(options.metadata, fail), *text;

    if (template == NULL)
        return NULL;
    text = alloc_zero(1, TSDL_BYTES_MAX + 1);
    trace_metadata_expand(text, TSDL_BYTES_MAX, template, strlen(template), &values);
    free(template);
    return text;
}

static bool write_text(const char *path, const char *text, struct fail *fail)
{
    FILE *file = fopen(path, "w");

    if (file == NULL)
        return fail_set(fail, "%s: %s", path, strerror(errno));
    fputs(text, file);
    if (ferror(file) | fclose(file))
        return fail_set(fail, "%s cannot be written", path);
    return true;
}

bool synthetic_start(const struct synthetic_options *options, const char *metadata, struct fail *fail)
{
    char path[4096];

    mkdir(options->directory, 0777); /* if it fails, writing will too */
    snprintf(path, sizeof(path), "%s/metadata", options->directory);
    return write_text(path, metadata, fail);
}

bool synthetic_write(const struct synthetic_options *wanted, uint64_t *written, struct fail *fail)
{
    const struct synthetic_options all = with_defaults(wanted), *options = &all;
    struct generator *gen = alloc_zero(1, sizeof(*gen));
    char *text = synthetic_metadata(options, fail);
    bool ok = text != NULL;

    gen->options = *options;
    gen->random = options->seed * 0x9e3779b97f4a7c15ull + 1;
    if (ok)
        ok = schema_build(&gen->schema, text, strlen(text), fail);
    if (ok)
        ok = synthetic_start(options, text, fail);
    for (uint32_t cpu = 0; ok && cpu < options->cpus; cpu++)
        ok = write_stream(gen, cpu, options->events / options->cpus, fail);
    if (written != NULL)
        *written = gen->written;
    schema_free(&gen->schema);
    free(text);
    free(gen);
    return ok;
}
