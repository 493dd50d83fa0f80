/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/format/profile_file.h - profiles in files; FORMAT.md, "Files of profiles".
 *
 * A file is a sequence of *snapshots*, a snapshot a sequence of records: TRACE_PROFILE_BEGIN, a
 * TRACE_PROFILE_ONE for each profile, TRACE_PROFILE_NAMES, TRACE_PROFILE_END. Each record is in the byte
 * order of its writer, which the magic shows.
 */
#ifndef TRACE_PROFILE_FILE_H
#define TRACE_PROFILE_FILE_H

#include <stddef.h>
#include <trace/format/crc.h>
#include <trace/format/profile.h>

#define TRACE_PROFILE_FILE_MAGIC   0x54507266u /* "TPrf" */
#define TRACE_PROFILE_FILE_VERSION 1u

enum trace_profile_record_kind {
    TRACE_PROFILE_BEGIN = 1, /* struct trace_profile_begin */
    TRACE_PROFILE_ONE = 2,   /* struct trace_profile and its rows; in order of serial */
    TRACE_PROFILE_END = 3,   /* struct trace_profile_end: the snapshot is complete */
    /* struct trace_routine each: names of routines of programs, in the order of their numbers, without gaps;
     * after BEGIN, if there are any. */
    TRACE_PROFILE_NAMES = 4,
};

/* The payload follows. Readers pass over records of other kinds. */
struct trace_profile_record {
    uint32_t magic;
    uint32_t kind;     /* enum trace_profile_record_kind */
    uint32_t bytes;    /* of the payload: a multiple of 8, at most TRACE_PROFILE_BYTES_MAX */
    uint32_t checksum; /* trace_profile_record_checksum() */
};

struct trace_profile_begin {
    uint32_t version;
    uint32_t row_bytes;
    uint64_t moment; /* ticks when the first profile was copied; 0: unknown */
    uint64_t clock_hz;
    int64_t clock_offset_ns; /* wall time (ns since 1970) at tick 0: differs from boot to boot */
    uint8_t uuid[16];        /* of the system's schema, which names routines */
    char machine[16];        /* "x86_64", "ppc64"; NUL padded */
    uint32_t cpu_count;
    uint32_t is_part; /* 1: only chosen processes */
};

struct trace_profile_end {
    uint32_t profiles; /* in the snapshot */
    uint32_t is_cut;   /* 1: there were more, which could not be read */
};

/* CRC-32C of kind and bytes, as in the record, and the payload. */
static inline uint32_t trace_profile_record_checksum(const struct trace_profile_record *record,
                                                     const void *payload, uint32_t bytes)
{
    const uint32_t crc = trace_crc_add(~0u, &record->kind, 2 * sizeof(uint32_t));
    return ~trace_crc_add(crc, payload, bytes);
}

#endif
