/*
 * tests/unit/tarn/workload.c - what threads do that work, as events of a synthetic trace; see
 * synthetic.h.
 *
 * On each processor six clients call a server: a POSIX call, in it a system call, in it IPC; the server's
 * side of it has a page fault now and then. Clients fault, make system calls, wait and are woken, use up
 * their time; interrupts come in between; at times one ends and another is born. Every begin has its end, and
 * who runs is who should.
 */
#include <stdlib.h>
#include <tests/unit/tarn/synthetic.h>

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

/* ---- events -------------------------------------------------------------------------------------- */

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

/* ---- what happens -------------------------------------------------------------------------------- */

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

/* ---- the schema's numbers ------------------------------------------------------------------------ */

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

void write_workload(struct writer *writer, uint64_t events)
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
