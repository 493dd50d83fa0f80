/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/stages_test.c - the stages of tarn, each by itself: TSDL, layouts, numbers, text, packets
 * by time, names. Prints TAP. Traces come from tests/unit/tarn/synthetic.c. Order, losses and every anomaly:
 * tests/host/compare_readers, tests/host/wrong_inputs.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tests/tap.h>
#include <tests/unit/scratch.h>
#include <tests/unit/tarn/synthetic.h>
#include <tools/tarn/output.h>
#include <tools/tarn/print/print.h>
#include <tools/tarn/read/names.h>
#include <tools/tarn/read/order.h>
#include <unistd.h>

#define PACKET 4096u

static char directory[80];

/* A whole metadata text around EVENTS. The clock has its name of before, as older traces do: any will do. */
static const char envelope[] =
    "/* CTF 1.8 */ typealias integer { size = 8; align = 8; } := uint8_t;\n"
    "typealias integer { size = 16; align = 16; } := uint16_t;\n"
    "typealias integer { size = 32; align = 32; } := uint32_t;\n"
    "typealias integer { size = 64; align = 64; } := uint64_t;\n"
    "typealias integer { size = 64; align = 64; base = hex; } := xint64_t;\n"
    "typealias integer { size = 8; align = 8; encoding = UTF8; } := text8_t;\n"
    "trace { major = 1; minor = 8; uuid = \"00112233-4455-6677-8899-aabbccddeeff\"; byte_order = be;\n"
    "  packet.header := struct { uint32_t magic; uint32_t stream_id; uint8_t uuid[16]; }; };\n"
    "clock { name = tsc; freq = 2000000000; offset_s = 5; offset = 1000000000; };\n"
    "stream { id = 0; packet.context := struct { uint64_t timestamp_begin; uint64_t timestamp_end;\n"
    "  uint64_t content_size; uint64_t packet_size; uint64_t events_discarded; uint64_t packet_seq_num;\n"
    "  uint64_t committed; uint64_t events_before; uint32_t cpu_id; uint32_t flags; };\n"
    "  event.header := struct { integer { size = 22; align = 32; } id;\n"
    "    integer { size = 32; align = 32; map = clock.tsc.value; } timestamp; } align(64); };\n";

static bool build(struct schema *schema, const char *events, struct fail *fail)
{
    char text[8192];

    snprintf(text, sizeof(text), "%s%s", envelope, events);
    return schema_build(schema, text, strlen(text), fail);
}

/* EVENTS must be refused with a message that has all of WORDS in it. */
static void refuses(const char *events, const char *words, const char *what)
{
    struct schema schema;
    struct fail fail = {""};
    bool refused = !build(&schema, events, &fail);

    schema_free(&schema);
    check(refused && strstr(fail.text, words) != NULL, "%s", what);
    if (refused && strstr(fail.text, words) == NULL)
        printf("# got: %s\n", fail.text);
}

static void test_schema(void)
{
    static const char events[] =
        "event { name = \"app_one\"; id = 3145729; stream_id = 0; fields := struct { uint32_t _a; uint16_t "
        "b; uint16_t c;\n"
        "  enum : uint64_t { x = 1, \"y z\", w = 7 ... 9 } e; text8_t name[16]; uint64_t n; xint64_t "
        "list[n]; }; };\n"
        "event { name = \"app_two\"; id = 3145730; fields := struct { string { encoding = UTF8; } s; }; };\n"
        "event { name = \"lone\"; id = 65537; };\n";
    struct schema schema;
    struct fail fail = {""};
    const struct event_type *one, *two;
    const struct field *e;

    check(build(&schema, events, &fail), "a schema is built");
    one = schema_event(&schema, TRACE_ID(48, 1));
    two = schema_find_event(&schema, "app_two");
    check(one && one->field_count == 7 && one->words == 6 && one->tail == &one->fields[6] &&
              one->fields[6].counter == &one->fields[5],
          "a sequence ends an event and finds its counter");
    check(one && strcmp(one->fields[0].name, "a") == 0 && one->fields[2].offset == 14 &&
              one->fields[4].offset == 24 && one->fields[4].kind == FIELD_TEXT,
          "fields are aligned; a leading underscore is removed");
    e = schema_find_field(one, "e");
    check(e && e->labels->next->low == 2 && e->labels->next->next->high == 9,
          "labels count on and have ranges");
    check(two && two->words == 2 && two->tail == &two->fields[0], "an event may end with a string");
    check(schema.classes[48].name && strcmp(schema.classes[48].name, "app") == 0 &&
              strcmp(schema.classes[1].name, "lone") == 0,
          "classes are named after their events");
    check(schema_ns(&schema, 3) == 5500000001, "ticks to nanoseconds as babeltrace2 rounds them");
    check(schema_event(&schema, TRACE_ID(48, 9)) == NULL &&
              schema_event(&schema, TRACE_ID(63, 65535)) == NULL,
          "unknown events are not found");
    schema_free(&schema);
}

static void test_refusals(void)
{
    refuses("event { name = a; id = 1; fields := struct { float f; }; };", "line 15: unknown type 'float'",
            "an unknown type is refused by line");
    refuses("event { name = a; id = 1; fields := struct { string s; uint8_t t; }; };", "variable size",
            "nothing may follow a string");
    refuses("event { name = a; id = 1; fields := struct { uint8_t t[70000]; }; };",
            "not part of a Tarn trace", "an event must fit its length");
    refuses("event { name = a; id = 1; fields := struct { uint64_t l[nowhere]; }; };",
            "not part of a Tarn trace", "a sequence needs its counter");
    refuses("event { name = a; id = 1; }; event { name = b; id = 1; };", "same id", "ids are unique");
    refuses("event { name = a; id = 99999999; };", "does not fit", "ids fit the header");
    refuses("event { name = a; id = 1; context := struct { uint8_t x; }; };", "'context'",
            "contexts are refused");
    refuses("stream { id = 1; };", "second stream", "one stream class only");
    refuses("event { name = \"abc", "not closed", "an open string is refused");
    refuses("/* for ever", "comment not closed", "an open comment is refused");
    refuses("event { name = a; id = 1; fields := struct { uint32_t x }; };", "expected ';'",
            "syntax errors are refused");
}

static void test_numbers(void)
{
    char got[64], want[64];
    uint64_t value = 0;
    bool decimal = true, hex = true, padded = true;

    for (unsigned i = 0; i < 64 * 3; i++) {
        value = (1ull << i / 3) + i % 3 - 1;
        *put_unsigned(got, value) = '\0';
        sprintf(want, "%" PRIu64, value);
        decimal &= strcmp(got, want) == 0;
        *put_signed(got, (int64_t)value) = '\0';
        sprintf(want, "%" PRId64, (int64_t)value);
        decimal &= strcmp(got, want) == 0;
        *put_hex(got, value, hex_upper) = '\0';
        sprintf(want, "0x%" PRIX64, value);
        hex &= strcmp(got, want) == 0;
        *put_padded(got, value, 20) = '\0';
        sprintf(want, "%020" PRIu64, value);
        padded &= strcmp(got, want) == 0;
    }
    for (unsigned i = 0; i < 20; i++) {
        value = i ? value * 10 : 1;
        for (int d = -1; d <= 1; d++) {
            *put_unsigned(got, value + (uint64_t)d) = '\0';
            sprintf(want, "%" PRIu64, value + (uint64_t)d);
            decimal &= strcmp(got, want) == 0;
        }
        value = i ? value : 1;
    }
    check(decimal, "decimal numbers");
    check(hex, "hexadecimal numbers");
    check(padded, "numbers with leading zeros");
}

static bool escapes(const char *text, enum print_style style, const char *want)
{
    char got[256];

    *put_escaped(got, text, strlen(text), style) = '\0';
    if (strcmp(got, want) != 0)
        printf("# got %s, want %s\n", got, want);
    return strcmp(got, want) == 0;
}

static void test_escapes(void)
{
    check(escapes("a\"b\\\n\x01?'", PRINT_TEXT, "\"a\\\"b\\\\\\n\\x01?'\""), "text escapes");
    check(escapes("a\"?'\x1b", PRINT_BABELTRACE, "\"a\\\"\\?\\'\\e\""), "babeltrace2's escapes");
    check(escapes("a\"\n\x1b\xc3\xa4\xff\xe2\x82", PRINT_JSON,
                  "\"a\\\"\\n\\u001b\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""),
          "JSON stays valid UTF-8");
    check(escapes("a\"b", PRINT_CSV, "\"\"a\\\"\"b\"\""), "CSV doubles quotes");
}

static void make_trace(const struct synthetic_options *wanted, struct trace *trace)
{
    struct synthetic_options options = *wanted;
    struct fail fail = {""};

    options.directory = directory;
    if (!synthetic_write(&options, NULL, &fail) || !trace_open(trace, directory, &fail))
        bail_out(fail.text);
}

/* Every packet is found by its own begin and by times beside it. */
static void test_seek(void)
{
    struct trace trace;
    bool ok = true, before = true;

    make_trace(&(struct synthetic_options){.events = 20000, .cpus = 2, .packet = PACKET}, &trace);
    for (unsigned s = 0; s < trace.stream_count; s++) {
        const struct stream *stream = &trace.streams[s];

        for (uint64_t offset = PACKET; offset < stream->size; offset += PACKET) {
            struct trace_packet header;

            stream_header(&trace, stream, offset, &header);
            ok &= stream_seek(&trace, stream, header.timestamp_begin + 1) == offset;
            before &= stream_seek(&trace, stream, header.timestamp_begin) < offset;
        }
        ok &= stream_seek(&trace, stream, 0) == 0 &&
              stream_seek(&trace, stream, UINT64_MAX) == stream->size - PACKET;
    }
    check(ok, "the packet that contains a time is found");
    check(before, "a packet that begins at the time is not the last before it");
    trace_close(&trace);
}

/* What every subcommand expects of its output file. */
static void test_output(void)
{
    char path[100], other[100];
    int fd;

    snprintf(path, sizeof(path), "%s/file", scratch);
    snprintf(other, sizeof(other), "%s/other", scratch);
    fd = open(path, O_WRONLY | O_CREAT, 0666);
    check(output_write(fd, "four", 4) && output_close(fd, path), "a file that is written and there");
    fd = open(path, O_WRONLY);
    rename(path, other);
    check(!output_close(fd, path) && errno == ENOENT, "a file that is gone");
    fd = open(other, O_WRONLY);
    close(open(path, O_WRONLY | O_CREAT, 0666));
    rename(path, other);
    check(!output_close(fd, other) && errno == ESTALE, "a file that was replaced");
    fd = open("/dev/full", O_WRONLY);
    check(!output_write(fd, "four", 4) && errno == ENOSPC, "a full disk");
    close(fd);
}

static void test_names(void)
{
    struct schema schema;
    struct names names;
    struct fail fail;
    bool ok = build(&schema, "", &fail);

    names_open(&names, &schema);
    for (uint32_t pid = 0; pid < 3 * NAMES_MAX; pid++)
        names_set(&names, pid * 7919, "somebody", 8);
    names_set(&names, 7919, "a name that is far too long to be kept whole", 44);
    ok &= strcmp(names_find(&names, 0), "somebody") == 0 && strlen(names_find(&names, 7919)) == 31;
    check(ok && names_find(&names, 1) == NULL && names.table.count == NAMES_MAX,
          "names are kept, up to a limit");
    names_close(&names);
    schema_free(&schema);
}

int main(void)
{
    make_scratch();
    snprintf(directory, sizeof(directory), "%s/trace", scratch);
    test_schema();
    test_refusals();
    test_numbers();
    test_escapes();
    test_names();
    test_output();
    test_seek();
    return finish_tests();
}
