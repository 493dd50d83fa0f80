/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profiles_file.h - files of profiles (trace/format/profile_file.h): finds their snapshots, loads one, and
 * adds others.
 *
 * A file may contain anything. What comes before damage is kept.
 */
#ifndef TARN_TABLES_PROFILES_FILE_H
#define TARN_TABLES_PROFILES_FILE_H

#include <tools/tarn/tables/profiles.h>
#include <trace/print/profile_file.h>

struct profiles_file {
    const char *path;
    struct trace_profile_reader reader;
    struct trace_profile_snapshot *snapshots;
    size_t count, size;
    bool is_damaged; /* behind the last snapshot; `why` says how */
    struct fail why;
};

/* Reads all of a regular file. False: FAIL, it has no snapshot at all, and nothing is to be closed. */
bool profiles_file_open(struct profiles_file *file, const char *path, struct fail *fail);
void profiles_file_close(struct profiles_file *file);
/* Loads snapshot NUMBER, from 0. False: FAIL, and nothing to free. */
bool profiles_file_load(struct profiles_file *file, size_t number, struct profiles *profiles,
                        struct fail *fail);

/* Adds snapshots to a file. */
struct profiles_writer {
    const char *path;
    int fd;
    uint64_t bytes; /* whole snapshots */
    size_t added;
};

/* Creates the file, or opens one that ends with a whole snapshot. False: FAIL. */
bool profiles_writer_open(struct profiles_writer *writer, const char *path, struct fail *fail);
/* Adds a snapshot, or nothing. False: FAIL. */
bool profiles_writer_add(struct profiles_writer *writer, const struct profiles *profiles, bool is_part,
                         struct fail *fail);
/* False: FAIL, the file is not what was written. */
bool profiles_writer_close(struct profiles_writer *writer, struct fail *fail);

#endif
