/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/format/metadata.h - fills in what the generated metadata leaves open.
 *
 * The template (build/gen/trace/metadata.tsdl) has @NAME@ where only the running system knows; an
 * application's schema has @MINOR@, a number, where its events' ids will stand.
 */
#ifndef TRACE_FORMAT_METADATA_H
#define TRACE_FORMAT_METADATA_H

#include <stdint.h>

struct trace_metadata_values {
    const char *byte_order; /* "le" or "be" */
    const char *hostname;
    const char *architecture;
    uint32_t cpu_count;
    uint64_t clock_hz;
    int64_t clock_offset_ns; /* wall time at tick 0 */
    /* How far clock_hz can be trusted, as in the info page. NULL: not known, and the metadata says nothing.
     */
    const char *clock_sources;
    uint32_t clock_error_ppm, clock_is_certain;
    /* The kernel's command line, and the memory that it found. NULL: not known, and the metadata says
     * nothing. */
    const char *command_line;
    uint64_t memory_bytes;
    uint32_t class_number; /* for @MINOR@ */
};

/* Writes the text with everything filled in, at most `capacity` bytes, no NUL. How long it is; more than
 * `capacity`: it was cut. Unknown placeholders stay as they are. */
uint64_t trace_metadata_expand(char *out, uint64_t capacity, const char *text, uint64_t size,
                               const struct trace_metadata_values *values);

#endif
