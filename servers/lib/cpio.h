/*
 * cpio.h - reads a boot archive (cpio, "newc" format) in memory.
 *
 *     struct cpio_reader reader = {archive, size, 0};
 *     struct cpio_entry entry;
 *     while (cpio_next(&reader, &entry) > 0) ...
 */
#pragma once

#include <stdint.h>

struct cpio_reader {
    const char *archive;
    uint64_t size, offset;
};

struct cpio_entry {
    const char *name; /* NUL-terminated, inside the archive; without a leading "./" or "/" */
    const char *data;
    uint64_t size;
    uint32_t mode;      /* S_IFMT bits and permissions */
    uint32_t authority; /* the group's number: the file's label (servers/protocol/authority.def) */
};

/* Returns 1 for an entry, 0 at the end, -1 if the archive is corrupt here. */
int cpio_next(struct cpio_reader *reader, struct cpio_entry *entry);
/* Returns 1 if the file exists, 0 if not, -1 if the archive is corrupt before it. */
int cpio_find(const char *archive, uint64_t size, const char *name, struct cpio_entry *entry);
