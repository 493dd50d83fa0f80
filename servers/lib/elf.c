/* elf.c - parses ELF64 headers. Interface: elf.h. */
#include "elf.h"
#include <base/elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <tarn/abi.h>
#include <tarn/trace_control.h>

static uint64_t page_down(uint64_t address)
{
    return address & ~(TARN_PAGE_SIZE - 1);
}

static uint64_t page_up(uint64_t address)
{
    return page_down(address + TARN_PAGE_SIZE - 1);
}

/* Compares class and byte order first: the other fields are readable only if those match. The flags name the
 * ABI on machines that have several (powerpc64). */
static bool is_like(const struct elf_header *header, const struct elf_header *own)
{
    return memcmp(header->ident, own->ident, ELF_IDENT_VERSION + 1) == 0 && header->machine == own->machine &&
           header->flags == own->flags;
}

static int check_header(const struct elf_header *header, uint64_t header_size, const void *own)
{
    if (!is_like(header, own) || header->type != ELF_EXECUTABLE)
        return -ENOEXEC;
    if (header->segment_size != sizeof(struct elf_program) || header->segments > header_size ||
        header->segment_count > (header_size - header->segments) / sizeof(struct elf_program))
        return -EINVAL;
    return 0;
}

static int add_segment(struct elf_executable *executable, const struct elf_program *program,
                       uint64_t file_size)
{
    if (executable->count == ELF_SEGMENTS_MAX)
        return -EINVAL;
    if (program->offset > file_size || program->file_size > file_size - program->offset ||
        program->file_size > program->size)
        return -EINVAL;
    if (program->address < USER_BASE || program->address >= USER_MMAP_BASE ||
        program->size > USER_MMAP_BASE - program->address)
        return -EINVAL;
    if ((program->address ^ program->offset) & (TARN_PAGE_SIZE - 1))
        return -EINVAL;
    if ((program->flags & ELF_W) && (program->flags & ELF_X))
        return -EINVAL;
    uint64_t low = page_down(program->address), high = page_up(program->address + program->size);
    for (unsigned i = 0; i < executable->count; i++) {
        const struct elf_segment *other = &executable->segment[i];
        if (low < page_up(other->address + other->size) && page_down(other->address) < high)
            return -EINVAL;
    }
    executable->segment[executable->count++] = (struct elf_segment){
        .address = program->address,
        .offset = program->offset,
        .file_size = program->file_size,
        .size = program->size,
        .flags = ((program->flags & ELF_R) ? MAP_READ : 0) | ((program->flags & ELF_W) ? MAP_WRITE : 0) |
                 ((program->flags & ELF_X) ? MAP_EXECUTE : 0),
    };
    return 0;
}

int elf_parse(const void *bytes, uint64_t header_size, uint64_t file_size, const void *own,
              struct elf_executable *executable)
{
    struct elf_header header;
    uint64_t low = ~0ull, high = 0;
    *executable = (struct elf_executable){0};
    if (header_size < sizeof(header) || file_size < header_size)
        return -ENOEXEC;
    memcpy(&header, bytes, sizeof(header));
    int error = check_header(&header, header_size, own);
    for (unsigned i = 0; !error && i < header.segment_count; i++) {
        struct elf_program program;
        memcpy(&program, (const char *)bytes + header.segments + i * sizeof(program), sizeof(program));
        if (program.type == TRACE_SITES_ELF_TYPE) {
            executable->sites_address = program.address;
            executable->sites_size = program.size;
        }
        if (program.type != ELF_LOAD || program.size == 0)
            continue;
        error = add_segment(executable, &program, file_size);
        if (page_down(program.address) < low)
            low = page_down(program.address);
        if (page_up(program.address + program.size) > high)
            high = page_up(program.address + program.size);
    }
    if (error)
        return error;
    if (!executable->count)
        return -EINVAL;
    executable->entry = header.entry;
    executable->base = low;
    executable->size = high - low;
    return header.entry >= low && header.entry < high ? 0 : -EINVAL;
}
