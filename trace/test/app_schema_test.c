/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/test/app_schema_test.c - tests what is learned of applications' events from the metadata.
 *
 * A whole text gives everything that was declared, so that events print as they were logged. A cut or damaged
 * text, as of a dead system, or too little memory gives less, and never anything wrong.
 */
#define TRACE_DEFINE_SAMPLE
#include "ring_harness.h"
#include <app/sample.h>
#include <stdlib.h>
#include <string.h>
#include <trace/event/app_schema.h>
#include <trace/event/print.h>
#include <trace/event/words.h>
#include <trace/events.h>
#include <trace/format/metadata.h>
#include <trace/user.h>

enum { SAMPLE = 50, OTHER = 51, EVENTS = 3 };

static char text[128 << 10];
static uint64_t text_size;
static struct trace_app_schemas schemas;

/* As trace/control/registry.c does. */
static void append(const char *part, uint64_t size, uint32_t class_number)
{
    const struct trace_metadata_values values = {.byte_order = "le",
                                                 .hostname = "tarn",
                                                 .architecture = "any",
                                                 .cpu_count = 2,
                                                 .clock_hz = 1000000000,
                                                 .class_number = class_number};
    uint64_t room = sizeof(text) - text_size;
    uint64_t length = trace_metadata_expand(text + text_size, room, part, size, &values);
    if (length > room)
        abort();
    text_size += length;
}

static void append_class(const char *name, uint32_t number, const char *schema)
{
    char comment[64];
    append(comment, (uint64_t)snprintf(comment, sizeof(comment), "/* class %u is %s */\n", number, name),
           number);
    append(schema, strlen(schema), number);
}

static void make_metadata(void)
{
    append(trace_metadata_template, trace_metadata_template_size, 0);
    append_class("sample", SAMPLE, strchr(trace_schema_sample.text, '\n') + 1);
    append_class("samples", OTHER,
                 "event {\n    name = \"samples_bare\";\n    id = @0@;\n    stream_id = 0;\n"
                 "    fields := struct {\n    };\n};\n");
}

/* ---- all of it ------------------------------------------------------------------------------------ */

struct lines {
    uint32_t count;
    char line[8][120];
};

static void print_line(const struct trace_header *event, uint64_t time, void *context)
{
    struct lines *lines = context;
    struct trace_moment moment = {.event = event, .words = event->length, .time = 7, .cpu = 1};
    if (TRACE_ID_CLASS(event->id) >= TRACE_CLASS_APP_FIRST)
        trace_print_moment(lines->line[lines->count++ % 8], sizeof(lines->line[0]), &moment, 0,
                           trace_find_event(&schemas, event->id));
}

static void test_lines(void)
{
    static const char *const expected[] = {
        "7 cpu 1 sample_numbers: a = 255, b = -128, c = 0xbeef, d = -5, e = 1, f = 0xffffffffffffffff",
        "7 cpu 1 sample_named: who = fifteen letters, color = blue, reserved = 0, text = a text",
        "7 cpu 1 sample_named: who = one, color = 3, reserved = 0, text = ",
        "7 cpu 1 sample_list: count = 3, words = 0x1 0x2 0xffffffffffffffff",
    };
    struct lines lines = {0};
    setup_rings(TRACE_BUFFER_BYTES_MIN, 4, TRACE_MODE_FLIGHT);
    trace_class_sample = SAMPLE;
    trace_sample_numbers(255, -128, 0xbeef, -5, 1, ~0ull);
    trace_sample_named("fifteen letters", TRACE_SAMPLE_BLUE, "a text");
    trace_sample_named("one\0\0\0\0\0\0\0\0\0\0\0\0", 3, "");
    trace_sample_list(3, (const uint64_t[]){1, 2, ~0ull});
    read_all(print_line, &lines, NULL);
    for (unsigned i = 0; i < sizeof(expected) / sizeof(*expected); i++)
        check(!strcmp(lines.line[i], expected[i]), "printed as logged: %s", lines.line[i]);
    check(lines.count == sizeof(expected) / sizeof(*expected), "and no more");
}

static void test_names(void)
{
    const struct trace_event_info *bare = trace_find_event(&schemas, TRACE_ID(OTHER, 0));
    check(!strcmp(trace_find_class_name(&schemas, SAMPLE), "sample") &&
              !strcmp(trace_find_class_name(&schemas, OTHER), "samples") &&
              !strcmp(trace_find_class_name(&schemas, TRACE_CLASS_USER), "user"),
          "classes have their names, the system's too");
    check(!trace_find_class_name(&schemas, OTHER + 1) && !trace_find_class_name(&schemas, TRACE_CLASS_COUNT),
          "others have none");
    check(trace_find_any_class(&schemas, "sample,more", 6) == SAMPLE &&
              trace_find_any_class(&schemas, "samples", 7) == OTHER &&
              trace_find_any_class(&schemas, "user", 4) == TRACE_CLASS_USER,
          "and are found by them");
    check(trace_find_any_class(&schemas, "sampl", 5) < 0 && trace_find_any_class(&schemas, "", 0) < 0,
          "but not by a part");
    check(bare && bare->field_count == 0 && !strcmp(bare->full_name, "samples_bare") &&
              !strcmp(bare->name, "bare"),
          "an event without fields");
    check(trace_find_event(&schemas, TRACE_ID(TRACE_CLASS_USER, 3)) ==
              trace_event_find(TRACE_ID(TRACE_CLASS_USER, 3)),
          "the system's events are the generated table's");
    check(!trace_find_event(&schemas, TRACE_ID(SAMPLE, 3)) &&
              !trace_find_event(&schemas, TRACE_ID(SAMPLE, 64)) &&
              !trace_find_event(&schemas, TRACE_ID(TRACE_CLASS_COUNT, 1)),
          "what nobody declared is not found");
}

/* ---- less than all
 * ----------------------------------------------------------------------------------------- */

/* Number of events learned; -1: one of them is not an event. */
static int count_events(const struct trace_app_schemas *learned)
{
    /* an event whose words fit every learned description */
    static const union {
        uint64_t words[40];
        struct trace_header header;
    } event = {{0}};
    struct trace_moment moment = {.event = &event.header, .words = 40};
    char line[200];
    int count = 0;
    for (uint32_t app = 0; app < TRACE_APP_CLASSES; app++) {
        for (uint32_t minor = 0; minor < TRACE_MINORS_SWITCHED; minor++) {
            const struct trace_event_info *info = learned->events[app][minor];
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

/* Uses memory with sanitizer checks at both ends. The learned events are not used after the text's own check.
 */
static int learn(const char *from, uint64_t size, uint64_t memory_size)
{
    static struct trace_app_schemas learned;
    char *exact = malloc(size), *memory = malloc(memory_size);
    memcpy(exact, from, size);
    trace_learn_schemas(&learned, exact, size, memory, memory_size);
    free(exact); /* not needed afterwards */
    int count = count_events(&learned);
    free(memory);
    return count;
}

static void test_memory(const char *part, uint64_t size)
{
    int count = learn(part, size, 0);
    bool fine = count == 0;
    uint64_t room = 0;
    for (; room <= 4 * size && fine && count < EVENTS + 1; room++) {
        count = learn(part, size, room);
        fine = count >= 0;
    }
    check(fine && count == EVENTS + 1,
          "in too little memory fewer are learned; %u bytes are enough for %u of text", (unsigned)room,
          (unsigned)size);
}

static void test_cut(const char *part, uint64_t size)
{
    int last = 0;
    bool grows = true;
    for (uint64_t length = 0; length <= size; length++) {
        int count = learn(part, length, 4 * size);
        grows = grows && count >= last;
        last = count;
    }
    check(grows && last == EVENTS + 1, "of a text that is cut, the events before the cut are learned");
}

static void test_mutations(const char *part, uint64_t size)
{
    static const char alphabet[] = "abz_019 {}[]();:=\"@,\n\t/*%\\\x01\xff";
    char *changed = malloc(size);
    int learned = 0, bad = 0;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t length = size;
        memcpy(changed, part, size);
        for (int n = 1 + rand() % 4; n; n--) {
            uint64_t at = (uint64_t)rand() % length, run = 1 + (uint64_t)rand() % 40;
            if (rand() % 2) {
                changed[at] = alphabet[(unsigned)rand() % (sizeof(alphabet) - 1)];
            } else if (run < length - at) { /* drop some */
                memmove(changed + at, changed + at + run, length - at - run);
                length -= run;
            }
        }
        int count = learn(changed, length, 4 * size);
        learned += count;
        bad += count < 0 || count > EVENTS + 1;
    }
    free(changed);
    check(!bad && learned > 20000, "20000 spoilt texts: %d events learned of them", learned);
}

static void test_limits(void)
{
    static char many[64 << 10];
    char *at = many;
    at += sprintf(
        at,
        "event {\n    name = \"many_values\";\n    id = %u;\n    stream_id = 0;\n    fields := struct {\n"
        "        enum : uint8_t {",
        TRACE_ID(SAMPLE, 1));
    for (unsigned i = 0; i < 65; i++)
        at += sprintf(at, " \"v%u\" = %u%s", i, i, i < 64 ? "," : " } value;\n    };\n};\n");
    at += sprintf(
        at,
        "event {\n    name = \"many_fields\";\n    id = %u;\n    stream_id = 0;\n    fields := struct {\n",
        TRACE_ID(SAMPLE, 2));
    for (unsigned i = 0; i < 25; i++)
        at += sprintf(at, "        uint64_t f%u;\n", i);
    at += sprintf(at, "    };\n};\n");
    check(learn(many, (uint64_t)(at - many), sizeof(many)) == 0,
          "values and fields beyond what is allowed: left out");
}

int main(void)
{
    static char memory[16 << 10];
    srand(1);
    make_metadata();
    trace_learn_schemas(&schemas, text, text_size, memory, sizeof(memory));
    check(count_events(&schemas) == EVENTS + 1,
          "all events of applications are learned, none of the system's");
    test_lines();
    test_names();
    const char *apps = text + text_size - 1200; /* with some of the system's text before them */
    test_memory(apps, 1200);
    test_cut(apps, 1200);
    test_mutations(apps, 1200);
    test_limits();
    return finish_tests();
}
