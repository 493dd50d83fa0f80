/*
 * tests/unit/trace/descriptor_test.c - tests descriptors of applications' events: what evgen --app writes is
 * accepted, and TSDL made of it is what babeltrace2 reads. Names and printed events: trace_command.cases.
 * Damaged descriptors are refused, or describe something else that babeltrace2 can read, and never lead out
 * of memory. Also merging CPUs by time, and events as lines.
 */
#define TRACE_DEFINE_SAMPLE
#include "ring_harness.h"
#include <app/sample.h>
#include <tests/unit/scratch.h>
#include <trace/events.h>
#include <trace/print/app_schema.h>
#include <trace/print/print.h>
#include <trace/print/words.h>
#include <trace/user.h>
#include <unistd.h>

enum { SAMPLE = 50, OTHER = 51, EVENTS = 3 };

static char directory[64], output[64];

/* Adds the events to a trace's metadata, as the kernel does. */
static void append_tsdl(const struct trace_descriptor *descriptor)
{
    static char text[128 << 10];
    char path[256];
    uint64_t length = trace_descriptor_tsdl(descriptor, SAMPLE, text, sizeof(text));
    if (length > sizeof(text))
        abort();
    snprintf(path, sizeof(path), "%s/metadata", directory);
    FILE *file = fopen(path, "a");
    fwrite(text, length, 1, file);
    fclose(file);
}

static bool output_holds(const char *part)
{
    static char text[65536];
    FILE *file = fopen(output, "r");
    size_t length = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = 0;
    return strstr(text, part);
}

static void log_samples(void)
{
    const uint64_t words[3] = {1, 2, 0xffffffffffffffff};
    trace_sample_numbers(255, -128, 0xbeef, -5, 1, 0xffffffffffffffff);
    trace_sample_named("fifteen letters", TRACE_SAMPLE_BLUE, "a text");
    trace_sample_named("one\0\0\0\0\0\0\0\0\0\0\0\0", 3, "");
    trace_sample_list(3, words);
}

static void test_registered(void)
{
    const struct trace_descriptor *descriptor = trace_schema_sample.descriptor;
    setup_rings(TRACE_BUFFER_BYTES_MIN, 4, TRACE_MODE_FLIGHT);
    log_samples();
    check(read_all(NULL, NULL, NULL).events == 0, "an unregistered class logs nothing");
    check(trace_descriptor_check(descriptor, descriptor->bytes), "the generator's descriptor is accepted");
    trace_class_sample = SAMPLE;
    log_samples();
    struct findings f = read_all(NULL, NULL, directory);
    append_tsdl(descriptor);
    check(f.events == 4 && count_by_babeltrace2(directory, output) == 4, "babeltrace2 reads its events");
    check(output_holds("sample_numbers: ") && output_holds("a = 255, b = -128, c = 0xBEEF, d = -5, e = 1") &&
              output_holds("who = \"fifteen letters\", color = ( \"blue\" : container = 200 )") &&
              output_holds("text = \"a text\"") && output_holds("[2] = 0xFFFFFFFFFFFFFFFF"),
          "babeltrace2 prints every value as logged");
}

static struct trace_app_schemas schemas;
static union {
    uint64_t words[1024];
    char bytes[8192];
} entries;
static uint64_t entries_size;

static void add_entry(const struct trace_descriptor *descriptor, uint32_t class_number)
{
    struct trace_app_entry *entry = (void *)(entries.bytes + entries_size);
    entry->class_number = class_number;
    entry->bytes = descriptor->bytes;
    memcpy(&entry->descriptor, descriptor, descriptor->bytes);
    entries_size += TRACE_APP_ENTRY_BYTES(descriptor->bytes);
}

static void load_all(void)
{
    static char tables[8192];
    static const struct {
        struct trace_descriptor head;
        struct trace_event_record event;
        char class_name[8], event_name[16];
    } bare = {{TRACE_DESCRIPTOR_MAGIC, sizeof(bare), 36, 36, 1}, {0, 44, 0, 0}, "samples", "samples_bare"};
    add_entry(trace_schema_sample.descriptor, SAMPLE);
    add_entry(&bare.head, OTHER);
    trace_load_app_schemas(&schemas, entries.bytes, entries_size, tables, sizeof(tables));
}

/* tests/host/sampling checks which events limits leave out. */
static void test_limits(void)
{
    const struct trace_event_info *numbers = trace_find_event(&schemas, TRACE_ID(SAMPLE, 1)),
                                  *named = trace_find_event(&schemas, TRACE_ID(SAMPLE, 2)),
                                  *list = trace_find_event(&schemas, TRACE_ID(SAMPLE, 63));
    check(numbers->limit_kind == TRACE_LIMIT_SAMPLED && numbers->limit == 0 && !numbers->above &&
              named->limit_kind == TRACE_LIMIT_NONE && list->limit_kind == TRACE_LIMIT_ABOVE &&
              list->limit == 1 && !strcmp(list->above, "count"),
          "which events can be limited is in the descriptor");
}

static bool is_accepted(uint32_t minor, uint32_t limit)
{
    const struct trace_descriptor *from = trace_schema_sample.descriptor;
    struct trace_descriptor *copy = malloc(from->bytes);
    memcpy(copy, from, from->bytes);
    ((struct trace_event_record *)trace_descriptor_find(copy, minor))->limit = limit;
    bool ok = trace_descriptor_check(copy, from->bytes);
    free(copy);
    return ok;
}

static void test_bad_limits(void)
{
    check(is_accepted(2, TRACE_LIMIT_SAMPLED) && is_accepted(2, TRACE_LIMIT_ABOVE + 1),
          "an event with another limit is accepted");
    check(!is_accepted(2, TRACE_LIMIT_ABOVE) && !is_accepted(2, TRACE_LIMIT_ABOVE + 3) &&
              !is_accepted(1, TRACE_LIMIT_ABOVE + 1) && !is_accepted(1, TRACE_LIMIT_ABOVE + 6) &&
              !is_accepted(1, ~0u),
          "a threshold for a name, a text, a number with sign or no field is refused");
}

/* ---- less than all -------------------------------------------------------------------------------- */

/* Number of events loaded; -1: one of them is not an event. */
static int count_events(const struct trace_app_schemas *loaded)
{
    /* an event whose words fit every loaded description */
    static const union {
        uint64_t words[40];
        struct trace_header header;
    } event = {{0}};
    struct trace_moment moment = {.event = &event.header, .words = 40};
    char line[200];
    int count = 0;
    for (uint32_t app = 0; app < TRACE_APP_CLASSES; app++) {
        for (uint32_t minor = 0; minor < TRACE_MINORS_SWITCHED; minor++) {
            const struct trace_event_info *info = loaded->events[app][minor];
            if (!info)
                continue;
            if (info->id != TRACE_ID(TRACE_CLASS_APP_FIRST + app, minor) || !info->name || !info->format)
                return -1;
            trace_print_moment(line, sizeof(line), &moment, 0, info);
            count++;
        }
    }
    return count;
}

/* Uses memory with sanitizer checks at both ends. */
static int load(const void *from, uint64_t size, uint64_t memory_size)
{
    static struct trace_app_schemas loaded;
    char *exact = malloc(size), *memory = malloc(memory_size);
    memcpy(exact, from, size);
    trace_load_app_schemas(&loaded, exact, size, memory, memory_size);
    int count = count_events(&loaded);
    free(exact);
    free(memory);
    return count;
}

/* In too little memory fewer are loaded; of entries that are cut, those before the cut. */
static void test_less(void)
{
    for (unsigned is_cut = 0; is_cut < 2; is_cut++) {
        const uint64_t end = is_cut ? entries_size : 4 * entries_size;
        int last = 0;
        bool grows = true;
        for (uint64_t size = 0; size <= end && grows; size++) {
            int count = load(entries.bytes, is_cut ? size : entries_size, is_cut ? 4 * entries_size : size);
            grows = count >= (is_cut ? last : 0);
            last = count;
        }
        check(grows && last == EVENTS + 1, "%s",
              is_cut ? "of entries that are cut, those before the cut are loaded"
                     : "in too little memory fewer are loaded");
    }
}

/* ---- damage --------------------------------------------------------------------------------------- */

/* Changes a few bytes or words; a small number in the place of another is most likely to be accepted. */
static void spoil(char *bytes, uint64_t size)
{
    static const char alphabet[] = "abz_019 {}[]();:=\"@,\n\t/*%\\\x01\xff";
    for (int n = 1 + rand() % 2; n; n--) {
        uint64_t at = (uint64_t)rand() % size;
        uint32_t word = (uint32_t)rand() % (rand() % 2 ? 9 : 600);
        if (rand() % 2)
            bytes[at] = alphabet[(unsigned)rand() % sizeof(alphabet)];
        else if (at + 4 <= size)
            memcpy(bytes + (at & ~3ull), &word, 4);
    }
}

static bool babeltrace2_reads(const struct trace_descriptor *descriptor)
{
    char command[512];
    read_all(NULL, NULL, directory);
    append_tsdl(descriptor);
    /* its events may not fit the changed layout: the metadata alone */
    snprintf(command, sizeof(command),
             "babeltrace2 -o ctf-metadata %s > %s 2>&1 && rm -f %s/cpu* && babeltrace2 %s > %s 2>&1",
             directory, output, directory, directory, output);
    return system(command) == 0;
}

static void test_damage(void)
{
    const struct trace_descriptor *sample = trace_schema_sample.descriptor;
    unsigned accepted = 0, judged = 0, bad = 0;
    for (unsigned i = 0; i < 60000; i++) {
        char *exact =
            malloc(sample->bytes); /* exact size, so that the sanitizer detects reads past the end */
        memcpy(exact, sample, sample->bytes);
        spoil(exact, sample->bytes);
        if (trace_descriptor_check((void *)exact, sample->bytes) && accepted++ % 40 == 0 && judged < 25) {
            judged++;
            bad += !babeltrace2_reads((void *)exact);
        }
        free(exact);
    }
    check(judged > 0 && !bad, "spoilt descriptors: %u of 60000 accepted, %u judged by babeltrace2, %u bad",
          accepted, judged, bad);
}

static void test_damaged_entries(void)
{
    char *spoilt = malloc(entries_size);
    int loaded = 0, bad = 0;
    for (unsigned i = 0; i < 20000; i++) {
        memcpy(spoilt, entries.bytes, entries_size);
        spoil(spoilt, entries_size);
        int count = load(spoilt, entries_size, 4 * entries_size);
        loaded += count;
        bad += count < 0 || count > EVENTS + 1;
    }
    free(spoilt);
    check(!bad && loaded > 10000, "20000 spoilt lists of descriptors: %d events loaded of them", loaded);
}

/* ---- merging, and lines ---------------------------------------------------------------------------- */

static uint64_t next[TEST_CPUS];
static uint64_t copies[TEST_CPUS][TRACE_BUFFER_BYTES_MIN / 8];

static bool next_packet(void *context, uint32_t cpu, struct trace_walk *walk)
{
    struct trace_reader reader = trace_reader_open(&test_info, ring_of_cpu(cpu), cpu, 0);
    const struct trace_packet *packet = (const struct trace_packet *)copies[cpu];
    if (trace_packet_copy(&reader, next[cpu], copies[cpu]) != TRACE_PACKET_WHOLE)
        return false;
    next[cpu]++;
    trace_walk_begin(walk, packet, packet->content_size / 64, packet->timestamp_end);
    return true;
}

static void test_merge(void)
{
    static struct trace_merge merge;
    struct trace_moment moment;
    uint64_t number = 0, last_time = 0;
    bool in_order = true;
    setup_rings(TRACE_BUFFER_BYTES_MIN, 16, TRACE_MODE_FLIGHT);
    for (uint64_t i = 0; i < 5000; i++) { /* runs of different lengths on both CPUs: several packets */
        test_ring = ring_of_cpu(i % 7 < 3);
        trace_user_stopwatch_start(i);
    }
    for (uint32_t cpu = 0; cpu < TEST_CPUS; cpu++) {
        test_ring = ring_of_cpu(cpu);
        trace_ring_flush(test_ring);
    }
    for (trace_merge_begin(&merge, TEST_CPUS, next_packet, NULL); trace_merge_next(&merge, &moment);) {
        in_order = in_order && moment.time >= last_time && moment.words >= moment.event->length;
        last_time = moment.time;
        if (moment.event->id != TRACE_ID(TRACE_CLASS_USER, 3))
            continue;
        in_order =
            in_order && *(const uint64_t *)(moment.event + 1) == number && moment.cpu == (number % 7 < 3);
        number++;
    }
    check(in_order && number == 5000, "two processors merged: every event once, in order");
    check(next[0] > 2 && next[1] > 2, "through several packets of each");
}

static void test_lines(void)
{
    struct {
        struct trace_header header;
        uint64_t id;
    } event = {{.id = TRACE_ID(TRACE_CLASS_USER, 3), .length = 2}, 42};
    struct trace_moment moment = {.event = &event.header, .words = 2, .time = 12000345678ull, .cpu = 3};
    char line[80];
    uint32_t length = trace_print_moment(line, sizeof(line), &moment, 1000000000, NULL);
    check(!strcmp(line, "    12.000345 cpu 3 user_stopwatch_start: stopwatch 42") && length == strlen(line),
          "a line with seconds (%s)", line);
    trace_print_moment(line, sizeof(line), &moment, 0, NULL);
    check(!strcmp(line, "12000345678 cpu 3 user_stopwatch_start: stopwatch 42"), "without a rate: ticks");
    check(trace_print_moment(line, 20, &moment, 1000000000, NULL) == 19 && strlen(line) == 19,
          "cut to its size");
    event.header.length = 1;
    trace_print_moment(line, sizeof(line), &moment, 0, NULL);
    check(strstr(line, "(too short)") != NULL, "a short event is marked");
    event.header.id = TRACE_ID(50, 9);
    trace_print_moment(line, sizeof(line), &moment, 0, NULL);
    check(!strcmp(line, "12000345678 cpu 3 event 50/9"), "an unknown event is printed with its numbers");
}

int main(void)
{
    make_scratch();
    snprintf(directory, sizeof(directory), "%s/trace", scratch);
    snprintf(output, sizeof(output), "%s/text", scratch);
    srand(1);
    test_registered();
    load_all();
    test_limits();
    test_bad_limits();
    test_less();
    test_damaged_entries();
    test_damage();
    test_merge();
    test_lines();
    return finish_tests();
}
