/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/gen/emit_tsdl.c - writes the CTF 1.8 metadata (TSDL) of a schema.
 *
 * Only the running system knows the values of the placeholders @NAME@; trace/format/metadata.c fills them in.
 * The events are written by trace/format/descriptor.c, which writes those of applications in the running
 * system. Names in the metadata are those of the schema; parse.c has rejected the reserved words of TSDL.
 */
#include "model.h"

/* Packet header, context and event header: struct trace_packet and struct trace_header, field by field. */
static const char preamble[] =
    "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
    "typealias integer { size = 16; align = 16; signed = false; } := uint16_t;\n"
    "typealias integer { size = 32; align = 32; signed = false; } := uint32_t;\n"
    "typealias integer { size = 64; align = 64; signed = false; } := uint64_t;\n"
    "typealias integer { size = 8; align = 8; signed = true; } := int8_t;\n"
    "typealias integer { size = 16; align = 16; signed = true; } := int16_t;\n"
    "typealias integer { size = 32; align = 32; signed = true; } := int32_t;\n"
    "typealias integer { size = 64; align = 64; signed = true; } := int64_t;\n"
    "typealias integer { size = 8; align = 8; signed = false; base = hex; } := xint8_t;\n"
    "typealias integer { size = 16; align = 16; signed = false; base = hex; } := xint16_t;\n"
    "typealias integer { size = 32; align = 32; signed = false; base = hex; } := xint32_t;\n"
    "typealias integer { size = 64; align = 64; signed = false; base = hex; } := xint64_t;\n"
    "typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := text8_t;\n";

/* Trace Compass recognizes a kernel's trace by the domain "kernel". */
static const char environment[] = "\nenv {\n"
                                  "    domain = \"kernel\";\n"
                                  "    tracer_name = \"tarn\";\n"
                                  "    tracer_major = 1;\n"
                                  "    hostname = \"@HOSTNAME@\";\n"
                                  "@SYSTEM@"
                                  "    architecture = \"@ARCHITECTURE@\";\n"
                                  "    cpu_count = @CPU_COUNT@;\n"
                                  "@CLOCK_TRUST@"
                                  "@BOOT@";

/* Follows the names of classes. */
static const char streams[] =
    "};\n"
    "\nclock {\n"
    "    name = \"monotonic\";\n"
    "    description = \"the processors' tick counter; the offset is the wall time at tick 0\";\n"
    "    freq = @CLOCK_HZ@;\n"
    "    offset_s = @CLOCK_OFFSET_S@;\n"
    "    offset = @CLOCK_OFFSET@;\n"
    "};\n"
    "typealias integer { size = 64; align = 64; signed = false; map = clock.monotonic.value; } := "
    "clock64_t;\n"
    "\nstream {\n"
    "    id = 0;\n"
    "    packet.context := struct {\n"
    "        clock64_t timestamp_begin;\n"
    "        clock64_t timestamp_end;\n"
    "        uint64_t content_size;\n"
    "        uint64_t packet_size;\n"
    "        uint64_t events_discarded;\n"
    "        uint64_t packet_seq_num;\n"
    "        uint64_t committed;\n"
    "        uint64_t events_before;\n"
    "        uint32_t cpu_id;\n"
    "        xint32_t flags;\n"
    "    };\n"
    "    event.header := struct {\n"
    "        integer { size = 22; align = 32; signed = false; } id;\n"
    "        integer { size = 32; align = 32; signed = false; map = clock.monotonic.value; } timestamp;\n"
    "    } align(64);\n"
    "};\n";

void emit_events_tsdl(FILE *out, const struct schema *schema)
{
    for (unsigned i = 0; i < schema->class_count; i++) {
        const struct class *class = &schema->classes[i];
        const uint32_t number = class->number < 0 ? TRACE_CLASS_APP_FIRST : (uint32_t) class->number;
        const struct trace_descriptor *descriptor = make_descriptor(class);
        uint64_t length = trace_descriptor_tsdl(descriptor, number, NULL, 0);
        char *text = allocate(length);
        trace_descriptor_tsdl(descriptor, number, text, length);
        fwrite(text, 1, length, out);
    }
}

void emit_metadata(FILE *out, const struct schema *schema)
{
    char uuid[37];
    format_uuid(uuid, schema->uuid);
    fprintf(out, "/* CTF 1.8 */\n%s", preamble);
    fprintf(out,
            "\ntrace {\n    major = 1;\n    minor = 8;\n    uuid = \"%s\";\n    byte_order = @BYTE_ORDER@;\n"
            "    packet.header := struct {\n        uint32_t magic;\n        uint32_t stream_id;\n"
            "        uint8_t uuid[16];\n    };\n};\n",
            uuid);
    fprintf(out, "%s", environment);
    for (unsigned i = 0; i < schema->class_count; i++)
        fprintf(out, "    class_%d = \"%s\";\n", schema->classes[i].number, schema->classes[i].name);
    fprintf(out, "%s\n", streams);
    emit_events_tsdl(out, schema);
    emit_tables_tsdl(out, schema, true);
}
