/*
 * arch/runtime.h (x86_64) - what libc-glue needs of a port besides system calls: thread-local variables, the
 * current thread, spinning, walking the stack. arch/x86_64/user/ has the first instructions.
 *
 * Thread-local variables follow variant II of the ELF rules: they end at the thread pointer (FS base), and
 * the word there holds its own address.
 *
 *     block                                            tp
 *     | alignment slack | copy of .tdata | zeroes (.tbss) | tp |
 */
#pragma once

#include <stdint.h>
#include <tarn/abi.h>
#include <tarn/thread_block.h>

static inline uint64_t arch_tls_align(uint64_t align)
{
    return align < 16 ? 16 : align;
}

/* Size of a block for variables of `size` bytes with that alignment. */
static inline uint64_t arch_tls_bytes(uint64_t size, uint64_t align)
{
    return size + 2 * arch_tls_align(align) + 16;
}

/* Returns the thread pointer for a block, and in *variables the place of the copy of .tdata. */
static inline uint64_t arch_tls_place(void *block, uint64_t size, uint64_t align, void **variables)
{
    uint64_t mask = arch_tls_align(align) - 1;
    uint64_t pointer = ((uint64_t)block + size + 2 * mask) & ~mask;
    *(uint64_t *)pointer = pointer;
    *variables = (void *)(pointer - ((size + align - 1) & ~(align - 1)));
    return pointer;
}

static inline void arch_set_thread_pointer(uint64_t pointer)
{
    __asm__ volatile("wrfsbase %0" : : "r"(pointer) : "memory");
}

/* The current thread's block, kept up to date by the kernel. */
static inline const struct thread_block *arch_thread_block(void)
{
    const struct thread_block *block;
    __asm__("movq %%gs:0, %0" : "=r"(block));
    return block;
}

static inline void arch_spin_pause(void)
{
    __asm__ volatile("pause" : : : "memory");
}

/* The initial stack pointer of a thread that begins in a C function, on a stack that ends at `top`, a
 * multiple of 16: as after a call. */
static inline uint64_t arch_stack_start(uint64_t top)
{
    return top - 8;
}

/* Fills in return addresses from the caller's frame on, innermost first, while frames lie within [low, high)
 * and go outward; returns their number. */
static inline uint64_t arch_walk_stack(uint64_t low, uint64_t high, uint64_t *chain, uint64_t max)
{
    uint64_t count = 0;
    const uint64_t *frame = __builtin_frame_address(0);
    while (count < max && (uint64_t)frame >= low && (uint64_t)frame + 16 <= high && !((uint64_t)frame & 7)) {
        if (!frame[1])
            break;
        chain[count++] = frame[1];
        if (frame[0] <= (uint64_t)frame)
            break;
        frame = (const uint64_t *)frame[0];
    }
    return count;
}

/* The first return address of such a chain, of `max` at most, that lies outside of [first, last); 0: there is
 * none. */
static inline __attribute__((always_inline)) uint64_t arch_find_caller(uint64_t low, uint64_t high,
                                                                       uint64_t first, uint64_t last,
                                                                       uint64_t max)
{
    const uint64_t *frame = __builtin_frame_address(0);
    uint64_t address = frame[1];
    while (address - first < last - first && --max > 0) {
        const uint64_t outer = frame[0];
        if (outer <= (uint64_t)frame || outer < low || outer > high - 16)
            break;
        frame = (const uint64_t *)outer;
        address = frame[1];
    }
    return address;
}

void arch_thread_entry(void); /* entry of libc-glue's threads; passes its argument to run_thread() */
/* Unmaps the stack that the caller runs on and ends the thread. */
void arch_thread_leave(cap_t space, uint64_t address, uint64_t size) __attribute__((noreturn));
