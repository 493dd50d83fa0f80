/*
 * arch/runtime.h (ppc64) - what libc-glue needs of a port besides system calls: thread-local variables, the
 * current thread, spinning, walking the stack. arch/ppc64/user/ has the first instructions.
 *
 * Thread-local variables follow variant I of the ELF rules: they begin 0x7000 below the thread pointer (r13).
 * The thread control block that the rules put before them is for dynamic linkers and is left out.
 *
 *     block                                                      tp = variables + 0x7000
 *     | alignment slack | copy of .tdata | zeroes (.tbss) | ...
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <tarn/abi.h>
#include <tarn/thread_block.h>

#define ARCH_TLS_BIAS     0x7000ull
#define ARCH_FRAME_HEADER 32ull /* back chain, CR, LR, TOC */

static inline uint64_t arch_tls_align(uint64_t align)
{
    return align < 16 ? 16 : align;
}

/* Size of a block for variables of `size` bytes with that alignment. */
static inline uint64_t arch_tls_bytes(uint64_t size, uint64_t align)
{
    return size + arch_tls_align(align);
}

/* Returns the thread pointer for a block, and in *variables the place of the copy of .tdata. */
static inline uint64_t arch_tls_place(void *block, uint64_t size, uint64_t align, void **variables)
{
    uint64_t mask = arch_tls_align(align) - 1;
    uint64_t start = ((uint64_t)block + mask) & ~mask;
    *variables = (void *)start;
    return start + ARCH_TLS_BIAS;
}

/* The clobber keeps the compiler from forming addresses of variables before it. */
static inline void arch_set_thread_pointer(uint64_t pointer)
{
    __asm__ volatile("mr 13, %0" : : "r"(pointer) : "r13", "memory");
}

/* The current thread's block, kept up to date by the kernel; SPR 815, the target address register, has its
 * address. */
static inline const struct thread_block *arch_thread_block(void)
{
    const struct thread_block *block;
    __asm__("mfspr %0, 815" : "=r"(block));
    return block;
}

/* Lowers the hardware thread's priority; an emulator runs the next vCPU. */
static inline void arch_spin_pause(void)
{
    __asm__ volatile("or 27, 27, 27" : : : "memory");
}

/* The initial stack pointer of a thread that begins in a C function, on a stack that ends at `top`, a
 * multiple of 16: the function stores its return address in its caller's frame header, which must exist. */
static inline uint64_t arch_stack_start(uint64_t top)
{
    return top - ARCH_FRAME_HEADER;
}

/* The next outer frame, or NULL where the back chain ends or leaves [.., high). */
static inline const uint64_t *arch_outer_frame(const uint64_t *frame, uint64_t high)
{
    uint64_t outer = frame[0];
    return outer > (uint64_t)frame && outer <= high - 24 && !(outer & 7) ? (const uint64_t *)outer : NULL;
}

/* Fills in return addresses from the caller's frame on, innermost first, while frames lie within [low, high)
 * and go outward; returns their number. A function stores its return address in its caller's frame, two words
 * above the back chain there; the innermost function's may still be in a register. */
static inline __attribute__((always_inline)) uint64_t arch_walk_stack(uint64_t low, uint64_t high,
                                                                      uint64_t *chain, uint64_t max)
{
    uint64_t count = 0, address = (uint64_t)__builtin_return_address(0);
    const uint64_t *frame = __builtin_frame_address(0),
                   *outer; /* frame: of the function that returns there */
    if ((uint64_t)frame < low || (uint64_t)frame > high - 24)
        return 0;
    while (count < max && address) {
        chain[count++] = address;
        frame = arch_outer_frame(frame, high);
        outer = frame ? arch_outer_frame(frame, high) : NULL;
        if (!outer)
            break;
        address = outer[2];
    }
    return count;
}

/* The first return address of such a chain, of `max` at most, that lies outside of [first, last); 0: there is
 * none. */
static inline __attribute__((always_inline)) uint64_t arch_find_caller(uint64_t low, uint64_t high,
                                                                       uint64_t first, uint64_t last,
                                                                       uint64_t max)
{
    uint64_t address = (uint64_t)__builtin_return_address(0);
    const uint64_t *frame = __builtin_frame_address(0), *outer;
    if ((uint64_t)frame < low || (uint64_t)frame > high - 24)
        return 0;
    frame = arch_outer_frame(frame, high);
    for (; max > 1 && frame && address - first < last - first; max--, frame = outer) {
        outer = arch_outer_frame(frame, high);
        if (!outer || !outer[2])
            break;
        address = outer[2];
    }
    return address;
}

void arch_thread_entry(void); /* entry of libc-glue's threads; passes its argument to run_thread() */
/* Unmaps the stack that the caller runs on and ends the thread. */
void arch_thread_leave(cap_t space, uint64_t address, uint64_t size) __attribute__((noreturn));
