/* elf.h - structures of ELF64 files: what the kernel and servers read of programs. */
#pragma once

#include <stdint.h>

struct elf_header {
    unsigned char ident[16];
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, segments, sections; /* the last two: offsets */
    uint32_t flags;
    uint16_t header_size, segment_size, segment_count, section_size, section_count, names;
};

struct elf_program { /* describes a segment */
    uint32_t type, flags;
    uint64_t offset, address, physical, file_size, size, align;
};

struct elf_section {
    uint32_t name, type;
    uint64_t flags, address, offset, size;
    uint32_t link, info;
    uint64_t align, entry_size;
};

struct elf_symbol {
    uint32_t name;
    uint8_t info, other;
    uint16_t section;
    uint64_t value, size;
};

struct elf_note {
    uint32_t name_size, data_size, type;
    char name[4];
};

enum { ELF_CLASS = 4, ELF_BYTE_ORDER = 5, ELF_IDENT_VERSION = 6 }; /* indices of ident */
enum { ELF_EXECUTABLE = 2, ELF_LOAD = 1 };
enum { ELF_X = 1, ELF_W = 2, ELF_R = 4 };
enum { ELF_SECTION_SYMBOLS = 2, ELF_SECTION_NOTE = 7, ELF_NOTE_BUILD_ID = 3, ELF_SYMBOL_FUNCTION = 2 };
