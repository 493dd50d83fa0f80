/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory_core.c - memory from a dump: a 64-bit ELF core in either byte order, whose program headers have the
 * physical addresses. QEMU's dump-guest-memory writes it, with or without paging.
 */
#include <gelf.h>
#include <tools/tarn/source/memory.h>

#define SEGMENTS_MAX (1u << 20)

static bool read_segments(struct memory *memory, Elf *elf, struct fail *fail)
{
    GElf_Ehdr header;
    GElf_Phdr segment;
    size_t count;

    if (elf == NULL || elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == NULL)
        return fail_set(fail, "not an ELF file; QEMU's dump-guest-memory writes one by default");
    if (gelf_getclass(elf) != ELFCLASS64 || header.e_type != ET_CORE)
        return fail_set(fail, "not a memory dump (64-bit ELF core)");
    if (elf_getphdrnum(elf, &count) != 0 || count > SEGMENTS_MAX)
        return fail_set(fail, "its program headers are invalid");
    for (size_t i = 0; i < count; i++) {
        if (gelf_getphdr(elf, (int)i, &segment) == NULL)
            return fail_set(fail, "its program headers are invalid");
        if (segment.p_type != PT_LOAD || segment.p_offset >= memory->size)
            continue;
        /* use as much of a truncated dump as exists */
        uint64_t left = memory->size - segment.p_offset,
                 bytes = segment.p_filesz < left ? segment.p_filesz : left;
        memory_add_range(memory, (struct memory_range){segment.p_paddr, bytes, segment.p_offset});
    }
    memory_settle_ranges(memory);
    return memory->range_count > 0 || fail_set(fail, "it contains no memory");
}

static bool core_begin(struct memory *memory, struct fail *fail)
{
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(memory->fd, ELF_C_READ, NULL);
    bool ok = read_segments(memory, elf, fail);
    elf_end(elf);
    return ok;
}

const struct memory_class memory_core = {.begin = core_begin};
