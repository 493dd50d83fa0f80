/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user/test/child.h - spaces of a test's own, made with bare system calls: what proc never does to a process,
 * a test can do to these.
 *
 * A child runs functions of the test program itself: it has the program's text, a private copy of its data as
 * it was at child_prepare(), and stacks. There is no C library in it: no thread pointer, no errno, no malloc,
 * no printf. Its functions use system calls, ipc stubs and trace functions only, and end with sys_thread_exit
 * or sys_space_kill.
 */
#ifndef USER_TEST_CHILD_H
#define USER_TEST_CHILD_H

#include <stdint.h>
#include <tarn/runtime.h>

#define CHILD_STACK_BYTES 0x4000ull
#define CHILD_STACKS      0x0000000800000000ull /* stack i ends at CHILD_STACKS + (i + 1) * CHILD_STACK_BYTES */
#define CHILD_STACKS_MAX  64u

struct child {
    cap_t space;
    uint32_t threads;
};

void child_prepare(void); /* once, before the first child; exits if it cannot */
/* A space with text, data, stacks, and its own capability at SLOT_SPACE (all rights). 0 or -E_*. */
int child_create(struct child *child, const char *name);
/* A thread in it that begins at `entry(arg)`, not resumed yet; its slot here, or -E_*. */
int64_t child_thread(struct child *child, void (*entry)(uint64_t), uint64_t arg, uint32_t priority,
                     uint64_t affinity);
/* The same, running; our capability to it is closed. */
int child_start(struct child *child, void (*entry)(uint64_t), uint64_t arg);
/* A copy of one of our capabilities in the child, at a slot. */
int child_give(const struct child *child, cap_t own, cap_t slot, uint32_t rights);
/* Kills it, waits until everything is given back, closes it. */
void child_end(struct child *child);

/* For children: numbers that differ from run to run only if the seed does. */
static inline uint64_t child_random(uint64_t *state)
{
    *state ^= *state << 13; /* Marsaglia's xorshift */
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
