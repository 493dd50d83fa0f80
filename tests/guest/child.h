/*
 * child.h - spaces of a test, made by system calls without proc, so that a test can do to them what proc
 * never does to a process.
 *
 * A child runs functions of the test program: it has the program's text, a private copy of its data as of
 * child_prepare(), and stacks. It has no C library: no thread pointer, errno, malloc or printf. Its functions
 * may only use system calls, ipc stubs and trace functions, and end with sys_thread_exit or sys_space_kill.
 */
#pragma once

#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <tarn/runtime.h>

#define CHILD_STACK_BYTES 0x4000ull
/* Stack i ends at CHILD_STACKS + (i + 1) * CHILD_STACK_BYTES. */
#define CHILD_STACKS      0x0000000800000000ull
#define CHILD_STACKS_MAX  64u
/* Where a child has what it shares with the test, if it does. */
#define CHILD_SHARED      0x0000000900000000ull

struct child {
    cap_t space;
    cap_t ended; /* notification: the space's watcher; the first stays, so a child cannot set another one */
    uint32_t threads;
};

void child_prepare(void); /* once, before the first child; exits on failure */
/* Makes a space with text, data, stacks, and its own
 * capability at SLOT_SPACE (all rights). Returns 0 or -E_*. */
int child_create(struct child *child, const char *name);
/* Makes a suspended thread in it that begins at `entry(arg)`. Returns its slot in this process, or -E_*. */
int64_t child_thread(struct child *child, void (*entry)(uint64_t), uint64_t arg, uint32_t priority,
                     uint64_t affinity);
/* The same, but resumed; our capability to it is closed. */
int child_start(struct child *child, void (*entry)(uint64_t), uint64_t arg);
/* Makes a thread that runs there. Returns our capability to it. */
cap_t child_run(struct child *child, void (*entry)(uint64_t), uint64_t arg, uint32_t priority,
                uint64_t affinity);
/* Maps memory into the child at this address; ends the test on failure. */
void child_map(const struct child *child, cap_t memory, uint64_t address, uint64_t size, uint32_t flags);
/* Copies one of our capabilities to a slot of the child. */
int child_give(const struct child *child, cap_t own, cap_t slot, uint32_t rights);
/* Kills it, waits until all its resources are freed, and closes it. */
void child_end(struct child *child);

/* The result, without which the test cannot go on. */
static inline cap_t must(int64_t result)
{
    if (result < 0) {
        printf("Bail out! %s\n", tarn_error_text((int)result));
        exit(1);
    }
    return (cap_t)result;
}
