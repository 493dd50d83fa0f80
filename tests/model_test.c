/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/model_test.c - tarn's model (who ran where, and how long) and names, by hand-made events.
 * Prints TAP.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tests/synthetic.h>
#include <tests/tap.h>
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
    return model_take(&model, &feed->cursor);
}

static struct model_thread *begin_packet(struct feed *feed, uint64_t begin, uint64_t end, uint64_t tid,
                                         uint64_t pid, const char *name)
{
    feed->cursor.packet.header.timestamp_begin = begin;
    feed->cursor.packet.header.timestamp_end = end;
    feed->cursor.running = (struct running){.tid = (uint32_t)tid, .pid = (uint32_t)pid, .is_known = true};
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
                (uint64_t)running->pid, "prev_comm", running->comm, "prev_state", (uint64_t)state, "next_tid",
                tid, "next_pid", pid, "next_comm", name, END);

    cursor_track(&feed->cursor);
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
    tell(switch_to(&one, 200, 1, 10, "alpha")->is_idle, "a switch is logged by who leaves");
    alpha = say_something(&one, 210);
    tell(alpha->tid == 1 && strcmp(model_thread_name(&model, alpha), "alpha") == 0,
         "who was switched to runs");
    tell(is_called(10, "alpha") && is_called(0, "kernel"),
         "a process is called like its thread; 0 is the kernel");
    exec(&one, 220, 10, "/bin/first");
    tell(is_called(10, "first"), "until a program is loaded into it");
    tell(switch_to(&one, 500, 2, 11, "beta") == alpha, "the next one");
    beta = say_something(&one, 510);
    switch_to(&two, 600, 1, 10, "alpha");
    gamma = begin_packet(&one, 900, 1000, 3, 12, "gamma"); /* 800 to 900: who knows */
    say_something(&one, 950);
    say_something(&two, 960);
    model_finish(&model);
    tell(alpha->ran == 300 + 400 && alpha->switches == 2 && alpha->migrations == 1,
         "time on two processors adds up; a migration is counted");
    tell(beta->ran == 300 && beta->migrations == 0,
         "a thread whose end is lost has the time up to the packet's end");
    tell(gamma->ran == 100 && gamma->switches == 0, "the next packet tells who runs");
    tell(model.cpus[0].idle == 100 && model.cpus[0].busy == 700 && model.cpus[0].lost == 100,
         "a processor's time is busy, idle or lost; none before the start");
    tell(model.cpus[1].idle == 500 && model.cpus[1].busy == 400 && model.cpus[1].lost == 0,
         "idle threads are told apart by processor");
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
    tell(last->tid == MODEL_NOBODY && model.thread_count == MODEL_THREADS_MAX + 1, "threads are bounded");
    switch_to(&feed, MODEL_THREADS_MAX + 1001, 77, 77, "many");
    tell(say_something(&feed, MODEL_THREADS_MAX + 1002)->tid == 77, "those known before are still known");
    model_close(&model);
}

static void test_byte_order(const char *order, const char *directory)
{
    struct synthetic_options options = SYNTHETIC_DEFAULTS;
    struct fail fail = {""};

    options.order = order;
    options.directory = directory;
    options.events = 1000;
    options.cpus = 2;
    tell(synthetic_write(&options, NULL, &fail) && trace_open(&trace, directory, &fail), "a trace is there");
    if (tests_failed != 0) {
        printf("# %s\n", fail.text);
        return;
    }
    test_model();
    test_bounds();
    trace_close(&trace);
}

int main(void)
{
    char root[] = "/tmp/model_test.XXXXXX", directory[64], command[64];

    if (mkdtemp(root) == NULL)
        return 1;
    snprintf(directory, sizeof(directory), "%s/le", root);
    test_byte_order("le", directory);
    snprintf(directory, sizeof(directory), "%s/be", root);
    test_byte_order("be", directory);
    snprintf(command, sizeof(command), "rm -rf %s", root);
    tell(system(command) == 0, "and cleaned up");
    return finish_tests();
}
