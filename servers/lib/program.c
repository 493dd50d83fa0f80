/*
 * program.c - creates processes. Interface: program.h.
 *
 * Read-only segments are mapped from the executable's memory object and shared by all processes that run it.
 * Pages of a writable segment that the file fills completely are mapped copy-on-write. The last, partly
 * filled page and the zeros after it are a new memory object. The kernel learns where the executable's trace
 * points are: that needs SLOT_TRACE.
 */
#include "program.h"
#include "elf.h"
#include "server.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>
#include <trace/process.h>

#define PAGE_MASK (TARN_PAGE_SIZE - 1)

const char *path_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void copy_name(char name[TARN_NAME_BYTES], const char *path)
{
    strncpy(name, path_basename(path), TARN_NAME_BYTES - 1);
    name[TARN_NAME_BYTES - 1] = 0;
}

int program_create(const char *path, uint32_t parent, struct program *program)
{
    char name[TARN_NAME_BYTES];
    *program = (struct program){0};
    copy_name(name, path);
    int64_t space = sys_space_create(name, parent);
    if (space < 0)
        return errno_of(space);
    program->space = (cap_t)space;
    int64_t pid = sys_space_info(program->space);
    if (pid < 0)
        return errno_of(pid);
    program->pid = (uint32_t)pid;
    return program_give(program, program->space, SLOT_SPACE, RIGHT_ALL, 0);
}

int program_give(const struct program *program, cap_t own, cap_t slot, uint32_t rights, uint64_t badge)
{
    int64_t result = sys_cap_copy(program->space, own, slot, rights, badge);
    return result < 0 ? errno_of(result) : 0;
}

/* ---- loading the executable ------------------------------------------------------------------------ */

static int map_pages(const struct program *program, cap_t memory, uint64_t address, uint64_t size,
                     uint64_t offset, uint32_t flags)
{
    int64_t result =
        size ? sys_space_map(program->space, memory, address, size, offset, flags | MAP_FIXED) : 0;
    return result < 0 ? errno_of(result) : 0;
}

/* Maps a new object at [address, address + size) that begins with bytes of the executable. */
static int map_fresh(const struct program *program, cap_t executable, uint64_t address, uint64_t size,
                     uint64_t offset, uint64_t bytes, uint32_t flags)
{
    char page[TARN_PAGE_SIZE];
    if (!size)
        return 0;
    int64_t memory = sys_memory_create(size);
    if (memory < 0)
        return errno_of(memory);
    int64_t result = 0;
    if (bytes)
        result = sys_memory_read(executable, offset, page, bytes);
    if (bytes && result >= 0)
        result = memory_write_all((cap_t)memory, 0, page, bytes);
    int error = result < 0 ? errno_of(result) : map_pages(program, (cap_t)memory, address, size, 0, flags);
    sys_cap_close((cap_t)memory); /* the mapping keeps it */
    return error;
}

static int map_segment(const struct program *program, cap_t executable, const struct elf_segment *segment)
{
    uint64_t low = segment->address & ~PAGE_MASK;
    uint64_t offset = segment->offset & ~PAGE_MASK;
    uint64_t high = (segment->address + segment->size + PAGE_MASK) & ~PAGE_MASK;
    uint64_t file_end = segment->address + segment->file_size;
    if (!(segment->flags & MAP_WRITE) && segment->file_size == segment->size)
        return map_pages(program, executable, low, high - low, offset, segment->flags);

    /* Full pages of file contents. */
    uint64_t whole = segment->file_size ? (file_end & ~PAGE_MASK) - low : 0;
    int error = map_pages(program, executable, low, whole, offset, segment->flags | MAP_PRIVATE);
    if (error)
        return error;
    uint64_t bytes = segment->file_size ? file_end & PAGE_MASK : 0;
    return map_fresh(program, executable, low + whole, high - low - whole, offset + whole, bytes,
                     segment->flags);
}

int program_load(struct program *program, cap_t executable, uint64_t file_size)
{
    extern const char __executable_start[]; /* our own ELF header, from arch/user.ld */
    char header[ELF_HEADER_BYTES] __attribute__((aligned(8)));
    struct elf_executable elf;
    uint64_t header_size = file_size < sizeof(header) ? file_size : sizeof(header);
    int64_t result = header_size ? sys_memory_read(executable, 0, header, header_size) : 0;
    if (result < 0)
        return errno_of(result);
    int error = elf_parse(header, header_size, file_size, __executable_start, &elf);
    for (unsigned i = 0; !error && i < elf.count; i++)
        error = map_segment(program, executable, &elf.segment[i]);
    if (!error && elf.sites_size)
        error = errno_of(
            sys_trace_sites(SLOT_TRACE, program->space, elf.entry, elf.sites_address, elf.sites_size));
    program->entry = elf.entry;
    program->executable_base = elf.base;
    program->executable_size = elf.size;
    return error;
}

/* ---- first thread ---------------------------------------------------------------------------------- */

static uint64_t align(uint64_t size, uint64_t to)
{
    return (size + to - 1) & ~(to - 1);
}

/* Fills `array` with pointers to the `count` strings that begin at `offset` of the block, and a final NULL.
 * Returns the offset after the strings. */
static uint64_t fill_pointers(char *block, uint64_t address, char **array, uint32_t count, uint64_t offset)
{
    for (uint32_t i = 0; i < count; i++) {
        array[i] = (char *)(uintptr_t)(address + offset);
        offset += strlen(block + offset) + 1;
    }
    array[count] = NULL;
    return offset;
}

/* Lays out the startup block that ends at PROGRAM_STACK_HIGH: struct startup, argv, envp, open files,
 * strings. Pointers in it are addresses of the new space. Returns it, to be freed, or NULL. */
static char *make_block(const struct startup_arguments *arguments, uint64_t *size)
{
    const struct startup *from = &arguments->block;
    const uint64_t fds_size = from->fd_count * sizeof(struct startup_fd);
    uint64_t argv = align(sizeof(struct startup), 8),
             envp = argv + ((uint64_t)from->argc + 1) * sizeof(char *);
    uint64_t fds = envp + (arguments->envc + 1ull) * sizeof(char *), strings = fds + fds_size;
    uint64_t cwd = strings + arguments->strings_size, path = cwd + strlen(from->cwd) + 1;
    *size = align(path + strlen(from->path) + 1, 16);
    char *block = calloc(1, *size);
    if (!block)
        return NULL;
    uint64_t address = PROGRAM_STACK_HIGH - *size;
    memcpy(block + strings, arguments->strings, arguments->strings_size);
    strcpy(block + cwd, from->cwd);
    strcpy(block + path, from->path);
    memcpy(block + fds, from->fds, fds_size);
    uint64_t next = fill_pointers(block, address, (char **)(block + argv), (uint32_t)from->argc, strings);
    fill_pointers(block, address, (char **)(block + envp), arguments->envc, next);
    struct startup *startup = (struct startup *)block;
    *startup = *from;
    startup->magic = STARTUP_MAGIC;
    startup->argv = (char **)(uintptr_t)(address + argv);
    startup->envp = (char **)(uintptr_t)(address + envp);
    startup->fds = (struct startup_fd *)(uintptr_t)(address + fds);
    startup->cwd = (const char *)(uintptr_t)(address + cwd);
    startup->path = (const char *)(uintptr_t)(address + path);
    return block;
}

/* Maps the stack with the startup block at its top and stores the block's address in *address. */
static int make_stack(const struct program *program, const struct startup_arguments *arguments,
                      uint64_t *address)
{
    uint64_t size;
    char *block = make_block(arguments, &size);
    if (!block)
        return -ENOMEM;
    *address = PROGRAM_STACK_HIGH - size;
    int64_t memory = size > PROGRAM_STACK_BYTES / 4 ? 0 : sys_memory_create(PROGRAM_STACK_BYTES);
    int64_t result = memory;
    if (memory > 0)
        result = memory_write_all((cap_t)memory, PROGRAM_STACK_BYTES - size, block, size);
    free(block);
    int error = memory == 0  ? -E2BIG
                : result < 0 ? errno_of(result)
                             : map_pages(program, (cap_t)memory, arguments->block.stack_low,
                                         PROGRAM_STACK_BYTES, 0, MAP_READ | MAP_WRITE);
    if (memory > 0)
        sys_cap_close((cap_t)memory);
    return error;
}

int program_start(struct program *program, struct startup_arguments *arguments, uint32_t priority)
{
    struct startup *block = &arguments->block;
    struct thread_config config = {
        .entry = program->entry, .priority = priority, .affinity = block->affinity};
    block->executable_base = program->executable_base;
    block->executable_size = program->executable_size;
    block->stack_high = PROGRAM_STACK_HIGH;
    block->stack_low = PROGRAM_STACK_HIGH - PROGRAM_STACK_BYTES;
    block->priority = priority;
    int error = make_stack(program, arguments, &config.arg);
    if (error)
        return error;
    config.stack = config.arg;
    copy_name(config.name, block->path);
    int64_t thread = sys_thread_create(program->space, &config);
    if (thread < 0)
        return errno_of(thread);
    program->thread = (cap_t)thread;
    error = program_give(program, program->thread, SLOT_THREAD, RIGHT_ALL, 0);
    if (error)
        return error;
    trace_process_exec(program->pid, program->entry, block->path);
    int64_t result = sys_thread_resume(program->thread);
    return result < 0 ? errno_of(result) : 0;
}

void program_discard(struct program *program)
{
    if (program->thread)
        sys_cap_close(program->thread);
    if (program->space) {
        sys_space_kill(program->space, -1);
        sys_cap_close(program->space);
    }
    program->space = program->thread = 0;
}
