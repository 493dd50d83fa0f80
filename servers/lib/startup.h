/* startup.h - lays out the startup block on a new program's stack. */
#pragma once

#include <tarn/abi.h>

struct startup_arguments {
    uint32_t pid, parent_pid;
    uint32_t argc, envc;
    uint32_t fd_count;
    const char *strings; /* argc + envc strings, each with its NUL */
    uint64_t strings_size;
    const struct startup_fd *fds;
    const char *cwd, *path;
    uint64_t executable_base, executable_size;
    uint64_t stack_low, stack_high;
    uint64_t affinity; /* CPUs, one bit each; 0 = all */
    uint32_t priority; /* set by program_start */
};

uint64_t startup_size(const struct startup_arguments *arguments); /* bytes, a multiple of 16 */

/* Fills `block` (startup_size bytes, zeroed) for use at `address` in the new space, beginning with struct
 * startup. `strings` must hold argc + envc strings. */
void startup_fill(const struct startup_arguments *arguments, void *block, uint64_t address);
