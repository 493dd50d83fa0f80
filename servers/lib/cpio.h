/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/lib/cpio.h - reads a boot archive (cpio, "newc" format) that lies in memory.
 *
 *     struct cpio_reader reader = {archive, size, 0};
 *     struct cpio_entry entry;
 *     while (cpio_next(&reader, &entry) > 0) ...
 */
#ifndef SERVERS_LIB_CPIO_H
#define SERVERS_LIB_CPIO_H

#include <stdint.h>

struct cpio_reader {
    const char *archive;
    uint64_t size, offset;
};

struct cpio_entry {
    const char *name; /* NUL-terminated, in the archive; without a leading "./" or "/" */
    const char *data;
    uint64_t size;
    uint32_t mode; /* S_IFMT and permissions */
};

/* 1: an entry, 0: the end, -1: the archive is broken from here on. */
int cpio_next(struct cpio_reader *reader, struct cpio_entry *entry);
/* 1 if there is such a file, 0 if not, -1 if the archive is broken before it. */
int cpio_find(const char *archive, uint64_t size, const char *name, struct cpio_entry *entry);

#endif
