/*
 * tests/unit/tarn/tracegen.c - writes synthetic traces of any size, from the system's real metadata.
 *
 * For benchmarks, comparisons with other readers, unit tests and the fuzzer. Events have the layouts of the
 * metadata and plausible values: what threads do that work, or every event alike. Same options, same bytes.
 * Both byte orders are written byte by byte, so they need no machine of their own.
 */
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tools/tarn/options.h>
#include <tools/tarn/read/schema.h>
#include <trace/format/metadata.h>

#define EVENT_BYTES_MAX 1024u
#define THREADS         100u
#define LOST_EVENTS     1000u /* in the packets of one gap */

static struct options {
    const char *metadata, *order;
    uint64_t events, cpus, seed, packet, freq;
    bool uniform, losses, ties;
} options = {.metadata = "build/gen/trace/metadata.tsdl",
             .order = "le",
             .events = 100000,
             .cpus = 4,
             .seed = 1,
             .packet = 65536,
             .freq = 1000000000};

static const struct command_option known[] = {
    {TEXT("metadata", "FILE", struct options, metadata, "The schema's metadata.")},
    {COUNT("events", "N", struct options, events, 0, COUNT_MAX, "About so many events in all.")},
    {COUNT("cpus", "N", struct options, cpus, 1, 4096, "Processors.")},
    {COUNT("seed", "N", struct options, seed, 0, COUNT_MAX, "Of the random numbers.")},
    {TEXT("order", "ORDER", struct options, order, "Byte order, le or be.")},
    {COUNT("packet", "BYTES", struct options, packet, 4096, COUNT_MAX, "Size of a packet.")},
    {COUNT("freq", "HZ", struct options, freq, 1, COUNT_MAX, "Of the clock.")},
    {FLAG("uniform", struct options, uniform, "Every event of the schema alike, not threads that work.")},
    {FLAG("losses", struct options, losses, "Some events and packets are lost.")},
    {FLAG("ties", struct options, ties, "With --uniform: many events have equal times.")},
    {.name = NULL},
};
static const struct command command =
    COMMAND("tracegen", "writes a synthetic trace", "[OPTION]... DIRECTORY", 1, 1, NULL, NULL, {NULL, known});

static const char *directory;
static struct schema schema;

struct running {
    uint32_t pid, tid;
    char comm[TRACE_NAME_BYTES];
};

/* One processor's stream. */
struct writer {
    FILE *file;
    uint8_t *packet;
    uint64_t used;                          /* bytes of the packet */
    uint64_t time;                          /* of the next event, or of the packet's end */
    uint64_t events;                        /* so far, with those that begin and end packets */
    uint64_t first;                         /* `events` when the packet began */
    uint64_t begin, discarded, seq, before; /* of the packet */
    uint32_t cpu;
    struct running running; /* the thread */
};

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

static uint64_t draw(uint64_t below)
{
    return (next_random() * 0x2545f4914f6cdd1dull >> 16) % below;
}

static void store_number(uint8_t *at, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        at[schema.big_endian ? width - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

/* ---- events -------------------------------------------------------------------------------------- */

static const char *const names[] = {"init", "sh",      "ls",   "grep", "sort", "fs",
                                    "net",  "console", "sdet", "wc",   "idle"};

static void set_comm(char comm[TRACE_NAME_BYTES], uint32_t tid)
{
    char name[32];
    memset(comm, 0, TRACE_NAME_BYTES);
    snprintf(name, sizeof(name), "%s", tid == 99 ? "a_name_of_16_byt" : names[tid % 11]);
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

/* Fills one field; returns the bytes that it takes. */
static uint64_t fill_field(uint8_t *event, const struct field *field)
{
    static const char *const texts[] = {"/bin/sh",
                                        "/home/user/17/input",
                                        "a line of text",
                                        "",
                                        "naïve \"quotes\" \\ ?'",
                                        "tab\there\nnewline",
                                        "/lib/libc.so",
                                        "\x01\x7f control"};
    uint8_t *at = event + field->offset;
    uint64_t count = field->kind == FIELD_SEQUENCE ? draw(9) : field->kind == FIELD_ARRAY ? field->count : 1;
    if (field->kind == FIELD_STRING)
        return (uint64_t)snprintf((char *)at, 64, "%s", texts[draw(draw(4) ? 3 : 8)]) + 1;
    if (field->kind == FIELD_TEXT) {
        memset(at, 0, field->count);
        if (field->count == TRACE_NAME_BYTES)
            set_comm((char *)at, (uint32_t)draw(100));
        return field->count;
    }
    if (field->kind == FIELD_SEQUENCE)
        store_number(event + field->counter->offset, count, field->counter->width);
    for (uint64_t i = 0; i < count; i++)
        store_number(at + i * field->width, some_number(field), field->width);
    return count * field->width;
}

static void store_named(uint8_t *event, const struct event_type *type, const char *name, uint64_t value)
{
    const struct field *field = schema_find_field(type, name);
    if (field != NULL)
        store_number(event + field->offset, value, field->width);
}

/* With the names of its fields. */
static void store_thread(uint8_t *event, const struct event_type *type, const struct running *thread,
                         const char *tid, const char *pid, const char *comm)
{
    const struct field *field = schema_find_field(type, comm);
    store_named(event, type, tid, thread->tid);
    store_named(event, type, pid, thread->pid);
    if (field != NULL)
        memcpy(event + field->offset, thread->comm, TRACE_NAME_BYTES);
}

static void run_thread(struct writer *writer, uint32_t tid)
{
    writer->running.tid = tid;
    writer->running.pid = tid % 11;
    set_comm(writer->running.comm, tid);
}

/* A switch goes from the running thread to another one of this processor: no thread runs on two. */
static void fill_switch(struct writer *writer, uint8_t *event, const struct event_type *type)
{
    const uint64_t cpus = options.cpus, own = THREADS / cpus;
    store_thread(event, type, &writer->running, "prev_tid", "prev_pid", "prev_comm");
    run_thread(writer, (uint32_t)(own > 0 ? writer->cpu + cpus * draw(own) : writer->cpu));
    store_thread(event, type, &writer->running, "next_tid", "next_pid", "next_comm");
}

/* The body of an event with values at random; EVENT has EVENT_BYTES_MAX. Returns the bytes that it takes. */
static uint64_t make_event(struct writer *writer, uint8_t *event, const struct event_type *type)
{
    uint64_t bytes = 8;
    memset(event, 0, EVENT_BYTES_MAX);
    for (unsigned i = 0; i < type->field_count; i++)
        bytes = type->fields[i].offset + fill_field(event, &type->fields[i]);
    if (strcmp(type->name, "sched_switch") == 0)
        fill_switch(writer, event, type);
    else if (strcmp(type->name, "sched_process_fork") == 0) /* of a new thread */
        store_named(event, type, "child_tid", THREADS + writer->events);
    else if (type->id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_CONTEXT))
        store_thread(event, type, &writer->running, "tid", "pid", "name");
    return (bytes + 7) / 8 * 8;
}

/* ---- packets ------------------------------------------------------------------------------------- */

static void put_header(struct writer *writer, uint32_t id, uint64_t words)
{
    uint32_t length = words > TRACE_LENGTH_MAX ? 0 : (uint32_t)words;
    uint8_t *at = writer->packet + writer->used;
    store_number(at, schema.big_endian ? id << 10 | length : id | length << 22, 4);
    store_number(at + 4, (uint32_t)writer->time, 4);
}

static bool has_space(const struct writer *writer, uint64_t bytes)
{
    return writer->used + bytes + 8 <= options.packet;
}

static void append_event(struct writer *writer, uint32_t id, const uint8_t *event, uint64_t bytes)
{
    uint64_t words = (bytes + 7) / 8;
    memcpy(writer->packet + writer->used, event, words * 8);
    put_header(writer, id, words);
    writer->used += words * 8;
    writer->events++;
}

static void begin_packet(struct writer *writer)
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

static void end_packet(struct writer *writer)
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

static const struct event_type *some_type(void)
{
    const struct event_type *type;
    do
        type = schema.events[draw(schema.event_count)];
    while (type->id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_FILLER) ||
           type->id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END) || type->words >= 100);
    return type;
}

static void write_uniform(struct writer *writer, uint64_t events)
{
    uint8_t event[EVENT_BYTES_MAX] = {0};
    run_thread(writer, writer->cpu);
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

/* ---- threads that work -----------------------------------------------------------------------------------
 *
 * On each processor six clients call a server: a POSIX call, in it a system call, in it IPC; the server's
 * side of it has a page fault now and then. Clients fault, make system calls, wait and are woken, use up
 * their time; interrupts come in between; at times one ends and another is born. Every begin has its end, and
 * who runs is who should.
 */

#define CLIENTS 6u

#define FIELDS 10u

/* Each event with the fields that say something here; others keep the values that they were drawn with. */
/* clang-format off */
#define SHAPES_OF_EVENTS(X) \
    X(SWITCH, "sched_switch", "prev_comm", "prev_tid", "prev_state", "prev_prio", \
      "next_comm", "next_tid", "next_prio", "prev_pid", "next_pid") \
    X(SLEEP, "power_cpu_idle", "state") \
    X(WAKEUP, "sched_wakeup", "comm", "tid", "prio", "target_cpu") \
    X(ENQUEUE, "sched_enqueue", "tid", "cpu", "length") \
    X(DEQUEUE, "sched_dequeue", "tid", "cpu", "length") \
    X(CREATE, "sched_process_fork", "child_comm", "child_tid", "child_pid") \
    X(EXIT, "sched_process_exit", "tid", "pid") \
    X(SYSCALL_ENTRY, "syscall_entry", "number", "tid") \
    X(SYSCALL_EXIT, "syscall_exit", "number", "tid") \
    X(LIBC_ENTRY, "libc_entry", "call", "tid") \
    X(LIBC_EXIT, "libc_exit", "call", "tid") \
    X(FAULT_ENTRY, "fault_entry", "address", "tid") \
    X(FAULT_EXIT, "fault_exit", "address", "tid", "duration", "kind") \
    X(IRQ_ENTRY, "irq_handler_entry", "irq") \
    X(IRQ_EXIT, "irq_handler_exit", "irq") \
    X(IPC_CALL, "ipc_call", "call_id", "label", "endpoint", "server_tid") \
    X(IPC_RECEIVE, "ipc_receive", "call_id", "label", "endpoint", "client_tid") \
    X(IPC_REPLY, "ipc_reply", "call_id", "label", "client_tid") \
    X(IPC_RETURN, "ipc_return", "call_id", "label", "error") \
    X(REQUEST_BEGIN, "fs_request_begin", "request", "client") \
    X(REQUEST_END, "fs_request_end", "request") \
    X(FRAME_ALLOC, "kmem_mm_page_alloc") \
    X(CONTENDED, "lock_contended", "wait", "lock_class") \
    X(TEXT, "user_text") \
    X(PROCESS_CREATE, "process_create", "pid", "parent_pid") \
    X(PROCESS_EXIT, "process_exit", "pid", "status") \
    X(RENAME, "process_rename", "pid", "name")
/* clang-format on */

#define NUMBER_OF(number, ...)       number,
#define SHAPE_OF(number, event, ...) [number] = {event, {__VA_ARGS__}},
enum shape_number { SHAPES_OF_EVENTS(NUMBER_OF) SHAPES };
static const struct {
    const char *event, *fields[FIELDS];
} shapes[SHAPES] = {SHAPES_OF_EVENTS(SHAPE_OF)};

struct shape {
    uint8_t bytes[EVENT_BYTES_MAX];
    uint64_t size; /* 0: the schema has no such event */
    uint32_t id;
    const struct field *fields[FIELDS];
};

/* Numbers that the schema gives to states and system calls. */
struct numbers {
    uint64_t ready, reply, receive, futex, dead, futex_wait, ipc_call, ipc_reply_receive;
};

struct worker {
    struct running thread;
    uint32_t prio;
    bool is_ready;
};

struct work {
    struct writer *writer;
    struct shape shapes[SHAPES];
    struct numbers numbers;
    struct worker idle, server, clients[CLIENTS];
    struct worker *current;
    uint64_t calls;
    uint32_t births;
};

#define TEXT_VALUE(text) ((uint64_t)(uintptr_t)(text))

/* Values in the order of the shape's fields; of a text, its address. */
static void emit(struct work *work, enum shape_number number, const uint64_t *values, unsigned count)
{
    struct shape *shape = &work->shapes[number];
    struct writer *writer = work->writer;
    if (shape->size == 0)
        return;
    writer->time += 100 + draw(800);
    for (unsigned i = 0; i < count && shape->fields[i] != NULL; i++) {
        const struct field *field = shape->fields[i];
        if (field->kind == FIELD_TEXT)
            memcpy(shape->bytes + field->offset, (const char *)(uintptr_t)values[i], TRACE_NAME_BYTES);
        else
            store_number(shape->bytes + field->offset, values[i], field->width);
    }
    if (!has_space(writer, shape->size)) {
        end_packet(writer);
        begin_packet(writer);
    }
    append_event(writer, shape->id, shape->bytes, shape->size);
}

#define EMIT(work, number, ...) \
    emit(work, number, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

/* What the next packet's context says. */
static void set_current(struct work *work, struct worker *worker)
{
    work->current = worker;
    work->writer->running = worker->thread;
}

static void switch_to(struct work *work, struct worker *next, uint64_t state)
{
    struct worker *prev = work->current;
    EMIT(work, SWITCH, TEXT_VALUE(prev->thread.comm), prev->thread.tid, state, prev->prio,
         TEXT_VALUE(next->thread.comm), next->thread.tid, next->prio, prev->thread.pid, next->thread.pid);
    set_current(work, next);
}

static void wake(struct work *work, struct worker *worker)
{
    EMIT(work, WAKEUP, TEXT_VALUE(worker->thread.comm), worker->thread.tid, worker->prio, work->writer->cpu);
    EMIT(work, ENQUEUE, worker->thread.tid, work->writer->cpu, 1);
    worker->is_ready = true;
}

static void interrupt(struct work *work, struct worker *wakes)
{
    uint64_t irq = 4 + draw(3);
    EMIT(work, IRQ_ENTRY, irq);
    if (wakes != NULL)
        wake(work, wakes);
    EMIT(work, IRQ_EXIT, irq);
}

static void fault(struct work *work)
{
    uint64_t address = (0x400000 + draw(1u << 20)) << 12, begin = work->writer->time;
    EMIT(work, FAULT_ENTRY, address, work->current->thread.tid);
    EMIT(work, FRAME_ALLOC, 0);
    EMIT(work, FAULT_EXIT, address, work->current->thread.tid, work->writer->time - begin, draw(3));
}

static void call_system(struct work *work)
{
    uint64_t number = draw(20);
    EMIT(work, SYSCALL_ENTRY, number, work->current->thread.tid);
    if (draw(3) == 0)
        EMIT(work, FRAME_ALLOC, 0);
    EMIT(work, SYSCALL_EXIT, number, work->current->thread.tid);
}

static void serve(struct work *work, const struct worker *client, uint64_t id)
{
    uint64_t request = 1 + draw(8);
    EMIT(work, REQUEST_BEGIN, request, client->thread.pid);
    if (draw(4) == 0)
        fault(work);
    if (draw(12) == 0)
        interrupt(work, NULL);
    EMIT(work, REQUEST_END, request);
    EMIT(work, SYSCALL_ENTRY, work->numbers.ipc_reply_receive, work->current->thread.tid);
    EMIT(work, IPC_REPLY, id, 0, client->thread.tid);
}

/* A POSIX call that is a call of the server. */
static void call_server(struct work *work)
{
    struct worker *client = work->current;
    uint64_t call = 1 + draw(40), id = ++work->calls << 8 | work->writer->cpu;
    EMIT(work, LIBC_ENTRY, call, client->thread.tid);
    EMIT(work, SYSCALL_ENTRY, work->numbers.ipc_call, client->thread.tid);
    EMIT(work, IPC_CALL, id, 520, 3, work->server.thread.tid);
    EMIT(work, IPC_RECEIVE, id, 520, 3, client->thread.tid);
    switch_to(work, &work->server, work->numbers.reply);
    EMIT(work, SYSCALL_EXIT, work->numbers.ipc_reply_receive, work->server.thread.tid);
    serve(work, client, id);
    switch_to(work, client, work->numbers.receive);
    EMIT(work, IPC_RETURN, id, 0, 0);
    EMIT(work, SYSCALL_EXIT, work->numbers.ipc_call, client->thread.tid);
    EMIT(work, LIBC_EXIT, call, client->thread.tid);
}

static struct worker *find_ready(struct work *work)
{
    uint64_t first = draw(CLIENTS);
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct worker *client = &work->clients[(first + i) % CLIENTS];
        if (client->is_ready && client != work->current)
            return client;
    }
    return NULL;
}

static struct worker *sleep_until_interrupt(struct work *work)
{
    struct worker *woken;
    EMIT(work, SLEEP, 1);
    work->writer->time += 1000 + draw(200000);
    EMIT(work, SLEEP, UINT32_MAX);
    woken = &work->clients[draw(CLIENTS)];
    interrupt(work, woken);
    return woken;
}

/* The processor goes to another client, or sleeps until an interrupt wakes one. */
static void leave(struct work *work, uint64_t state)
{
    struct worker *next = find_ready(work);
    if (next == NULL) {
        switch_to(work, &work->idle, state);
        next = sleep_until_interrupt(work);
        state = work->numbers.ready;
    }
    EMIT(work, DEQUEUE, next->thread.tid, work->writer->cpu, 0);
    switch_to(work, next, state);
    /* It waited in a system call. */
    EMIT(work, SYSCALL_EXIT, work->numbers.futex_wait, next->thread.tid);
}

static void wait_for_others(struct work *work)
{
    EMIT(work, SYSCALL_ENTRY, work->numbers.futex_wait, work->current->thread.tid);
    work->current->is_ready = false;
    leave(work, work->numbers.futex);
}

static void set_worker(struct work *work, struct worker *worker, const char *name)
{
    uint32_t number = ++work->births;
    memset(worker, 0, sizeof(*worker));
    worker->thread.tid = number * options.cpus + work->writer->cpu;
    worker->thread.pid = worker->thread.tid + 1;
    worker->prio = 8;
    snprintf(worker->thread.comm, sizeof(worker->thread.comm), "%s", name);
}

static void tell_birth(struct work *work, struct worker *worker)
{
    EMIT(work, PROCESS_CREATE, worker->thread.pid, 4);
    EMIT(work, RENAME, worker->thread.pid, TEXT_VALUE(worker->thread.comm));
    EMIT(work, CREATE, TEXT_VALUE(worker->thread.comm), worker->thread.tid, worker->thread.pid);
}

/* The client that runs ends; another, which it made before, runs in its place. */
static void replace(struct work *work)
{
    static const char *const programs[] = {"sh",  "ls",   "grep", "sort", "wc",
                                           "cat", "sdet", "awk",  "cp",   "ps"};
    struct worker *client = work->current, born;
    set_worker(work, &born, programs[draw(10)]);
    tell_birth(work, &born);
    wake(work, &born);
    EMIT(work, PROCESS_EXIT, client->thread.pid, 0);
    EMIT(work, DEQUEUE, born.thread.tid, work->writer->cpu, 0);
    switch_to(work, &born, work->numbers.dead);
    EMIT(work, EXIT, client->thread.tid, client->thread.pid);
    *client = born;
    client->is_ready = true;
    work->current = client;
}

/* One that waits, or NULL. */
static struct worker *find_waiting(struct work *work)
{
    struct worker *client = &work->clients[draw(CLIENTS)];
    return client->is_ready || client == work->current ? NULL : client;
}

static void act(struct work *work)
{
    uint64_t choice = draw(10000);
    work->writer->time += draw(4000);
    if (choice < 4500)
        call_server(work);
    else if (choice < 6500)
        fault(work);
    else if (choice < 8300)
        call_system(work);
    else if (choice < 9000)
        interrupt(work, find_waiting(work));
    else if (choice < 9100)
        EMIT(work, CONTENDED, 50 + draw(2000), 1 + draw(8));
    else if (choice < 9110)
        EMIT(work, TEXT, 0);
    else if (choice < 9115)
        replace(work);
    else
        wait_for_others(work);
}

static uint64_t label_of(const char *event, const char *field, const char *name)
{
    const struct field *found = schema_find_field(schema_find_event(&schema, event), field);
    return field_label_value(found, name, 0);
}

static void find_numbers(struct work *work)
{
    static const char event[] = "sched_switch", field[] = "prev_state";
    work->numbers = (struct numbers){
        .ready = label_of(event, field, "ready"),
        .reply = label_of(event, field, "blocked_reply"),
        .receive = label_of(event, field, "blocked_ipc_receive"),
        .futex = label_of(event, field, "blocked_futex"),
        .dead = label_of(event, field, "dead"),
        .futex_wait = label_of("syscall_entry", "number", "futex_wait"),
        .ipc_call = label_of("syscall_entry", "number", "ipc_call"),
        .ipc_reply_receive = label_of("syscall_entry", "number", "ipc_reply_receive"),
    };
}

static void find_shapes(struct work *work)
{
    for (unsigned i = 0; i < SHAPES; i++) {
        const struct event_type *type = schema_find_event(&schema, shapes[i].event);
        struct shape *shape = &work->shapes[i];
        if (type == NULL)
            continue;
        shape->id = type->id;
        shape->size = make_event(work->writer, shape->bytes, type);
        for (unsigned field = 0; field < FIELDS && shapes[i].fields[field] != NULL; field++)
            shape->fields[field] = schema_find_field(type, shapes[i].fields[field]);
    }
}

/* Everybody is born, the server waits for requests, the others in a system call for their turn. */
static void begin(struct work *work)
{
    set_worker(work, &work->idle, "idle");
    work->idle.thread.tid = work->idle.thread.pid = 0;
    set_current(work, &work->idle);
    begin_packet(work->writer);
    set_worker(work, &work->server, "fs");
    tell_birth(work, &work->server);
    switch_to(work, &work->server, work->numbers.ready);
    switch_to(work, &work->idle, work->numbers.receive);
    for (unsigned i = 0; i < CLIENTS; i++) {
        set_worker(work, &work->clients[i], "sh");
        tell_birth(work, &work->clients[i]);
        wake(work, &work->clients[i]);
    }
    switch_to(work, &work->clients[0], work->numbers.ready);
}

static void write_workload(struct writer *writer, uint64_t events)
{
    struct work *work = alloc_zero(1, sizeof(*work));
    work->writer = writer;
    find_numbers(work);
    find_shapes(work);
    begin(work);
    while (writer->events < events)
        act(work);
    free(work);
}

/* ---- files ------------------------------------------------------------------------------------------------
 */

static FILE *open_file(const char *path, const char *how)
{
    FILE *file = fopen(path, how);
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    return file;
}

static void close_file(FILE *file, const char *path)
{
    if (ferror(file) | fclose(file)) {
        perror(path);
        exit(2);
    }
}

static FILE *create_file(const char *name, char path[static 4096])
{
    snprintf(path, 4096, "%s/%s", directory, name);
    return open_file(path, "wb");
}

/* Fills the names in. */
static void write_metadata(void)
{
    const struct trace_metadata_values values = {.byte_order = options.order,
                                                 .hostname = "synthetic",
                                                 .architecture = "synthetic",
                                                 .cpu_count = (uint32_t)options.cpus,
                                                 .clock_hz = options.freq,
                                                 .clock_offset_ns = 1700000000333333333};
    static char template[TSDL_BYTES_MAX], text[TSDL_BYTES_MAX + 1];
    FILE *file = open_file(options.metadata, "rb");
    struct fail fail;
    char path[4096];
    trace_metadata_expand(text, TSDL_BYTES_MAX, template, fread(template, 1, sizeof(template), file),
                          &values);
    close_file(file, options.metadata);
    mkdir(directory, 0777); /* if it fails, writing will too */
    file = create_file("metadata", path);
    fputs(text, file);
    close_file(file, path);
    if (!schema_build(&schema, text, strlen(text), &fail)) {
        complain("%s", fail.text);
        exit(2);
    }
}

static void write_stream(uint32_t cpu, uint64_t events)
{
    struct writer writer = {.cpu = cpu, .time = 0xffffff00};
    char name[16], path[4096];
    snprintf(name, sizeof(name), "cpu%u", cpu);
    writer.file = create_file(name, path);
    writer.packet = alloc_zero(1, options.packet + EVENT_BYTES_MAX);
    if (options.losses && cpu == 1)
        writer.discarded = 7; /* before the first packet */
    (options.uniform ? write_uniform : write_workload)(&writer, events);
    end_packet(&writer);
    free(writer.packet);
    close_file(writer.file, path);
}

int main(int argc, char **argv)
{
    const int status = command_parse(&command, (void *const[]){&options}, argc, argv);
    if (status >= 0)
        return status;
    directory = argv[optind];
    write_metadata();
    for (uint32_t cpu = 0; cpu < options.cpus; cpu++)
        write_stream(cpu, options.events / options.cpus);
    return 0;
}
