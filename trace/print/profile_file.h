/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/print/profile_file.h - reads and makes records of profiles (trace/format/profile_file.h): programs in
 * the guest, and `tarn`.
 *
 * No locks: a reader belongs to its caller. A file may contain anything.
 */
#ifndef TRACE_PRINT_PROFILE_FILE_H
#define TRACE_PRINT_PROFILE_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <trace/format/profile_file.h>

/* Makes the head of a record with this payload, in the byte order of this machine. */
struct trace_profile_record trace_profile_record_make(enum trace_profile_record_kind kind,
                                                      const void *payload, uint32_t bytes);

struct trace_profile_reader {
    FILE *file;
    void *payload;     /* the caller's, TRACE_PROFILE_BYTES_MAX bytes */
    uint64_t offset;   /* in the file, of what is read next */
    const char *wrong; /* after TRACE_PROFILE_GOT_DAMAGED: what, in a few words */
    /* Called for names of routines of programs, which follow those of the call before; NULL: they are passed
     * over. The context is that of the visits. False: stop. */
    bool (*take_names)(void *context, const struct trace_routine *list, uint32_t count);
    uint32_t named; /* the reader's: how many there were in the snapshot */
};

/* What was read. CUT: the file ends in the middle. */
enum trace_profile_got {
    TRACE_PROFILE_GOT_SNAPSHOT,
    TRACE_PROFILE_GOT_NOTHING, /* the file ends here */
    TRACE_PROFILE_GOT_CUT,
    TRACE_PROFILE_GOT_DAMAGED, /* reader->wrong, or the caller refused a profile */
};

/* A snapshot, in this machine's byte order. */
struct trace_profile_snapshot {
    uint64_t offset; /* of its first record */
    uint64_t bytes;
    struct trace_profile_begin begin;
    struct trace_profile_end end;
};

/* Called for each profile of a snapshot, and its rows; they are valid during the call. False: stop. */
typedef bool trace_profile_visit(void *context, const struct trace_profile *head,
                                 const struct trace_profile_row *rows);

/* Reads the snapshot at reader->offset, where the file is. VISIT may be NULL. All profiles are checked:
 * head->rows rows follow, and serial numbers ascend. */
enum trace_profile_got trace_profile_read_snapshot(struct trace_profile_reader *reader,
                                                   struct trace_profile_snapshot *snapshot,
                                                   trace_profile_visit *visit, void *context);

#endif
