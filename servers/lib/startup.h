/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/lib/startup.h - lays out the startup block that a new program finds on its stack.
 */
#ifndef SERVERS_LIB_STARTUP_H
#define SERVERS_LIB_STARTUP_H

#include <tarn/abi.h>

struct startup_arguments {
    uint32_t pid, parent_pid;
    uint32_t argc, envc;
    uint32_t fd_count;
    const char *strings; /* argc + envc strings, one after the other, each with its NUL */
    uint64_t strings_size;
    const struct startup_fd *fds;
    const char *cwd, *path;
    uint64_t image_base, image_size;
    uint64_t stack_low, stack_high;
    uint64_t affinity; /* processors, a bit each; 0 = all */
    uint32_t priority; /* set by program_start */
};

uint64_t startup_size(const struct startup_arguments *arguments); /* bytes, a multiple of 16 */

/* Fills `block` (startup_size bytes, zeroed) so that it is valid at `address` in the new space: struct
 * startup first. The strings must be as announced. */
void startup_fill(const struct startup_arguments *arguments, void *block, uint64_t address);

/* Are there exactly `count` strings in these bytes? */
int startup_check_strings(const char *strings, uint64_t size, uint64_t count);

#endif
