/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory_core.c - memory from a dump: a 64-bit ELF core in either byte order, whose program headers have the
 * physical addresses. QEMU's dump-guest-memory writes it, with or without paging.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tools/tarn/source/memory.h>
#include <unistd.h>

#define SEGMENTS_MAX (1u << 20)

struct core {
    struct memory memory; /* first: memory is cast to this */
    int fd;
    uint64_t size;
    bool swap; /* not in host byte order */
};

static bool read_at(const struct core *core, uint64_t place, void *to, size_t bytes)
{
    while (bytes > 0) {
        ssize_t got = pread(core->fd, to, bytes, (off_t)place);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        place += (uint64_t)got, bytes -= (size_t)got;
        to = (char *)to + got;
    }
    return true;
}

static uint64_t get(const struct core *core, const void *field, unsigned bytes)
{
    uint16_t half;
    uint32_t word;
    uint64_t whole;

    if (bytes == 2)
        return memcpy(&half, field, 2), core->swap ? __builtin_bswap16(half) : half;
    if (bytes == 4)
        return memcpy(&word, field, 4), core->swap ? __builtin_bswap32(word) : word;
    return memcpy(&whole, field, 8), core->swap ? __builtin_bswap64(whole) : whole;
}
#define GET(core, field) get(core, &(field), sizeof(field))

/* Very large numbers of program headers are in a section header. */
static bool count_segments(const struct core *core, const Elf64_Ehdr *header, uint64_t *count)
{
    Elf64_Shdr section;

    *count = GET(core, header->e_phnum);
    if (*count != PN_XNUM)
        return true;
    if (!read_at(core, GET(core, header->e_shoff), &section, sizeof(section)))
        return false;
    *count = GET(core, section.sh_info);
    return true;
}

static bool read_segments(struct core *core, const Elf64_Ehdr *header, struct fail *fail)
{
    uint64_t at = GET(core, header->e_phoff), count;

    if (!count_segments(core, header, &count) || count > SEGMENTS_MAX ||
        GET(core, header->e_phentsize) != sizeof(Elf64_Phdr) || at > core->size ||
        count * sizeof(Elf64_Phdr) > core->size - at)
        return fail_set(fail, "its program headers are invalid");
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Phdr segment;
        if (!read_at(core, at + i * sizeof(segment), &segment, sizeof(segment)))
            return fail_set(fail, "its program headers cannot be read");
        uint64_t place = GET(core, segment.p_offset), bytes = GET(core, segment.p_filesz);
        if (GET(core, segment.p_type) != PT_LOAD || place >= core->size)
            continue;
        /* use as much of a truncated dump as exists */
        if (bytes > core->size - place)
            bytes = core->size - place;
        memory_add_range(&core->memory, (struct memory_range){GET(core, segment.p_paddr), bytes, place});
    }
    memory_settle_ranges(&core->memory);
    return core->memory.range_count > 0 || fail_set(fail, "it contains no memory");
}

static bool read_headers(struct core *core, struct fail *fail)
{
    Elf64_Ehdr header;
    struct stat about;

    if (fstat(core->fd, &about) != 0 || !S_ISREG(about.st_mode))
        return fail_set(fail, "not a regular file");
    core->size = (uint64_t)about.st_size;
    if (!read_at(core, 0, &header, sizeof(header)) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return fail_set(fail, "not an ELF file; QEMU's dump-guest-memory writes one by default");
    core->swap =
        header.e_ident[EI_DATA] != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || GET(core, header.e_type) != ET_CORE)
        return fail_set(fail, "not a memory dump (64-bit ELF core)");
    return read_segments(core, &header, fail);
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

    for (size_t i = 0; i < count; i++)
        if (!read_at(core, pieces[i].place, pieces[i].to, pieces[i].bytes))
            return fail_set(fail, "the dump cannot be read: %s", errno ? strerror(errno) : "it is truncated");
    return true;
}

const struct memory_class memory_core = {.open = core_open, .read = core_read, .close = core_close};
