/* elf.h - the ELF64 file header, for loading programs and looking up their symbols. */
#pragma once

#include <stdint.h>

struct elf_header {
    unsigned char ident[16];
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, segments, sections;
    uint32_t flags;
    uint16_t header_size, segment_size, segment_count, section_size, section_count, names;
};
