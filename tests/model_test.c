/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/model_test.c - tarn's model (who ran where, and how long), names and tables, by hand-made events.
 * Prints TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tests/tap.h>
#include <tools/tarn/model/model.h>
#include <tools/tarn/table.h>

static const char metadata[] =
    "/* CTF 1.8 */ typealias integer { size = 8; align = 8; } := uint8_t;\n"
    "typealias integer { size = 32; align = 32; } := uint32_t;\n"
    "typealias integer { size = 64; align = 64; } := uint64_t;\n"
    "typealias integer { size = 8; align = 8; encoding = UTF8; } := text8_t;\n"
    "trace { major = 1; minor = 8; uuid = \"00112233-4455-6677-8899-aabbccddeeff\"; byte_order = le;\n"
    "  packet.header := struct { uint32_t magic; uint32_t stream_id; uint8_t uuid[16]; }; };\n"
    "clock { name = monotonic; freq = 1000000000; };\n"
    "stream { id = 0; packet.context := struct { uint64_t timestamp_begin; uint64_t timestamp_end;\n"
    "  uint64_t content_size; uint64_t packet_size; uint64_t events_discarded; uint64_t packet_seq_num;\n"
    "  uint64_t committed; uint32_t cpu_id; uint32_t flags; };\n"
    "  event.header := struct { integer { size = 22; align = 32; } id;\n"
    "    integer { size = 32; align = 32; map = clock.monotonic.value; } timestamp; } align(64); };\n"
    "event { name = trace_context; id = 2; fields := struct { uint32_t pid; uint32_t tid; text8_t name[16]; "
    "}; };\n"
    "event { name = sched_switch; id = 65537; fields := struct { text8_t next_comm[16]; uint32_t next_tid;\n"
    "  uint32_t next_pid; uint32_t prev_pid; uint32_t prev_tid; text8_t prev_comm[16]; }; };\n"
    "event { name = process_exec; id = 720898; fields := struct { uint32_t pid; uint32_t more; string "
    "filename; }; };\n"
    "event { name = user_text; id = 1114113; fields := struct { string text; }; };\n";

/* One processor, as the stages before would show it. */
struct feed {
    struct stream stream;
    struct cursor cursor;
    uint8_t bytes[256];
};

static struct trace trace;
static struct model model;

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

static void set_number(struct feed *feed, const char *name, uint32_t value)
{
    memcpy(feed->bytes + schema_find_field(feed->cursor.event.type, name)->offset, &value, sizeof(value));
}

static void set_text(struct feed *feed, const char *name, const char *text)
{
    memcpy(feed->bytes + schema_find_field(feed->cursor.event.type, name)->offset, text, strlen(text));
}

static struct model_thread *begin_packet(struct feed *feed, uint64_t begin, uint64_t end, uint32_t tid,
                                         uint32_t pid, const char *name)
{
    start_event(feed, "trace_context", begin);
    feed->cursor.packet.header.timestamp_begin = begin;
    feed->cursor.packet.header.timestamp_end = end;
    set_number(feed, "tid", tid);
    set_number(feed, "pid", pid);
    set_text(feed, "name", name);
    cursor_track(&feed->cursor);
    return model_take(&model, &feed->cursor);
}

/* Returns who ran before. */
static struct model_thread *switch_to(struct feed *feed, uint64_t ticks, uint32_t tid, uint32_t pid,
                                      const char *name)
{
    struct model_thread *before;

    start_event(feed, "sched_switch", ticks);
    set_number(feed, "next_tid", tid);
    set_number(feed, "next_pid", pid);
    set_text(feed, "next_comm", name);
    before = model_take(&model, &feed->cursor);
    cursor_track(&feed->cursor);
    return before;
}

static struct model_thread *say_something(struct feed *feed, uint64_t ticks)
{
    start_event(feed, "user_text", ticks);
    return model_take(&model, &feed->cursor);
}

static void exec(struct feed *feed, uint64_t ticks, uint32_t pid, const char *path)
{
    start_event(feed, "process_exec", ticks);
    set_number(feed, "pid", pid);
    set_text(feed, "filename", path);
    model_take(&model, &feed->cursor);
}

static bool is_called(uint32_t pid, const char *name)
{
    return names_find(&model.names, pid) != NULL && strcmp(names_find(&model.names, pid), name) == 0;
}

static void test_model(void)
{
    static struct feed one = {.stream.rank = 0}, two = {.stream.rank = 1};
    struct model_thread *alpha, *beta, *gamma;

    model_open(&model, &trace, 100);
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
    model_finish(&model, 1000);
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

    model_open(&model, &trace, 0);
    begin_packet(&feed, 0, UINT64_MAX, 1, 1, "first");
    for (uint32_t tid = 2; tid < MODEL_THREADS_MAX + 1000; tid++)
        switch_to(&feed, tid, tid, tid, "many");
    last = say_something(&feed, MODEL_THREADS_MAX + 1000);
    tell(last->tid == MODEL_NOBODY && model.thread_count == MODEL_THREADS_MAX + 1, "threads are bounded");
    switch_to(&feed, MODEL_THREADS_MAX + 1001, 77, 77, "many");
    tell(say_something(&feed, MODEL_THREADS_MAX + 1002)->tid == 77, "those known before are still known");
    model_close(&model);
}

/* What FUNCTION prints of TABLE. */
static char *printed(void (*function)(const struct table *, uint64_t), const struct table *table,
                     uint64_t top)
{
    FILE *real = stdout;
    char *text = NULL;
    size_t size;

    stdout = open_memstream(&text, &size);
    function(table, top);
    fclose(stdout);
    stdout = real;
    return text;
}

static void expect(char *text, const char *expected, const char *what)
{
    tell(strcmp(text, expected) == 0, what);
    if (strcmp(text, expected) != 0)
        printf("# got: %s\n", text);
    free(text);
}

static void test_tables(void)
{
    static const struct table_column columns[] = {
        {"pid", "pid", -1, true}, {"events", "events", -1, false}, {"%", "percent", 1, false}};
    static const struct {
        const char *name;
        uint64_t pid, events;
    } rows[] = {{"sh", 9, 5}, {"cat", 4, 7}, {"sh", 3, 6}, {"a\"b,c\n", 8, 1}, {"ls", 5, 2}};
    struct table table = {
        .key = "process", .heading = "process", .others = "processes", .columns = columns, .column_count = 3};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct table_row *row = table_add(&table, rows[i].name);

        row->cells[0].count = rows[i].pid;
        row->cells[1].count = rows[i].events;
        row->cells[2].real = (double)rows[i].events / 2;
    }
    table_sort(&table, 1);
    expect(printed(table_print_csv, &table, UINT64_MAX),
           "process,pid,events,percent\ncat,4,7,3.5000\nsh,3,6,3.0000\nsh,9,5,2.5000\nls,5,2,1.0000\n"
           "a.b.c.,8,1,0.5000\n",
           "CSV; what a name must not hold becomes a dot");
    expect(printed(table_print_text, &table, 3),
           "\nprocess                           pid      events        %\n"
           "cat                                 4           7      3.5\n"
           "sh                                  3           6      3.0\n"
           "sh                                  9           5      2.5\n"
           "... and 2 more processes                        3      1.5\n",
           "text; the rest is summed up");
    table_sort(&table, -1);
    table_merge_names(&table);
    table_sort(&table, table_find_column(&table, "events"));
    expect(printed(table_print_json, &table, 1),
           "\"by_process\":[{\"name\":\"sh\",\"pid\":3,\"events\":11,\"percent\":5.5000}]",
           "rows of one name are merged; JSON");
    table_free(&table);
}

int main(void)
{
    struct fail fail = {""};

    tell(schema_build(&trace.schema, metadata, sizeof(metadata) - 1, &fail), "a schema is built");
    if (tests_failed != 0) {
        printf("# %s\n", fail.text);
        return finish_tests();
    }
    trace.stream_count = 2;
    test_model();
    test_bounds();
    test_tables();
    schema_free(&trace.schema);
    return finish_tests();
}
