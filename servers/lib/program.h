/*
 * program.h - creates a process from an executable in a memory object. Used by init and proc.
 *
 *     program_create -> program_load -> (capabilities for it: program_give) -> program_start
 *
 * program_discard undoes everything at any point.
 */
#pragma once

#include <stdint.h>
#include <tarn/abi.h>

#define PROGRAM_STACK_BYTES 0x100000ull /* demand-zero; the addresses below stay unmapped */
#define PROGRAM_STACK_HIGH  (USER_MMAP_BASE - 0x100000ull)

struct program {
    cap_t space, thread;
    uint32_t pid;
    uint64_t entry, executable_base, executable_size;
};

/* What a new program finds in its startup block. */
struct startup_arguments {
    /* Pointers: fds, cwd and path, of the caller. program_start() fills in what is about executable, stack
     * and strings. */
    struct startup block;
    uint32_t envc;
    const char *strings; /* argc + envc strings, each with its NUL */
    uint64_t strings_size;
};

/* These return 0 or -errno. `parent`: pid of the process that starts it; 0: the caller. */
int program_create(const char *path, uint32_t parent, struct program *program);
int program_load(struct program *program, cap_t executable, uint64_t file_size);
/* Copies a capability of the caller to a slot of the new space. */
int program_give(const struct program *program, cap_t own, cap_t slot, uint32_t rights, uint64_t badge);
/* Makes the stack and the first thread (SLOT_THREAD) and starts it. */
int program_start(struct program *program, struct startup_arguments *arguments, uint32_t priority);
void program_discard(struct program *program);

const char *path_basename(const char *path);
