/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recorded.h - files of a guest's replies about its tables (trace/format/WIRE.md, "Recorded replies"):
 * finds their snapshots, reads one as from its guest, and adds others.
 *
 * A file may contain anything. The snapshots before damage are used.
 */
#ifndef TARN_TABLES_RECORDED_H
#define TARN_TABLES_RECORDED_H

#include <stdio.h>
#include <tools/tarn/tables/routines.h>

struct recorded_snapshot {
    uint64_t at, bytes; /* in the file */
    uint64_t moment;    /* ticks when its first table was copied */
    size_t routines;
    struct wire_hello hello;
};

struct recorded {
    struct source source; /* first: replies with what the file has at `at` */
    const char *path;
    FILE *file;
    uint64_t at;       /* in the file */
    uint32_t sequence; /* of the next frame of the snapshot */
    uint8_t *payload;
    bool is_broken; /* a reply was missing or damaged */
    struct recorded_snapshot *snapshots;
    size_t count, size;
    bool is_damaged; /* behind the last snapshot; `why` says how */
    struct fail why;
};

/* Reads all of a regular file. False: FAIL, it has no snapshot at all, and nothing is to be closed. */
bool recorded_open(struct recorded *recorded, const char *path, struct fail *fail);
void recorded_close(struct recorded *recorded);
/* Loads snapshot NUMBER, from 0. False: FAIL, and nothing to free. */
bool recorded_load(struct recorded *recorded, size_t number, struct routines *routines, struct fail *fail);

/* Adds snapshots to a file. */
struct recorded_writer {
    const char *path;
    int fd;
    uint64_t bytes; /* whole snapshots */
    size_t added;
};

/* Creates the file, or opens one that ends with a whole snapshot. False: FAIL. */
bool recorded_writer_open(struct recorded_writer *writer, const char *path, struct fail *fail);
/* Adds a snapshot of SOURCE, or nothing. False: FAIL. */
bool recorded_writer_add(struct recorded_writer *writer, struct source *source, struct fail *fail);
/* False: FAIL, the file is not what was written. */
bool recorded_writer_close(struct recorded_writer *writer, struct fail *fail);

#endif
