/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory_core.c - memory from a dump: a 64-bit ELF core in either byte order, whose program headers have the
 * physical addresses. QEMU's dump-guest-memory writes it, with or without paging.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tools/tarn/output.h>
#include <tools/tarn/source/memory.h>
#include <unistd.h>

#define SEGMENTS_MAX (1u << 20)

struct core {
    struct memory memory; /* first: memory is cast to this */
    int fd;
    uint64_t size;
};

static bool read_segments(struct core *core, Elf *elf, struct fail *fail)
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
        if (segment.p_type != PT_LOAD || segment.p_offset >= core->size)
            continue;
        /* use as much of a truncated dump as exists */
        uint64_t left = core->size - segment.p_offset,
                 bytes = segment.p_filesz < left ? segment.p_filesz : left;
        memory_add_range(&core->memory, (struct memory_range){segment.p_paddr, bytes, segment.p_offset});
    }
    memory_settle_ranges(&core->memory);
    return core->memory.range_count > 0 || fail_set(fail, "it contains no memory");
}

static bool read_headers(struct core *core, struct fail *fail)
{
    struct stat about;

    if (fstat(core->fd, &about) != 0 || !S_ISREG(about.st_mode))
        return fail_set(fail, "not a regular file");
    core->size = (uint64_t)about.st_size;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(core->fd, ELF_C_READ, NULL);
    bool ok = read_segments(core, elf, fail);
    elf_end(elf);
    return ok;
}

static void core_close(struct memory *memory)
{
    close(((struct core *)memory)->fd);
    free(memory->ranges);
    free(memory);
}

static struct memory *core_open(const char *address, struct fail *fail)
{
    struct core *core;
    struct fail why = {""};
    /* a FIFO must not block here: it is not a dump */
    int fd = open(address, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) {
        fail_set(fail, "cannot open %s: %s", address, strerror(errno));
        return NULL;
    }
    core = alloc_zero(1, sizeof(*core));
    *core = (struct core){.memory = {.class = &memory_core}, .fd = fd};
    if (read_headers(core, &why))
        return &core->memory;
    fail_set(fail, "%s: %s", address, why.text);
    core_close(&core->memory);
    return NULL;
}

static bool core_read(struct memory *memory, const struct memory_piece *pieces, size_t count,
                      struct fail *fail)
{
    const struct core *core = (struct core *)memory;

    errno = 0;
    for (size_t i = 0; i < count; i++)
        if (!file_read_at(core->fd, pieces[i].to, pieces[i].bytes, pieces[i].place))
            return fail_set(fail, "the dump cannot be read: %s", errno ? strerror(errno) : "it is truncated");
    return true;
}

const struct memory_class memory_core = {.open = core_open, .read = core_read, .close = core_close};
