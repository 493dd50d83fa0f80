/* memory.c - ranges of physical memory, for all classes; see memory.h. And memory from a dump, as QEMU's
 * dump-guest-memory writes it. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tools/tarn/out.h>
#include <tools/tarn/source/memory.h>
#include <unistd.h>

struct memory *memory_new(const struct memory_class *class, int fd)
{
    struct memory *memory = alloc_zero(1, sizeof(*memory));
    *memory = (struct memory){.class = class, .fd = fd};
    return memory;
}

/* A FIFO must not block here: it is no memory. */
struct memory *memory_open(const struct memory_class *class, const char *path, struct fail *fail)
{
    struct fail why = {""};
    struct memory *memory;
    struct stat about;
    if (class->open != NULL)
        return class->open(path, fail);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        fail_set(fail, "cannot open %s: %s", path, strerror(errno));
        return NULL;
    }
    memory = memory_new(class, fd);
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        fail_set(&why, "not a regular file");
    } else {
        memory->size = (uint64_t)about.st_size;
        if (class->begin(memory, &why))
            return memory;
    }
    fail_set(fail, "%s: %s", path, why.text);
    memory_close(memory);
    return NULL;
}

void memory_close(struct memory *memory)
{
    if (memory->base != NULL)
        munmap(memory->base, memory->size);
    close(memory->fd);
    free(memory->ranges);
    free(memory);
}

bool memory_read_place(struct memory *memory, uint64_t place, void *to, size_t bytes, struct fail *fail)
{
    if (memory->class->read != NULL)
        return memory->class->read(memory, place, to, bytes, fail);
    errno = 0;
    return file_read_at(memory->fd, to, bytes, memory->begin + place) ||
           fail_set(fail, "the guest's memory cannot be read: %s",
                    errno != 0 ? strerror(errno) : "the file is truncated");
}

void memory_add_range(struct memory *memory, struct memory_range range)
{
    if (range.bytes == 0 || range.bytes > UINT64_MAX - range.physical ||
        range.bytes > UINT64_MAX - range.place)
        return;
    memory->ranges = alloc_more(memory->ranges, memory->range_count + 1, sizeof(range));
    memory->ranges[memory->range_count++] = range;
}

static int compare_ranges(const void *left, const void *right)
{
    const struct memory_range *a = left, *b = right;
    return a->physical != b->physical ? (a->physical < b->physical ? -1 : 1)
                                      : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

void memory_settle_ranges(struct memory *memory)
{
    uint64_t end = 0; /* of all ranges so far */
    size_t kept = 0;
    if (memory->range_count > 0)
        qsort(memory->ranges, memory->range_count, sizeof(memory->ranges[0]), compare_ranges);
    for (size_t i = 0; i < memory->range_count; i++) {
        struct memory_range range = memory->ranges[i];
        uint64_t taken = range.physical < end ? end - range.physical : 0;
        if (taken >= range.bytes)
            continue;
        range.physical += taken, range.place += taken, range.bytes -= taken;
        end = range.physical + range.bytes;
        memory->ranges[kept++] = range;
    }
    memory->range_count = kept;
}

static const struct memory_range *range_of(const struct memory *memory, uint64_t physical)
{
    uint64_t behind = FIRST_WHERE(0, memory->range_count, n, memory->ranges[n].physical > physical);
    const struct memory_range *range = behind > 0 ? &memory->ranges[behind - 1] : NULL;
    return range != NULL && physical - range->physical < range->bytes ? range : NULL;
}

const struct memory_range *memory_find(const struct memory *memory, uint64_t physical, uint64_t bytes)
{
    const struct memory_range *range = range_of(memory, physical);
    return range && bytes <= range->bytes - (physical - range->physical) ? range : NULL;
}

/* Copies words with one load each, in order. */
static void copy_words(const void *from, void *to, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 8) {
        const uint64_t word = __atomic_load_n((const uint64_t *)((const char *)from + at), __ATOMIC_ACQUIRE);
        memcpy((char *)to + at, &word, sizeof(word));
    }
}

bool memory_read(struct memory *memory, uint64_t physical, void *to, size_t bytes, struct fail *fail)
{
    for (size_t part; bytes > 0; physical += part, bytes -= part) {
        const struct memory_range *range = range_of(memory, physical);
        if (!range)
            return fail_set(fail, "there is no memory at physical address %#llx",
                            (unsigned long long)physical);
        const uint64_t inside = physical - range->physical;
        part = sooner(range->bytes - inside, bytes);
        if (to == NULL)
            continue;
        const void *from = memory->live && (physical | part) % 8 == 0
                               ? memory->class->map(memory, range->place + inside, part)
                               : NULL;
        if (from)
            copy_words(from, to, part);
        else if (!memory_read_place(memory, range->place + inside, to, part, fail))
            return false;
        to = (char *)to + part;
    }
    return true;
}

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
