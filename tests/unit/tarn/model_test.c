/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/model_test.c - tarn's model and names, by hand-made events: calls of observers, as
 * text. Prints TAP.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tests/tap.h>
#include <tests/unit/scratch.h>
#include <tests/unit/tarn/synthetic.h>
#include <tools/tarn/model/model.h>

/* One processor, as the stages before would show it. */
struct feed {
    struct stream stream;
    struct cursor cursor;
    uint8_t bytes[256];
};

static struct trace trace;
static struct model model;

static void put_integer(uint8_t *bytes, const struct field *field, uint64_t value)
{
    bool is_big = trace.schema.big_endian;

    for (unsigned i = 0; i < field->width; i++)
        bytes[field->offset + (is_big ? field->width - 1 - i : i)] = (uint8_t)(value >> 8 * i);
}

static void set_field(struct feed *feed, const char *name, va_list *values)
{
    const struct field *field = schema_find_field(feed->cursor.event.type, name);

    if (field == NULL) {
        printf("# %s has no field %s\n", feed->cursor.event.type->name, name);
        abort();
    }
    if (field->kind == FIELD_TEXT || field->kind == FIELD_STRING)
        strcpy((char *)feed->bytes + field->offset, va_arg(*values, const char *));
    else
        put_integer(feed->bytes, field, va_arg(*values, uint64_t));
}

static void start_event(struct feed *feed, const char *name, uint64_t ticks)
{
    memset(feed->bytes, 0, sizeof(feed->bytes));
    feed->cursor.trace = &trace;
    feed->cursor.stream = &feed->stream;
    feed->cursor.rank = feed->stream.rank;
    feed->cursor.event.type = schema_find_event(&trace.schema, name);
    feed->cursor.event.bytes = feed->bytes;
    feed->cursor.event.words = sizeof(feed->bytes) / 8;
    feed->cursor.ticks = ticks;
}

#define END ((const char *)NULL)

/* Names of fields, each with its value: a text, or a number of 64 bits; then END. Returns who ran. */
static struct model_thread *happens(struct feed *feed, uint64_t ticks, const char *name, ...)
{
    va_list values;
    const char *field;

    start_event(feed, name, ticks);
    va_start(values, name);
    while ((field = va_arg(values, const char *)) != NULL)
        set_field(feed, field, &values);
    va_end(values);
    return model_apply(&model, &feed->cursor);
}

static struct model_thread *begin_packet(struct feed *feed, uint64_t begin, uint64_t end, uint64_t tid,
                                         uint64_t pid, const char *name)
{
    feed->cursor.packet.header.timestamp_begin = begin;
    feed->cursor.packet.header.timestamp_end = end;
    feed->cursor.running = (struct running){
        .tid = (uint32_t)tid, .pid = (uint32_t)pid, .is_known = true, .is_booting = name[0] == '\0'};
    strcpy(feed->cursor.running.comm, name);
    return happens(feed, begin, "trace_context", "tid", tid, "pid", pid, "name", name, END);
}

/* Who runs goes, and becomes STATE. Returns who ran before. */
static struct model_thread *goes(struct feed *feed, uint64_t ticks, enum model_state state, uint64_t tid,
                                 uint64_t pid, const char *name)
{
    struct running *running = &feed->cursor.running;
    struct model_thread *before =
        happens(feed, ticks, "sched_switch", "prev_tid", (uint64_t)running->tid, "prev_pid",
                (uint64_t)running->pid, "prev_comm", running->comm, "prev_state", (uint64_t)state << 11,
                "next_tid", tid, "next_pid", pid, "next_comm", name, END);

    running_set(running, &trace.schema, (struct teller){feed->cursor.event.type, feed->bytes});
    return before;
}

static struct model_thread *switch_to(struct feed *feed, uint64_t ticks, uint64_t tid, uint64_t pid,
                                      const char *name)
{
    return goes(feed, ticks, MODEL_READY, tid, pid, name);
}

static struct model_thread *say_something(struct feed *feed, uint64_t ticks)
{
    return happens(feed, ticks, "user_text", "text", "something", END);
}

static void exec(struct feed *feed, uint64_t ticks, uint64_t pid, const char *path)
{
    happens(feed, ticks, "process_exec", "pid", pid, "filename", path, END);
}

static bool is_called(uint32_t pid, const char *name)
{
    return names_find(&model.names, pid) != NULL && strcmp(names_find(&model.names, pid), name) == 0;
}

static void test_model(void)
{
    static struct feed one = {.stream.rank = 0}, two = {.stream.rank = 1};
    struct model_thread *alpha, *beta, *gamma;

    model_open(&model, &trace, 100, 1000);
    begin_packet(&one, 50, 800, 0, 0, "idle/0");
    begin_packet(&two, 100, 2000, 0, 0, "");
    check(switch_to(&one, 200, 1, 10, "alpha")->is_idle, "a switch is logged by the thread that stops");
    alpha = say_something(&one, 210);
    check(alpha->tid == 1 && strcmp(model_thread_name(&model, alpha), "alpha") == 0,
          "the thread switched to runs");
    check(is_called(10, "alpha") && is_called(0, "kernel"),
          "a process has the name of its thread; 0 is the kernel");
    exec(&one, 220, 10, "/bin/first");
    check(is_called(10, "first"), "loading a program renames the process");
    check(switch_to(&one, 500, 2, 11, "beta") == alpha, "the next program renames it again");
    beta = say_something(&one, 510);
    switch_to(&two, 600, 1, 10, "alpha");
    gamma = begin_packet(&one, 900, 1000, 3, 12, "gamma"); /* 800 to 900: who knows */
    say_something(&one, 950);
    say_something(&two, 960);
    model_finish(&model);
    check(alpha->ran == 300 + 400 && alpha->switches == 2 && alpha->migrations == 1,
          "time on two processors adds up; a migration is counted");
    check(beta->ran == 300 && beta->migrations == 0,
          "a thread whose end is lost runs up to the packet's end");
    check(gamma->ran == 100 && gamma->switches == 0, "the next packet names the running thread");
    check(model.cpus[0].idle == 100 && model.cpus[0].busy == 700 && model.cpus[0].lost == 100,
          "a CPU's time is busy, idle or lost; it has none before the start");
    check(model.cpus[1].boot == 500 && model.cpus[1].busy == 900 && model.cpus[1].lost == 0,
          "idle threads are distinguished by CPU");
    model_close(&model);
}

/* STATE: 1 goes to sleep, UINT32_MAX is awake. */
static void idles(struct feed *feed, uint64_t ticks, uint64_t state)
{
    happens(feed, ticks, "power_cpu_idle", "state", state, "cpu_id", (uint64_t)feed->stream.rank, END);
}

static void test_sleep(void)
{
    static struct feed one = {.stream.rank = 0}, two = {.stream.rank = 1};

    model_open(&model, &trace, 0, 1000);
    begin_packet(&one, 0, 1000, 0, 0, "");
    begin_packet(&two, 0, 1000, 0, 0, "idle/1");
    idles(&two, 40, 1);
    idles(&one, 100, 1);
    happens(&one, 150, "irq_ipi_entry", "kind", 0ul, END);
    happens(&one, 160, "irq_ipi_exit", "kind", 0ul, END);
    idles(&one, 170, UINT32_MAX);
    switch_to(&one, 200, 1, 10, "alpha");
    switch_to(&one, 300, 0, 0, "idle/0");
    idles(&one, 350, 1);
    idles(&one, 400, UINT32_MAX);
    idles(&one, 450, 1);
    model_finish(&model);
    check(model.cpus[0].boot == 100, "a processor boots until it sleeps or runs a thread");
    check(model.cpus[0].idle == 50 + 10 + 50 + 550 && model.cpus[0].busy == 340,
          "it is idle while it sleeps; interrupts and other work of its idle thread are busy");
    check(model.cpus[1].boot == 0 && model.cpus[1].idle == 960 && model.cpus[1].busy == 40,
          "a CPU that goes to sleep was awake before");
    model_close(&model);
}

/* A trace without class sched, and one of a processor whose packets were lost while others log sleep. */
static void test_guessed_sleep(void)
{
    static struct feed one = {.stream.rank = 0}, two = {.stream.rank = 1};

    model_open(&model, &trace, 0, 1000);
    begin_packet(&one, 0, 500, 0, 0, "idle/0");
    happens(&one, 150, "irq_ipi_entry", "kind", 0ul, END);
    happens(&one, 160, "irq_ipi_exit", "kind", 0ul, END);
    model_finish(&model);
    check(model.cpus[0].idle == 490 && model.cpus[0].busy == 10,
          "without sleep events, the CPU of an idle thread sleeps except for interrupts");
    model_close(&model);
    model_open(&model, &trace, 0, 1000);
    begin_packet(&one, 0, 1000, 0, 0, "idle/0");
    idles(&one, 10, 1);
    begin_packet(&two, 100, 300, 0, 0, "idle/1");
    switch_to(&two, 250, 1, 10, "alpha");
    switch_to(&two, 270, 0, 0, "idle/1");
    two.cursor.has_gap = true;
    begin_packet(&two, 500, 1000, 0, 0, "idle/1");
    two.cursor.has_gap = false;
    idles(&two, 600, UINT32_MAX);
    switch_to(&two, 650, 1, 10, "alpha");
    model_finish(&model);
    check(model.cpus[1].busy == 200 + 50 + 350 && model.cpus[1].idle == 100 && model.cpus[1].lost == 200,
          "with sleep events of other CPUs, it sleeps only if it wakes later");
    model_close(&model);
}

static void test_bounds(void)
{
    static struct feed feed;
    const struct model_thread *last;

    model_open(&model, &trace, 0, UINT64_MAX);
    begin_packet(&feed, 0, UINT64_MAX, 1, 1, "first");
    for (uint32_t tid = 2; tid < MODEL_THREADS_MAX + 1000; tid++)
        switch_to(&feed, tid, tid, tid, "many");
    last = say_something(&feed, MODEL_THREADS_MAX + 1000);
    check(last->tid == MODEL_NOBODY && model.thread_count == MODEL_THREADS_MAX + 1,
          "the number of threads is limited");
    switch_to(&feed, MODEL_THREADS_MAX + 1001, 77, 77, "many");
    check(say_something(&feed, MODEL_THREADS_MAX + 1002)->tid == 77, "earlier threads are still known");
    model_close(&model);
}

/* ---- calls of observers, as text ---- */

struct story {
    struct model_observer observer;
    uint32_t tid; /* segments of this thread only */
    char text[2000];
};

static void add_story(struct story *story, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_story(struct story *story, const char *format, ...)
{
    size_t used = strlen(story->text);
    va_list values;

    va_start(values, format);
    vsnprintf(story->text + used, sizeof(story->text) - used, format, values);
    va_end(values);
}

/* "running syscall 100-110; " */
static void tell_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                         uint64_t to)
{
    struct story *story = (struct story *)(void *)self;

    if (thread->tid != story->tid || thread->is_idle)
        return;
    add_story(story, "%s", model_state_names[thread->state]);
    for (uint32_t i = 0; i < thread->depth; i++)
        add_story(story, " %s", model_activity_names[thread->frames[i].kind]);
    if (thread->serving != NULL)
        add_story(story, " serving");
    add_story(story, " %" PRIu64 "-%" PRIu64 "; ", from, to);
}

/* "(syscall 100-150 ran 30 inner 10 irq 5) " */
static void tell_leave_frame(struct model_observer *self, const struct model_thread *thread,
                             const struct model_frame *frame, uint64_t end)
{
    struct story *story = (struct story *)(void *)self;

    if (thread->tid == story->tid && !thread->is_idle)
        add_story(story,
                  "(%s %u %" PRIu64 "-%" PRIu64 " ran %" PRIu64 " inner %" PRIu64 " irq %" PRIu64 "%s) ",
                  model_activity_names[frame->kind], frame->detail, frame->begin, end, frame->ran,
                  frame->inner, frame->interrupts, frame->is_cut ? " cut" : "");
}

static void tell_wakeup(struct model_observer *self, const struct model_thread *by,
                        const struct model_thread *thread, uint64_t ticks, bool is_direct)
{
    struct story *story = (struct story *)(void *)self;

    if (thread->tid == story->tid)
        add_story(story, "[%s by %s %" PRIu64 "] ", is_direct ? "handed" : "woken",
                  by != NULL ? by->comm : "nobody", ticks);
}

static void tell_call(struct model_observer *self, const struct model_call *call, uint64_t ticks,
                      bool has_ended)
{
    struct story *story = (struct story *)(void *)self;

    (void)ticks;
    if (call->client->tid == story->tid && has_ended)
        add_story(story,
                  "{%" PRIu64 " to %s: %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " parked %" PRIu64 "} ",
                  call->label, call->server != NULL ? call->server->comm : "nobody", call->called,
                  call->received, call->replied, call->returned, call->parked);
}

static struct story story;
static struct feed one, two;

/* A model of two processors that idle from 0 on. */
static void begin_story(uint32_t tid)
{
    memset(&story, 0, sizeof(story));
    story.tid = tid;
    story.observer = (struct model_observer){
        .segment = tell_segment, .leave = tell_leave_frame, .wakeup = tell_wakeup, .call = tell_call};
    memset(&one, 0, sizeof(one));
    memset(&two, 0, sizeof(two));
    two.stream.rank = 1;
    model_open(&model, &trace, 0, UINT64_MAX);
    model_observe(&model, &story.observer);
    begin_packet(&one, 0, 1000, 0, 0, "idle/0");
    begin_packet(&two, 0, 1000, 0, 0, "idle/1");
}

static void end_story(const char *expected, const char *what)
{
    check(strcmp(story.text, expected) == 0, "%s", what);
    if (strcmp(story.text, expected) != 0)
        printf("# got: %s\n# not: %s\n", story.text, expected);
    model_close(&model);
}

static void syscall_entry(struct feed *feed, uint64_t ticks, uint64_t number, uint64_t tid)
{
    happens(feed, ticks, "syscall_entry", "number", number, "tid", tid, END);
}

static void syscall_exit(struct feed *feed, uint64_t ticks, uint64_t number, uint64_t tid)
{
    happens(feed, ticks, "syscall_exit", "number", number, "tid", tid, END);
}

static void make_thread(struct feed *feed, uint64_t ticks, uint64_t tid, const char *name)
{
    happens(feed, ticks, "sched_process_fork", "child_tid", tid, "child_pid", tid, "child_comm", name, END);
}

static void receives(struct feed *feed, uint64_t ticks, uint64_t id, uint64_t client)
{
    happens(feed, ticks, "ipc_receive", "call_id", id, "label", (uint64_t)7, "client_tid", client, END);
}

static void replies(struct feed *feed, uint64_t ticks, uint64_t id, uint64_t client)
{
    happens(feed, ticks, "ipc_reply", "call_id", id, "client_tid", client, END);
}

/* A server (2) waits in receive; a client (1) calls it. SERVER: the processor that the server will be on. */
static void begin_call(void)
{
    make_thread(&one, 10, 1, "client");
    make_thread(&one, 10, 2, "server");
    switch_to(&one, 20, 2, 2, "server");
    syscall_entry(&one, 30, 5, 2);
    goes(&one, 40, MODEL_BLOCKED_RECEIVE, 1, 1, "client");
    syscall_entry(&one, 50, 6, 1);
    happens(&one, 60, "ipc_call", "call_id", (uint64_t)99, "label", (uint64_t)7, "endpoint", (uint64_t)3,
            "server_tid", (uint64_t)2, END);
    receives(&one, 60, 99, 1); /* while the client still runs */
    goes(&one, 70, MODEL_BLOCKED_REPLY, 2, 2, "server");
    syscall_exit(&one, 75, 5, 2);
}

static void end_call(void)
{
    replies(&one, 90, 99, 1);
    goes(&one, 95, MODEL_BLOCKED_RECEIVE, 1, 1, "client");
    happens(&one, 97, "ipc_return", "call_id", (uint64_t)99, END);
    syscall_exit(&one, 98, 6, 1);
    goes(&one, 120, MODEL_DEAD, 0, 0, "idle/0");
    happens(&one, 125, "sched_process_exit", "tid", (uint64_t)1, "pid", (uint64_t)1, END);
}

static void test_calls(void)
{
    begin_story(1);
    begin_call();
    end_call();
    model_finish(&model);
    end_story("[handed by server 40] suspended 10-40; running 40-50; running syscall 50-60; running "
              "syscall 60-70; blocked_reply syscall 70-90; [handed by server 95] blocked_reply syscall "
              "90-95; running syscall 95-97; {7 to server: 60 60 90 97 parked 0} running syscall 97-98; "
              "(syscall 6 50-98 ran 23 inner 0 irq 0) running 98-120; ",
              "a call whose receive is logged while the client runs, and whose switches hand over");
    begin_story(2);
    begin_call();
    end_call();
    model_finish(&model);
    end_story("[handed by nobody 20] suspended 10-20; running 20-30; running syscall 30-40; "
              "blocked_ipc_receive syscall 40-60; [handed by client 70] blocked_ipc_receive syscall "
              "serving 60-70; running syscall serving 70-75; (syscall 5 30-75 ran 15 inner 0 irq 0) "
              "running serving 75-90; running 90-95; blocked_ipc_receive 95-1000; ",
              "its server serves from the receive to the reply");
    begin_story(1);
    begin_call();
    goes(&one, 80, MODEL_BLOCKED_RECEIVE, 0, 0, "idle/0"); /* it saved the reply */
    replies(&one, 85, 99, 1);
    happens(&one, 86, "sched_wakeup", "comm", "client", "tid", (uint64_t)1, END);
    model_finish(&model);
    end_story("[handed by server 40] suspended 10-40; running 40-50; running syscall 50-60; running "
              "syscall 60-70; blocked_reply syscall 70-80; blocked_reply syscall 80-85; [woken by nobody "
              "86] blocked_reply syscall 85-86; ready syscall 86-1000; (syscall 6 50-1000 ran 20 inner 0 "
              "irq 0 cut) ",
              "a server that receives again has parked the call");
}

/* A server (2) waits for a message since its reply at 40; a client (1) calls it. */
static void begin_implied(void)
{
    make_thread(&one, 10, 1, "client");
    make_thread(&one, 10, 2, "server");
    switch_to(&one, 20, 2, 2, "server");
    happens(&one, 40, "ipc_reply", "call_id", (uint64_t)98, "client_tid", (uint64_t)1, "is_entry",
            (uint64_t)1, END);
    goes(&one, 45, MODEL_BLOCKED_RECEIVE, 1, 1, "client");
    happens(&one, 60, "ipc_call", "call_id", (uint64_t)99, "label", (uint64_t)7, "endpoint", (uint64_t)3,
            "server_tid", (uint64_t)2, "is_entry", (uint64_t)1, END);
    receives(&one, 60, 99, 1);
    goes(&one, 70, MODEL_BLOCKED_REPLY, 2, 2, "server");
}

/* System calls that messages stand for: 38 is ipc_call, 42 ipc_reply_receive. */
static void test_implied(void)
{
    begin_story(1);
    begin_implied();
    happens(&one, 90, "ipc_reply", "call_id", (uint64_t)99, "client_tid", (uint64_t)1, "is_entry",
            (uint64_t)1, END);
    goes(&one, 95, MODEL_BLOCKED_RECEIVE, 1, 1, "client");
    happens(&one, 97, "ipc_return", "call_id", (uint64_t)99, "error", (uint64_t)-5, END);
    syscall_entry(&one, 100, 6, 1);
    happens(&one, 105, "ipc_call", "call_id", (uint64_t)100, END); /* the general path */
    happens(&one, 110, "ipc_return", "call_id", (uint64_t)100, END);
    syscall_exit(&one, 115, 6, 1);
    end_story("[handed by server 45] suspended 10-45; running 45-60; running syscall 60-70; blocked_reply "
              "syscall 70-90; [handed by server 95] blocked_reply syscall 90-95; running syscall 95-97; {7 "
              "to server: 60 60 90 97 parked 0} (syscall 38 60-97 ran 12 inner 0 irq 0) running 97-100; "
              "running syscall 100-105; running syscall 105-110; {0 to nobody: 105 0 0 110 parked 0} "
              "running syscall 110-115; (syscall 6 100-115 ran 15 inner 0 irq 0) ",
              "a call that stands for the client's system call");
    begin_story(2);
    begin_implied();
    end_story("[handed by nobody 20] suspended 10-20; running 20-40; running syscall 40-45; "
              "blocked_ipc_receive syscall 45-60; [handed by client 70] blocked_ipc_receive syscall serving "
              "60-70; (syscall 42 40-70 ran 5 inner 0 irq 0) ",
              "a reply that stands for the server's system call, until it runs again");
    begin_story(1);
    begin_implied();
    happens(&one, 80, "trace_control", "old_mask", (uint64_t)14, "mask", (uint64_t)10, END);
    goes(&one, 95, MODEL_BLOCKED_RECEIVE, 1, 1, "client");
    end_story("[handed by server 45] suspended 10-45; running 45-60; running syscall 60-70; blocked_reply "
              "syscall 70-80; (syscall 38 60-80 ran 10 inner 0 irq 0 cut) {7 to server: 60 60 0 0 parked "
              "80} [handed by server 95] blocked_reply 80-95; ",
              "without class ipc nothing will tell its end");
}

static void test_activities(void)
{
    begin_story(1);
    make_thread(&one, 10, 1, "one");
    switch_to(&one, 20, 1, 1, "one");
    happens(&one, 30, "libc_entry", "call", (uint64_t)3, "tid", (uint64_t)1, END);
    syscall_entry(&one, 40, 6, 1);
    happens(&one, 50, "irq_handler_entry", "irq", (uint64_t)9, END);
    happens(&one, 55, "irq_handler_exit", "irq", (uint64_t)9, END);
    syscall_exit(&one, 70, 6, 1);
    happens(&one, 80, "libc_exit", "call", (uint64_t)3, "tid", (uint64_t)1, END);
    end_story("[handed by nobody 20] suspended 10-20; running 20-30; running libc 30-40; running libc "
              "syscall 40-50; running libc syscall irq 50-55; (irq 9 50-55 ran 5 inner 0 irq 0) running "
              "libc syscall 55-70; (syscall 6 40-70 ran 30 inner 5 irq 5) running libc 70-80; (libc 3 "
              "30-80 ran 50 inner 30 irq 5) ",
              "activities nest; each knows what ran inside it");
    begin_story(1);
    make_thread(&one, 10, 1, "one");
    switch_to(&one, 20, 1, 1, "one");
    happens(&one, 30, "fault_entry", "address", (uint64_t)0x1000, "tid", (uint64_t)1, END);
    goes(&one, 40, MODEL_BLOCKED_FAULT, 2, 2, "pager");
    happens(&one, 60, "fault_exit", "address", (uint64_t)0x1000, "kind", (uint64_t)3, "tid", (uint64_t)1,
            END);
    goes(&one, 70, MODEL_BLOCKED_RECEIVE, 1, 1, "one");
    syscall_exit(&one, 80, 4, 1); /* of an entry that was never seen */
    syscall_entry(&one, 90, 5, 1);
    syscall_entry(&one, 95, 6, 1); /* the exit between them was lost */
    end_story("[handed by nobody 20] suspended 10-20; running 20-30; running fault 30-40; blocked_fault "
              "fault 40-60; (fault 3 30-60 ran 10 inner 0 irq 0) [handed by pager 70] blocked_fault "
              "60-70; running 70-80; (syscall 4 80-80 ran 0 inner 0 irq 0 cut) running 80-90; running "
              "syscall 90-95; (syscall 5 90-95 ran 5 inner 0 irq 0 cut) ",
              "a pager ends another's fault; ends without begins, and begins without ends");
    begin_story(1);
    make_thread(&one, 10, 1, "one");
    switch_to(&one, 20, 1, 1, "one");
    happens(&one, 30, "libc_entry", "call", (uint64_t)21, "tid", (uint64_t)1, END);
    syscall_entry(&one, 40, 6, 1);
    happens(&one, 45, "trace_control", "old_mask", UINT64_MAX, "mask", UINT64_MAX & ~8ull, END);
    goes(&one, 50, MODEL_DEAD, 0, 0, "idle/0");
    model_finish(&model);
    end_story("[handed by nobody 20] suspended 10-20; running 20-30; running libc 30-40; running libc "
              "syscall 40-45; (syscall 6 40-45 ran 5 inner 0 irq 0 cut) running libc 45-50; (libc 21 "
              "30-50 ran 20 inner 5 irq 0 cut) ",
              "a class that is switched off ends its activities; so does death");
    for (unsigned mask = 0; mask < 2; mask++) {
        begin_story(1);
        make_thread(&one, 10, 1, "one");
        switch_to(&one, 20, 1, 1, "one");
        if (mask)
            happens(&one, 30, "trace_control", "old_mask", (uint64_t)3, "mask", (uint64_t)1, END);
        else
            happens(&one, 30, "trace_switches", "class_number", (uint64_t)1, "old_events", (uint64_t)6,
                    "events", (uint64_t)4, END);
        goes(&one, 50, MODEL_BLOCKED_RECEIVE, 2, 2, "two");
        end_story("[handed by nobody 20] suspended 10-20; running 20-30; unknown 30-50; ",
                  "without switches nobody knows which thread runs");
    }
}

static void ignore_switch(struct model_observer *self, uint32_t cpu, const struct model_thread *prev,
                          enum model_state state, const struct model_thread *next, uint64_t ticks)
{
    (void)self, (void)cpu, (void)prev, (void)state, (void)next, (void)ticks;
}

/* Two observers: one follows activities, and one does not. */
static void test_detail(void)
{
    struct model_observer other = {.switched = ignore_switch, .only_scheduling = true};

    for (int more = 0; more < 2; more++) {
        begin_story(1);
        story.observer.only_scheduling = true;
        other.only_scheduling = more == 0;
        model_observe(&model, &other);
        make_thread(&one, 10, 1, "one");
        switch_to(&one, 20, 1, 1, "one");
        syscall_entry(&one, 30, 5, 1);
        goes(&one, 40, MODEL_BLOCKED_FUTEX, 0, 0, "idle/0");
        end_story(more == 0 ? "[handed by nobody 20] suspended 10-20; running 20-40; "
                            : "[handed by nobody 20] suspended 10-20; running 20-30; running syscall 30-40; ",
                  more == 0 ? "activities are not followed without an observer that needs them"
                            : "but with one");
    }
}

static void test_wakeups(void)
{
    begin_story(1);
    make_thread(&one, 10, 1, "one");
    switch_to(&one, 20, 1, 1, "one");
    switch_to(&two, 25, 2, 2, "waker");
    happens(&two, 30, "sched_wakeup", "comm", "one", "tid", (uint64_t)1,
            END); /* before the switch is logged */
    goes(&one, 40, MODEL_BLOCKED_FUTEX, 0, 0, "idle/0");
    switch_to(&one, 50, 1, 1, "one");
    goes(&one, 60, MODEL_SLEEPING, 0, 0, "idle/0");
    happens(&two, 70, "timer_expire", "tid", (uint64_t)1, END);
    happens(&two, 71, "sched_wakeup", "comm", "one", "tid", (uint64_t)1, END);
    switch_to(&one, 80, 1, 1, "one");
    end_story("[handed by nobody 20] suspended 10-20; [woken by waker 30] running 20-40; ready 40-50; "
              "running 50-60; [woken by nobody 71] sleeping 60-71; ready 71-80; ",
              "who is woken on the way to wait is ready; a time-out is nobody's wake-up");
}

static void test_losses(void)
{
    begin_story(1);
    make_thread(&one, 10, 1, "one");
    switch_to(&one, 20, 1, 1, "one");
    syscall_entry(&one, 30, 6, 1);
    goes(&one, 40, MODEL_BLOCKED_FUTEX, 0, 0, "idle/0");
    switch_to(&two, 50, 2, 2, "two");
    two.cursor.has_gap = true; /* but who ran before and after is the same */
    two.cursor.packet.header.timestamp_end = 1000;
    model.cpus[1].packet_end = 100;
    begin_packet(&two, 200, 1000, 2, 2, "two");
    happens(&one, 300, "sched_wakeup", "comm", "one", "tid", (uint64_t)1, END);
    check(model.cpus[1].lost == 100 && model_find_thread(&model, 2)->ran == 50,
          "lost time belongs to no thread");
    end_story("[handed by nobody 20] suspended 10-20; running 20-30; running syscall 30-40; "
              "blocked_futex syscall 40-100; (syscall 6 30-100 ran 10 inner 0 irq 0 cut) [woken by "
              "nobody 300] unknown 100-300; ",
              "who may have run while events were lost is unknown until an event tells");
    begin_story(1);
    make_thread(&one, 10, 1, "one");
    switch_to(&one, 20, 1, 1, "one");
    happens(&one, 30, "user_text", "text", "last seen", END);
    one.cursor.running.tid = 5; /* a switch was lost */
    goes(&one, 100, MODEL_BLOCKED_FUTEX, 1, 1, "one");
    switch_to(&two, 150, 1, 1, "one"); /* and so was one on the first processor */
    happens(&two, 160, "user_text", "text", "", END);
    model_finish(&model);
    check(model.cpus[0].lost == 70 + 850, "a CPU whose thread runs elsewhere has lost a switch");
    end_story("[handed by nobody 20] suspended 10-20; running 20-30; unknown 30-100; running 100-150; "
              "running 150-1000; ",
              "a switch from another thread than the one that ran");
}

static void test_deaths(void)
{
    begin_story(1);
    make_thread(&one, 10, 1, "one");
    switch_to(&one, 20, 1, 1, "one");
    two.cursor.has_gap = true;
    model.cpus[1].packet_end = 30;
    begin_packet(&two, 40, 1000, 0, 0, "idle/1");
    goes(&one, 50, MODEL_BLOCKED_FUTEX, 0, 0, "idle/0");
    begin_packet(&two, 60, 1000, 0, 0, "idle/1");
    happens(&two, 70, "process_exit", "pid", (uint64_t)1, END);
    check(model_find_thread(&model, 1) == NULL && model_process(&model, 1)->end == 70,
          "the threads end with their process");
    model_finish(&model);
    end_story("[handed by nobody 20] suspended 10-20; running 20-50; blocked_futex 50-60; unknown 60-70; ",
              "a thread whose death was lost");
    begin_story(1);
    make_thread(&one, 10, 1, "one");
    switch_to(&one, 20, 1, 1, "one");
    happens(&one, 30, "exception_entry", "vector", (uint64_t)3, "tid", (uint64_t)1, END);
    happens(&one, 35, "ipc_call", "call_id", (uint64_t)5, "server_tid", (uint64_t)2, END);
    goes(&one, 40, MODEL_BLOCKED_FAULT, 2, 2, "handler");
    happens(&one, 50, "exception_exit", "vector", (uint64_t)3, "action", (uint64_t)1, END);
    replies(&one, 51, 5, 1);
    model_finish(&model);
    end_story("[handed by nobody 20] suspended 10-20; running 20-30; running exception 30-35; running "
              "exception 35-40; blocked_fault exception 40-51; (exception 3 30-51 ran 10 inner 0 irq 0) "
              "blocked_fault 51-1000; ",
              "a handler ends the exception of the thread that it replies to");
}

static void test_state(void)
{
    const struct model_process *process;
    const struct executable *executable;

    begin_story(1);
    happens(&one, 50, "lttng_statedump_process_state", "tid", (uint64_t)1, "pid", (uint64_t)4, "state",
            (uint64_t)6 << 11, "cpu", (uint64_t)1, "name", "one", END);
    happens(&one, 55, "state_process", "pid", (uint64_t)4, "parent_pid", (uint64_t)1, END);
    happens(&one, 60, "process_create", "pid", (uint64_t)9, "parent_pid", (uint64_t)4, END);
    happens(&one, 61, "process_exec", "pid", (uint64_t)9, "filename", "/bin/nine", END);
    happens(&one, 62, "state_image", "pid", (uint64_t)9, "base", (uint64_t)0x400000, "size", (uint64_t)0x1000,
            "build_id_high", 0x0102030405060708u, "build_id_low", (uint64_t)0x09, "filename", "/bin/nine",
            END);
    happens(&one, 63, "state_image", "pid", (uint64_t)0, "base", 0xffff800000000000u, "size",
            (uint64_t)0x1000, "filename", "kernel", END);
    happens(&one, 70, "process_exit", "pid", (uint64_t)9, "status", (uint64_t)(uint32_t)-2, END);
    process = model_process(&model, 9);
    check(process != NULL && process->parent == 4 && process->was_created && process->begin == 60 &&
              process->end == 70 && process->has_ended && process->status == -2 &&
              strcmp(process->path, "/bin/nine") == 0 && model_process(&model, 4)->parent == 1 &&
              model_process(&model, 8) == NULL,
          "processes: parents, programs, life times");
    executable = executables_find(&model.executables, 9, 0x400fff);
    check(executable != NULL && strcmp(executable->path, "/bin/nine") == 0 && executable->build_id[0] == 1 &&
              executable->build_id[7] == 8 && executable->build_id[15] == 9 &&
              executables_find(&model.executables, 9, 0x401000) == NULL &&
              strcmp(executables_find(&model.executables, 9, 0xffff800000000010u)->path, "kernel") == 0,
          "executables: by address, and the kernel's in every process");
    model_finish(&model);
    end_story("blocked_futex 50-1000; ", "a statedump tells the state of a thread");
}

static void test_byte_order(const char *order, const char *directory)
{
    struct synthetic_options options = SYNTHETIC_DEFAULTS;
    struct fail fail = {""};

    options.order = order;
    options.directory = directory;
    options.events = 1000;
    options.cpus = 2;
    check(synthetic_write(&options, NULL, &fail) && trace_open(&trace, directory, &fail),
          "the synthetic trace can be read");
    if (tests_failed != 0) {
        printf("# %s\n", fail.text);
        return;
    }
    test_model();
    test_sleep();
    test_guessed_sleep();
    test_bounds();
    test_calls();
    test_implied();
    test_activities();
    test_detail();
    test_wakeups();
    test_losses();
    test_deaths();
    test_state();
    trace_close(&trace);
}

int main(void)
{
    char directory[64];

    make_scratch();
    snprintf(directory, sizeof(directory), "%s/le", scratch);
    test_byte_order("le", directory);
    snprintf(directory, sizeof(directory), "%s/be", scratch);
    test_byte_order("be", directory);
    return finish_tests();
}
