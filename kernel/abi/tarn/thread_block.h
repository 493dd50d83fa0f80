/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/abi/tarn/thread_block.h - what a thread may know about itself without asking.
 *
 * One per thread, written by the kernel, mapped read-only at USER_THREAD_BLOCKS. While the thread runs the
 * port's thread-block register points here (x86_64: GS base), so that logging finds the processor's trace
 * window in one load that migration cannot make unsafe. struct cpu in the kernel begins with the same
 * struct, so kernel code logs through the same source.
 */
#ifndef TARN_THREAD_BLOCK_H
#define TARN_THREAD_BLOCK_H

#define THREAD_BLOCK_WINDOW 8
#ifndef __ASSEMBLER__
#include <stdint.h>

struct thread_block {
    uint64_t self;   /* user address of this block; in struct cpu: the kernel's address of it */
    uint64_t window; /* trace window of the processor that it runs on */
    uint32_t cpu;
    uint32_t pid;
    uint32_t tid;
    uint32_t reserved0;
    char name[16];
    uint64_t reserved[10];
};
_Static_assert(sizeof(struct thread_block) == 128, "32 thread blocks fill a page");
_Static_assert(__builtin_offsetof(struct thread_block, window) == THREAD_BLOCK_WINDOW, "known to assembly");
#endif

#endif
