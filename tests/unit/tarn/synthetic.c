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

/* How often an event occurs on a busy system, of about a thousand. */
static const struct mix {
    const char *name;
    unsigned weight;
} busy[] = {{"sched_switch", 110},
            {"sched_wakeup", 90},
            {"sched_enqueue", 50},
            {"sched_dequeue", 50},
            {"syscall_entry", 190},
            {"syscall_exit", 190},
            {"ipc_call", 50},
            {"ipc_reply", 50},
            {"fault_entry", 30},
            {"fault_exit", 30},
            {"irq_handler_entry", 25},
            {"irq_handler_exit", 25},
            {"kmem_mm_page_alloc", 15},
            {"kmem_mm_page_free", 15},
            {"lock_contended", 5},
            {"fs_open", 10},
            {"libc_entry", 30},
            {"libc_exit", 30},
            {"user_text", 3},
            {"timer_program", 20},
            {"fs_read", 15},
            {"mem_map", 10}};

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

static void store(struct generator *gen, uint8_t *at, uint64_t value, unsigned width)
{
    synthetic_store(&gen->schema, at, value, width);
}

void synthetic_event(const struct schema *schema, uint8_t *event, uint32_t id, uint64_t words, uint64_t time)
{
    uint32_t length = words > TRACE_LENGTH_MAX ? 0 : (uint32_t)words;

    synthetic_store(schema, event, schema->big_endian ? id << 10 | length : id | length << 22, 4);
    synthetic_store(schema, event + 4, (uint32_t)time, 4);
}

void synthetic_packet(const struct schema *schema, uint8_t *packet, uint64_t used, uint64_t size,
                      const struct synthetic_packet *about)
{
    const uint64_t words[] = {about->begin,     about->end, used * 8, size * 8,
                              about->discarded, about->seq, size / 8, about->before};

    synthetic_store(schema, packet, TRACE_CTF_MAGIC, 4);
    synthetic_store(schema, packet + 4, TRACE_STREAM_ID, 4);
    memcpy(packet + 8, schema->uuid, 16);
    for (int i = 0; i < 8; i++)
        synthetic_store(schema, packet + 24 + 8 * i, words[i], 8);
    synthetic_store(schema, packet + offsetof(struct trace_packet, cpu_id), about->cpu, 4);
    synthetic_store(schema, packet + offsetof(struct trace_packet, flags), about->flags, 4);
    if (size > used)
        synthetic_event(schema, packet + used, TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_FILLER),
                        (size - used) / 8, about->end);
}

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
static uint64_t fill_field(struct generator *gen, struct writer *writer, uint8_t *event,
                           const struct event_type *type, const struct field *field)
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
        store(gen, event + field->counter->offset, count, field->counter->width);
        /* fall through */
    case FIELD_ARRAY:
        for (uint64_t i = 0; i < count; i++)
            store(gen, at + i * field->width, some_number(gen, field), field->width);
        return field->kind == FIELD_SEQUENCE ? count * field->width : 0;
    default:
        store(gen, at, some_number(gen, field), field->width);
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
        store(gen, event + field->offset, value, field->width);
}

/* One of those that run on a processor. */
static uint32_t some_thread(struct generator *gen, uint64_t cpu)
{
    uint64_t cpus = gen->options.cpus, own = SYNTHETIC_THREADS / cpus;

    return own > 0 ? (uint32_t)(cpu + cpus * generator_draw(gen, own)) : (uint32_t)cpu;
}

/* What ends an activity that begins with TYPE; NULL: it begins none. */
static const struct event_type *end_of(struct generator *gen, const struct event_type *type)
{
    static const char *const pairs[][2] = {{"syscall_entry", "syscall_exit"},
                                           {"libc_entry", "libc_exit"},
                                           {"fault_entry", "fault_exit"},
                                           {"irq_handler_entry", "irq_handler_exit"}};

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (strcmp(type->name, pairs[i][0]) == 0)
            return schema_find_event(&gen->schema, pairs[i][1]);
    return NULL;
}

static bool is_end(const struct event_type *type)
{
    size_t length = strlen(type->name);

    return length > 5 && strcmp(type->name + length - 5, "_exit") == 0;
}

/* What the running thread can do: what ends is what began last, and calls do not nest without end. */
static const struct event_type *choose_type(struct generator *gen, struct writer *writer)
{
    const struct event_type *type = gen->pick[generator_draw(gen, gen->picks)];
    unsigned depth = writer->depth[writer->tid % SYNTHETIC_THREADS];

    if (gen->options.uniform || (!is_end(type) && end_of(gen, type) == NULL))
        return type;
    if (depth == 0)
        return is_end(type) ? gen->pick[0] : type;
    return is_end(type) || depth == SYNTHETIC_DEPTH
               ? writer->inside[writer->tid % SYNTHETIC_THREADS][depth - 1].end
               : type;
}

/* The first field identifies the call, fault or interrupt; its end has the same. */
static void keep_nesting(struct generator *gen, struct writer *writer, uint8_t *event,
                         const struct event_type *type)
{
    const struct event_type *end = end_of(gen, type);
    uint32_t thread = writer->tid % SYNTHETIC_THREADS;
    uint8_t *depth = &writer->depth[thread];

    store_named(gen, event, type, "tid", writer->tid, NULL);
    if (end != NULL) {
        writer->inside[thread][*depth].end = end;
        writer->inside[thread][*depth].detail = field_integer(&type->fields[0], event);
        ++*depth;
    } else if (is_end(type) && *depth > 0) {
        --*depth;
        store(gen, event + type->fields[0].offset, writer->inside[thread][*depth].detail,
              type->fields[0].width);
    }
}

/* A switch goes from the running thread to another one. */
static void fill_switch(struct generator *gen, struct writer *writer, uint8_t *event,
                        const struct event_type *type)
{
    store_named(gen, event, type, "prev_tid", writer->tid, NULL);
    store_named(gen, event, type, "prev_pid", writer->pid, NULL);
    store_named(gen, event, type, "prev_comm", 0, writer->comm);
    writer->tid = some_thread(gen, writer->cpu); /* no thread runs on two CPUs */
    writer->pid = writer->tid % 11;
    set_comm(writer->comm, writer->tid);
    store_named(gen, event, type, "next_tid", writer->tid, NULL);
    store_named(gen, event, type, "next_pid", writer->pid, NULL);
    store_named(gen, event, type, "next_comm", 0, writer->comm);
}

uint64_t generator_make(struct generator *gen, struct writer *writer, uint8_t *event,
                        const struct event_type *type)
{
    uint64_t bytes = 8, words;

    memset(event, 0, 1024);
    for (unsigned i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];
        uint64_t variable = fill_field(gen, writer, event, type, field);
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
    else if (!gen->options.uniform && strcmp(type->name, "sched_wakeup") == 0)
        store_named(gen, event, type, "tid", some_thread(gen, generator_draw(gen, gen->options.cpus)), NULL);
    else if (!gen->options.uniform && (end_of(gen, type) != NULL || is_end(type)))
        keep_nesting(gen, writer, event, type);
    if (type->id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_CONTEXT)) {
        store_named(gen, event, type, "pid", writer->pid, NULL);
        store_named(gen, event, type, "tid", writer->tid, NULL);
        store_named(gen, event, type, "name", 0, writer->comm);
    }
    words = (bytes + 7) / 8;
    synthetic_event(&gen->schema, event, type->id, words, writer->time);
    return words * 8;
}

void writer_append(struct writer *writer, const uint8_t *event, uint64_t bytes)
{
    memcpy(writer->packet + writer->used, event, bytes);
    writer->used += bytes;
    writer->events++;
}

void writer_start(struct generator *gen, struct writer *writer)
{
    uint8_t event[1024];

    memset(writer->packet, 0, gen->options.packet);
    writer->used = sizeof(struct trace_packet);
    writer->begin = writer->time;
    writer->first = writer->events;
    writer_append(
        writer, event,
        generator_make(gen, writer, event,
                       schema_event(&gen->schema, TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_CONTEXT))));
}

/* The end event fits: write_stream leaves a word. */
void writer_finish(struct generator *gen, struct writer *writer)
{
    uint8_t end[1024];
    uint64_t size = gen->options.packet;
    const struct synthetic_packet about = {
        writer->begin, writer->time, writer->discarded, writer->seq, writer->before, writer->cpu, 0};

    writer->before += writer->events - writer->first;
    writer_append(writer, end,
                  generator_make(gen, writer, end,
                                 schema_event(&gen->schema, TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END))));
    synthetic_packet(&gen->schema, writer->packet, writer->used, size, &about);
    fwrite(writer->packet, size, 1, writer->file); /* write_stream looks for errors */
    writer->seq++;
    if (gen->options.losses && generator_draw(gen, 4) == 0)
        writer->discarded += generator_draw(gen, 1000) + 1;
    if (gen->options.losses && generator_draw(gen, 10) == 0) {
        writer->seq += generator_draw(gen, 3) + 1;
        writer->before += SYNTHETIC_LOST;
    }
}

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

static bool write_stream(struct generator *gen, uint32_t cpu, uint64_t events, struct fail *fail)
{
    struct writer writer = {.cpu = cpu, .time = 0xffffff00, .tid = cpu, .pid = cpu % 11};
    char path[4096];
    uint8_t event[1024];

    snprintf(path, sizeof(path), "%s/cpu%u", gen->options.directory, cpu);
    writer.file = fopen(path, "wb");
    if (writer.file == NULL)
        return fail_set(fail, "%s: %s", path, strerror(errno));
    writer.packet = alloc_zero(1, gen->options.packet + sizeof(event));
    set_comm(writer.comm, writer.tid);
    if (gen->options.losses && cpu == 1)
        writer.discarded = 7; /* before the first packet */
    if (gen->options.work)
        workload_write(gen, &writer, events);
    else
        writer_start(gen, &writer);
    while (writer.events < events) {
        const struct event_type *type = choose_type(gen, &writer);
        const struct current before = get_current(&writer);
        uint64_t bytes;

        writer.time += gen->options.ties ? generator_draw(gen, 4) == 0 : generator_draw(gen, 2000);
        if (generator_draw(gen, 200000) == 0)
            writer.time += 0x70000000;
        bytes = generator_make(gen, &writer, event, type);
        if (writer.used + bytes + 8 > gen->options.packet) {
            const struct current next = get_current(&writer);

            writer_finish(gen, &writer);
            set_current(&writer, &before); /* the event may be a switch, which comes after the context */
            writer_start(gen, &writer);
            set_current(&writer, &next);
        }
        writer_append(&writer, event, bytes);
    }
    writer_finish(gen, &writer);
    gen->written += writer.events;
    free(writer.packet);
    if (ferror(writer.file) | fclose(writer.file))
        return fail_set(fail, "%s cannot be written", path);
    return true;
}

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

static void choose_mix(struct generator *gen)
{
    if (gen->options.uniform) {
        for (unsigned i = 0; i < gen->schema.event_count && gen->picks < 4096; i++)
            if (gen->schema.events[i]->id != TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_FILLER) &&
                gen->schema.events[i]->id != TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END) &&
                gen->schema.events[i]->words < 100)
                gen->pick[gen->picks++] = gen->schema.events[i];
        return;
    }
    for (size_t i = 0; i < sizeof(busy) / sizeof(busy[0]); i++) {
        const struct event_type *type = schema_find_event(&gen->schema, busy[i].name);

        for (unsigned n = 0; type != NULL && n < busy[i].weight; n++)
            gen->pick[gen->picks++] = type;
    }
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
    if (ok) {
        choose_mix(gen);
        ok = synthetic_start(options, text, fail);
    }
    for (uint32_t cpu = 0; ok && cpu < options->cpus; cpu++)
        ok = write_stream(gen, cpu, options->events / options->cpus, fail);
    if (written != NULL)
        *written = gen->written;
    schema_free(&gen->schema);
    free(text);
    free(gen);
    return ok;
}
