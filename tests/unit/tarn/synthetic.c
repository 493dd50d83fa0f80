/* tests/unit/tarn/synthetic.c - packets, events at random, and a stream of them; see tracegen.c. */
#include <stddef.h>
#include <string.h>
#include <tests/unit/tarn/synthetic.h>

#define THREADS     100u
#define LOST_EVENTS 1000u /* in the packets of one gap */

static uint64_t random_state;

static uint64_t next_random(void)
{
    if (random_state == 0)
        random_state = options.seed * 0x9e3779b97f4a7c15ull + 1;
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

uint64_t draw(uint64_t below)
{
    return (next_random() * 0x2545f4914f6cdd1dull >> 16) % below;
}

void store_number(uint8_t *at, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        at[schema.big_endian ? width - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

/* ---- packets ------------------------------------------------------------------------------------- */

static void put_header(struct writer *writer, uint32_t id, uint64_t words)
{
    uint32_t length = words > TRACE_LENGTH_MAX ? 0 : (uint32_t)words;
    uint8_t *at = writer->packet + writer->used;
    store_number(at, schema.big_endian ? id << 10 | length : id | length << 22, 4);
    store_number(at + 4, (uint32_t)writer->time, 4);
}

bool has_space(const struct writer *writer, uint64_t bytes)
{
    return writer->used + bytes + 8 <= options.packet;
}

void append_event(struct writer *writer, uint32_t id, const uint8_t *event, uint64_t bytes)
{
    uint64_t words = (bytes + 7) / 8;
    memcpy(writer->packet + writer->used, event, words * 8);
    put_header(writer, id, words);
    writer->used += words * 8;
    writer->events++;
}

void begin_packet(struct writer *writer)
{
    const uint32_t context = TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_CONTEXT);
    uint8_t event[EVENT_BYTES_MAX];
    uint64_t bytes = make_event(writer, event, schema_event(&schema, context));
    memset(writer->packet, 0, options.packet);
    writer->used = sizeof(struct trace_packet);
    writer->begin = writer->time;
    writer->first = writer->events;
    append_event(writer, context, event, bytes);
}

static void put_packet(struct writer *writer)
{
    const uint64_t words[] = {writer->begin,     writer->time, writer->used * 8,   options.packet * 8,
                              writer->discarded, writer->seq,  options.packet / 8, writer->before};
    uint8_t *packet = writer->packet;
    store_number(packet, TRACE_CTF_MAGIC, 4);
    store_number(packet + 4, TRACE_STREAM_ID, 4);
    memcpy(packet + 8, schema.uuid, 16);
    for (int i = 0; i < 8; i++)
        store_number(packet + 24 + 8 * i, words[i], 8);
    store_number(packet + offsetof(struct trace_packet, cpu_id), writer->cpu, 4);
    if (options.packet > writer->used)
        put_header(writer, TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_FILLER),
                   (options.packet - writer->used) / 8);
    fwrite(packet, options.packet, 1, writer->file); /* who closes it looks for errors */
}

void end_packet(struct writer *writer)
{
    static const uint8_t end[8];
    append_event(writer, TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END), end, sizeof(end));
    put_packet(writer);
    writer->before += writer->events - 1 - writer->first;
    writer->seq++;
    if (options.losses && draw(4) == 0)
        writer->discarded += draw(1000) + 1;
    if (options.losses && draw(10) == 0) {
        writer->seq += draw(3) + 1;
        writer->before += LOST_EVENTS;
    }
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

static uint64_t some_number(const struct field *field)
{
    if (field->kind == FIELD_ENUM && field->labels != NULL && draw(50) != 0) {
        unsigned skip = (unsigned)draw(8);
        const struct label *label = field->labels;
        while (skip-- > 0 && label->next != NULL)
            label = label->next;
        return label->value;
    }
    if (field->width == 8 && field->base == 16)
        return draw(4) ? 0xffff800000000000ull + draw(1ull << 40) : draw(1ull << 47);
    if (draw(100) == 0)
        return random_state; /* any bits */
    if (field->is_signed)
        return draw(200) - 100;
    return draw(field->width == 8 ? 10000000 : field->width == 4 ? 4096 : 64);
}

static size_t some_text(char *text, size_t size)
{
    static const char *const texts[] = {"/bin/sh",
                                        "/home/user/17/input",
                                        "a line of text",
                                        "",
                                        "naïve \"quotes\" \\ ?'",
                                        "tab\there\nnewline",
                                        "/lib/libc.so",
                                        "\x01\x7f control"};
    int length = snprintf(text, size, "%s", texts[draw(draw(4) ? 3 : 8)]);
    return (size_t)length + 1;
}

/* Fills one field; returns the bytes that a field of variable size takes. */
static uint64_t fill_field(uint8_t *event, const struct field *field)
{
    uint8_t *at = event + field->offset;
    uint64_t count = field->kind == FIELD_SEQUENCE ? draw(9) : field->count;
    switch (field->kind) {
    case FIELD_TEXT:
        memset(at, 0, field->count);
        if (field->count == TRACE_NAME_BYTES)
            set_comm((char *)at, (uint32_t)draw(100));
        return 0;
    case FIELD_STRING:
        return some_text((char *)at, 64);
    case FIELD_SEQUENCE:
        store_number(event + field->counter->offset, count, field->counter->width);
        /* fall through */
    case FIELD_ARRAY:
        for (uint64_t i = 0; i < count; i++)
            store_number(at + i * field->width, some_number(field), field->width);
        return field->kind == FIELD_SEQUENCE ? count * field->width : 0;
    default:
        store_number(at, some_number(field), field->width);
        return 0;
    }
}

static void store_named(uint8_t *event, const struct event_type *type, const char *name, uint64_t value,
                        const char *comm)
{
    const struct field *field = schema_find_field(type, name);
    if (field == NULL)
        return;
    if (comm != NULL)
        memcpy(event + field->offset, comm, TRACE_NAME_BYTES);
    else
        store_number(event + field->offset, value, field->width);
}

/* One of those that run on a processor. */
static uint32_t some_thread(uint64_t cpu)
{
    uint64_t cpus = options.cpus, own = THREADS / cpus;
    return own > 0 ? (uint32_t)(cpu + cpus * draw(own)) : (uint32_t)cpu;
}

/* A switch goes from the running thread to another one. */
static void fill_switch(struct writer *writer, uint8_t *event, const struct event_type *type)
{
    store_named(event, type, "prev_tid", writer->running.tid, NULL);
    store_named(event, type, "prev_pid", writer->running.pid, NULL);
    store_named(event, type, "prev_comm", 0, writer->running.comm);
    writer->running.tid = some_thread(writer->cpu); /* no thread runs on two CPUs */
    writer->running.pid = writer->running.tid % 11;
    set_comm(writer->running.comm, writer->running.tid);
    store_named(event, type, "next_tid", writer->running.tid, NULL);
    store_named(event, type, "next_pid", writer->running.pid, NULL);
    store_named(event, type, "next_comm", 0, writer->running.comm);
}

uint64_t make_event(struct writer *writer, uint8_t *event, const struct event_type *type)
{
    uint64_t bytes = 8;
    memset(event, 0, EVENT_BYTES_MAX);
    for (unsigned i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];
        uint64_t variable = fill_field(event, field);
        uint64_t fixed = field->kind == FIELD_ARRAY || field->kind == FIELD_TEXT
                             ? field->count * (uint64_t)field->width
                         : field->kind == FIELD_STRING || field->kind == FIELD_SEQUENCE ? 0
                                                                                        : field->width;
        bytes = field->offset + fixed + variable;
    }
    if (strcmp(type->name, "sched_switch") == 0)
        fill_switch(writer, event, type);
    else if (strcmp(type->name, "sched_process_fork") == 0) /* of a new thread */
        store_named(event, type, "child_tid", THREADS + writer->events, NULL);
    if (type->id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_CONTEXT)) {
        store_named(event, type, "pid", writer->running.pid, NULL);
        store_named(event, type, "tid", writer->running.tid, NULL);
        store_named(event, type, "name", 0, writer->running.comm);
    }
    return (bytes + 7) / 8 * 8;
}

/* ---- every event alike --------------------------------------------------------------------------- */

static const struct event_type *some_type(void)
{
    const struct event_type *type;
    do
        type = schema.events[draw(schema.event_count)];
    while (type->id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_FILLER) ||
           type->id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END) || type->words >= 100);
    return type;
}

void write_uniform(struct writer *writer, uint64_t events)
{
    uint8_t event[EVENT_BYTES_MAX] = {0};
    writer->running.tid = writer->cpu;
    writer->running.pid = writer->running.tid % 11;
    set_comm(writer->running.comm, writer->running.tid);
    begin_packet(writer);
    while (writer->events < events) {
        const struct event_type *type = some_type();
        const struct running before = writer->running;
        uint64_t bytes;
        writer->time += options.ties ? draw(4) == 0 : draw(2000);
        if (draw(200000) == 0)
            writer->time += 0x70000000;
        bytes = make_event(writer, event, type);
        if (!has_space(writer, bytes)) {
            const struct running next = writer->running;
            end_packet(writer);
            writer->running = before; /* the event may be a switch, which comes after the context */
            begin_packet(writer);
            writer->running = next;
        }
        append_event(writer, type->id, event, bytes);
    }
}
