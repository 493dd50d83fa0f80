/*
 * loader.c - loads sbin/init from the boot archive: maps its ELF segments, registers its trace
 * points, and gives it a stack, a startup block and the capabilities from which all others are derived.
 *
 * The archive is from our build, so an error in it is a panic. init and proc load all other programs, and
 * validate them (servers/lib/elf.c).
 */
#include <arch/boot.h>
#include <arch/machine.h>
#include <base/elf.h>
#include <kernel/kernel.h>
#include <kernel/object/cap_table.h>
#include <kernel/sched/thread.h>
#include <kernel/space/memory.h>
#include <kernel/space/space.h>
#include <kernel/syscall/machine.h>
#include <tarn/syscall_kernel.h>
#include <tarn/trace_control.h>

#define INIT_PATH   "sbin/init"
#define STACK_BYTES 0x40000ull

/* ---- The program ---- */

#define ELF_OWN_ORDER (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 2 : 1)

static struct memory *make_memory(uint64_t size)
{
    struct memory *memory = memory_new(MEMORY_ZERO, size);
    if (!memory)
        panic("no memory for init: give the machine more");
    return memory;
}

static void write_memory(struct memory *memory, uint64_t offset, const void *data, uint64_t size)
{
    if (memory_copy(memory, offset, (void *)data, size, MEMORY_IN) != (int64_t)size)
        panic("no memory for init: give the machine more");
}

static uint64_t map_memory(struct space *space, struct memory *memory, uint64_t address, uint64_t size,
                           uint32_t flags)
{
    int64_t result = space_map(space, memory, address, size, 0, flags, MAP_READ | MAP_WRITE | MAP_EXECUTE);
    memory_put(memory); /* the mapping has its own reference */
    if (result < 0)
        panic("cannot map init at %llx: error %lld", (unsigned long long)address, (long long)result);
    return (uint64_t)result;
}

static void map_segment(struct space *space, const char *file, const struct elf_program *segment)
{
    uint64_t start = segment->address & ~(FRAME_SIZE - 1);
    uint64_t end = (segment->address + segment->size + FRAME_SIZE - 1) & ~(FRAME_SIZE - 1);
    struct memory *memory = make_memory(end - start);
    write_memory(memory, segment->address - start, file + segment->offset, segment->file_size);
    uint32_t flags = MAP_READ | MAP_FIXED;
    flags |= segment->flags & ELF_X ? MAP_EXECUTE : segment->flags & ELF_W ? MAP_WRITE : 0;
    map_memory(space, memory, start, end - start, flags);
}

/* The byte order comes first: in the other one, no number has a meaning. */
static void check_header(const struct elf_header *header, uint64_t size)
{
    if (size < sizeof *header || memcmp(header->ident, "\177ELF\2", 5))
        panic("%s is no 64-bit ELF program", INIT_PATH);
    if (header->ident[ELF_BYTE_ORDER] != ELF_OWN_ORDER || header->machine != ARCH_ELF_MACHINE ||
        header->flags != ARCH_ELF_FLAGS)
        panic("%s is of another machine: give this one an archive built for " ARCH_NAME, INIT_PATH);
    if (header->segments + header->segment_count * sizeof(struct elf_program) > size)
        panic("%s is cut off", INIT_PATH);
}

/* Their extent goes into the startup block. */
static uint64_t map_program(struct space *space, const char *file, uint64_t size, struct startup *startup)
{
    const struct elf_header *header = (const void *)file;
    check_header(header, size);
    const struct elf_program *segment = (const void *)(file + header->segments), *sites = NULL;
    uint64_t low = ~0ull, high = 0;
    for (unsigned i = 0; i < header->segment_count; i++) {
        if (segment[i].type == TRACE_SITES_ELF_TYPE)
            sites = &segment[i];
        if (segment[i].type != ELF_LOAD || segment[i].size == 0)
            continue;
        if (segment[i].offset + segment[i].file_size > size)
            panic("%s is cut off", INIT_PATH);
        map_segment(space, file, &segment[i]);
        low = segment[i].address < low ? segment[i].address : low;
        high = segment[i].address + segment[i].size > high ? segment[i].address + segment[i].size : high;
    }
    if (sites && sites->size && sys_trace_sites(space, header->entry, sites->address, sites->size))
        panic("the table of trace points of %s is wrong", INIT_PATH);
    startup->executable_base = low;
    startup->executable_size = high - low;
    return header->entry;
}

/* From the top down: name and argv, the startup block, the first frame. */
static uint64_t map_stack(struct space *space, struct startup *startup)
{
    static const char name[16] = INIT_PATH;
    struct memory *memory = make_memory(STACK_BYTES);
    memory_get(memory);
    uint64_t low = map_memory(space, memory, 0, STACK_BYTES, MAP_READ | MAP_WRITE);
    uint64_t name_at = STACK_BYTES - sizeof name, argv_at = name_at - 2 * sizeof(char *);
    uint64_t startup_at = (argv_at - sizeof *startup) & ~15ull;
    uint64_t argv[2] = {low + name_at, 0};
    startup->magic = STARTUP_MAGIC;
    startup->pid = space->pid;
    startup->argc = 1;
    startup->argv = (char **)(low + argv_at);
    startup->path = (const char *)(low + name_at);
    startup->stack_low = low;
    startup->stack_high = low + STACK_BYTES;
    startup->priority = TARN_PRIO_SERVER;
    write_memory(memory, name_at, name, sizeof name);
    write_memory(memory, argv_at, argv, sizeof argv);
    write_memory(memory, startup_at, startup, sizeof *startup);
    memory_put(memory);
    return low + startup_at;
}

static void give(struct space *space, cap_t slot, enum cap_type type, void *object, uint32_t rights)
{
    object_get(type, object);
    if (cap_insert(&space->caps, slot, type, object, rights, 0) < 0)
        panic("no memory for init's capabilities");
}

/* Its space, sbin/init of the boot archive, its capabilities. Panics with advice if that fails. */
void loader_start_init(void)
{
    if (boot_info.archive_size == 0)
        panic("no boot archive: start QEMU with -initrd, or GRUB with a module");
    uint64_t size;
    const char *file = archive_file(INIT_PATH, &size);
    if (!file)
        panic("no " INIT_PATH
              " in the boot archive (%llu bytes): give the machine the archive that the build made",
              (unsigned long long)boot_info.archive_size);
    struct space *space = space_new("init", 0, 0, true);
    if (!space)
        panic("no memory for init: give the machine more");

    struct startup startup = {0};
    struct thread_config config = {.priority = TARN_PRIO_SERVER, .name = "init"};
    config.entry = map_program(space, file, size, &startup);
    config.arg = map_stack(space, &startup);
    config.stack = config.arg;
    int error;
    struct thread *thread = thread_new(space, &config, &error);
    if (!thread)
        panic("cannot start init: error %d", error);

    struct memory *memory = memory_new_at(MEMORY_CONTIGUOUS, boot_info.archive_base, boot_info.archive_size);
    if (!memory)
        panic("no memory for the boot archive's object");
    give(space, SLOT_SPACE, CAP_SPACE, space, RIGHT_ALL);
    give(space, SLOT_THREAD, CAP_THREAD, thread, RIGHT_ALL);
    give(space, SLOT_TRACE, CAP_TRACE, trace_object, RIGHT_ALL);
    give(space, SLOT_MACHINE, CAP_MACHINE, machine_object, RIGHT_ALL);
    give(space, SLOT_BOOT_ARCHIVE, CAP_MEMORY, memory, RIGHT_ALL);
    memory_put(memory);
    sys_thread_resume(thread);
    thread_put(thread);
    space_put(space);
}
