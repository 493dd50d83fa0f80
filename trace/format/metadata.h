/*
 * trace/format/metadata.h - fills in the placeholders of the generated metadata.
 *
 * The template (build/gen/trace/metadata.tsdl) has @NAME@ for values that only the running system knows.
 */
#pragma once

#include <stdint.h>

struct trace_metadata_values {
    const char *byte_order; /* "le" or "be" */
    const char *hostname;
    const char *sysname; /* of another kernel, a word; NULL: Tarn, omitted */
    const char *architecture;
    uint32_t cpu_count;
    uint64_t clock_hz;
    int64_t clock_offset_ns; /* wall time at tick 0 */
    /* Accuracy of clock_hz, as in the info page. NULL: unknown, omitted. */
    const char *clock_sources;
    uint32_t clock_error_ppm, clock_is_certain;
    /* NULL: unknown, omitted from the metadata. */
    const char *command_line;
    uint64_t memory_bytes;
    const char *ring_refused; /* why rings do not have the size that was asked for; NULL: they do */
};

/* The first line of the comment with the costs of logging (FORMAT.md). The last one in the text counts. */
#define TRACE_COSTS_BEGIN \
    "/* costs of logging, thousandths: event, ticks least and median, instructions least and median\n"

/* Writes the expanded text without a NUL, at most `capacity` bytes. Returns the full length; more than
 * `capacity` if it was cut. Unknown placeholders stay as they are. */
uint64_t trace_metadata_expand(char *out, uint64_t capacity, const char *text, uint64_t size,
                               const struct trace_metadata_values *values);
