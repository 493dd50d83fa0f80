/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/lib/elf.h - checks the headers of an ELF64 executable and says what to map.
 *
 * Everything in a file is hostile until elf_parse has taken it; what it gives is safe to map: pages of
 * segments do not overlap, lie below USER_MMAP_BASE, are not writable and executable at once, and come from
 * the file.
 */
#ifndef SERVERS_LIB_ELF_H
#define SERVERS_LIB_ELF_H

#include <stdint.h>

#define ELF_SEGMENTS_MAX 8
#define ELF_HEADER_BYTES \
    4096u /* how much of the file's start elf_parse wants (less if the file is shorter) */

struct elf_segment {
    uint64_t address;   /* of the first byte; what lies before it in its page is the file's too */
    uint64_t offset;    /* in the file; the same position in its page */
    uint64_t file_size; /* bytes from the file */
    uint64_t size;      /* bytes in memory: the rest is zero */
    uint32_t flags;     /* MAP_READ, MAP_WRITE, MAP_EXECUTE */
};

struct elf_image {
    uint64_t entry;
    uint64_t base, size; /* of all segments, whole pages */
    unsigned count;
    struct elf_segment segment[ELF_SEGMENTS_MAX];
};

/* 0, -ENOEXEC (no program for the machine and the ABI of `own`, the caller's own ELF header) or -EINVAL (a
 * broken one). */
int elf_parse(const void *header, uint64_t header_size, uint64_t file_size, const void *own,
              struct elf_image *image);

#endif
