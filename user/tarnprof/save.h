/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * save.h - writes snapshots of tables to a file, as recorded replies (trace/format/WIRE.md), and reads such
 * files: libtarnprof.
 *
 * Memory is that of one table, whatever the snapshot has.
 */
#ifndef TARNPROF_SAVE_H
#define TARNPROF_SAVE_H

#include <stdio.h>
#include <user/tarnprof/tarnprof.h>

struct tarnprof_saver {
    int fd;
    cap_t of; /* as for tarnprof_next() */
    /* Whether a table is saved; NULL: all are. */
    bool (*choose)(void *context, const struct trace_routines *head);
    void *context;
    uint64_t snapshots, bytes; /* whole ones, so far; with whatever the file began with */
    char wrong[80];            /* of the last failure */
    uint8_t *payload;          /* the rest is the library's */
    uint32_t frames;
    uint64_t written; /* of the snapshot */
};

/* Adds a snapshot. False: saver->wrong says why. A file then ends with the last whole snapshot. */
bool tarnprof_save(struct tarnprof_saver *saver);

/* Makes the sum that of all tables in snapshot `number` of a file, from 1; 0: of the last one. False: wrong
 * has the reason. If only what follows the snapshot is damaged, it is true, and `wrong` says so. */
bool tarnprof_load(struct tarnprof_sum *sum, const char *path, uint64_t number, char wrong[80]);

#endif
