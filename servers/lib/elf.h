/*
 * elf.h - validates the headers of an ELF64 executable and extracts the segments to map.
 *
 * The file is untrusted. What elf_parse returns is safe to map: the pages of segments do not overlap, lie
 * below USER_MMAP_BASE, are never both writable and executable, and come from the file.
 */
#pragma once

#include <stdint.h>

#define ELF_SEGMENTS_MAX 8
/* Bytes from the start of the file that elf_parse needs (fewer if the file is shorter). */
#define ELF_HEADER_BYTES 4096u

struct elf_segment {
    /* Of the first byte. Earlier bytes in its page come from the file, too. */
    uint64_t address;
    uint64_t offset;    /* in the file; congruent to `address` modulo the page size */
    uint64_t file_size; /* bytes from the file */
    uint64_t size;      /* bytes in memory: zeros after file_size */
    uint32_t flags;     /* MAP_READ, MAP_WRITE, MAP_EXECUTE */
};

struct elf_executable {
    uint64_t entry;
    uint64_t base, size;                /* range of all segments, in whole pages */
    uint64_t sites_address, sites_size; /* its table of trace points; not validated. Size 0: none */
    unsigned count;
    struct elf_segment segment[ELF_SEGMENTS_MAX];
};

/* Returns 0, -ENOEXEC (not for this machine and ABI, given by
 * `own`, the caller's own ELF header) or -EINVAL (malformed). */
int elf_parse(const void *header, uint64_t header_size, uint64_t file_size, const void *own,
              struct elf_executable *executable);
