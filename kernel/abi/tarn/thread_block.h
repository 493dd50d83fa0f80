/*
 * thread_block.h - what a thread can read about itself without a system call.
 *
 * The kernel writes the block; the thread sees it read-only, at USER_THREAD_BLOCKS. While the thread runs,
 * the port's thread-block register points to it (x86_64: GS base), so the logging path finds the CPU's
 * trace ring with one load that migration cannot make unsafe. struct cpu begins with the same struct, so
 * the kernel shares the logging path's source.
 */
#pragma once

#define THREAD_BLOCK_RING 8
#ifndef __ASSEMBLER__
#include <stdint.h>

struct thread_block {
    uint64_t self; /* address of this block: of user space, or in struct cpu of the kernel */
    uint64_t ring; /* trace ring of the CPU that the thread runs on */
    uint32_t cpu;
    uint32_t pid;
    uint32_t tid;
    uint32_t reserved0;
    char name[16];
    uint64_t reserved[10];
};
_Static_assert(sizeof(struct thread_block) == 128, "32 thread blocks fill a page");
_Static_assert(__builtin_offsetof(struct thread_block, ring) == THREAD_BLOCK_RING, "known to assembly");
#endif
