/*
 * startup.c - builds the startup block: struct startup, argv, envp, open files, strings. Pointers in it are
 * addresses of the new space.
 */
#include "startup.h"
#include <string.h>

static uint64_t align8(uint64_t size)
{
    return (size + 7) & ~7ull;
}

static uint64_t pointers_size(const struct startup_arguments *arguments)
{
    return (arguments->argc + 1ull + arguments->envc + 1ull) * sizeof(char *);
}

uint64_t startup_size(const struct startup_arguments *arguments)
{
    uint64_t size = align8(sizeof(struct startup)) + pointers_size(arguments) +
                    arguments->fd_count * sizeof(struct startup_fd) + arguments->strings_size +
                    strlen(arguments->cwd) + 1 + strlen(arguments->path) + 1;
    return (size + 15) & ~15ull;
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

void startup_fill(const struct startup_arguments *arguments, void *memory, uint64_t address)
{
    char *block = memory;
    uint64_t argv = align8(sizeof(struct startup));
    uint64_t envp = argv + (arguments->argc + 1ull) * sizeof(char *);
    uint64_t fds = argv + pointers_size(arguments);
    uint64_t strings = fds + arguments->fd_count * sizeof(struct startup_fd);
    uint64_t cwd = strings + arguments->strings_size;
    uint64_t path = cwd + strlen(arguments->cwd) + 1;
    memcpy(block + strings, arguments->strings, arguments->strings_size);
    strcpy(block + cwd, arguments->cwd);
    strcpy(block + path, arguments->path);
    memcpy(block + fds, arguments->fds, arguments->fd_count * sizeof(struct startup_fd));
    uint64_t next = fill_pointers(block, address, (char **)(block + argv), arguments->argc, strings);
    fill_pointers(block, address, (char **)(block + envp), arguments->envc, next);
    *(struct startup *)block = (struct startup){
        .magic = STARTUP_MAGIC,
        .pid = arguments->pid,
        .parent_pid = arguments->parent_pid,
        .argc = (int32_t)arguments->argc,
        .argv = (char **)(uintptr_t)(address + argv),
        .envp = (char **)(uintptr_t)(address + envp),
        .fd_count = arguments->fd_count,
        .fds = (struct startup_fd *)(uintptr_t)(address + fds),
        .cwd = (const char *)(uintptr_t)(address + cwd),
        .path = (const char *)(uintptr_t)(address + path),
        .executable_base = arguments->executable_base,
        .executable_size = arguments->executable_size,
        .stack_low = arguments->stack_low,
        .stack_high = arguments->stack_high,
        .affinity = arguments->affinity,
        .priority = arguments->priority,
    };
}
