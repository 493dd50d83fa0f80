/*
 * port/trace.h (x86_64) - primitives of the logging path; contract in <arch/trace.h>.
 *
 * GS base points to a struct thread_block, the thread's own in user mode, the CPU's in the kernel, so the
 * ring is one load in both. A site is five bytes (port/trace_site.h). The mask test is
 * `testb $bit, address; jnz`, with a constant address that a 32-bit displacement reaches.
 */
#pragma once

#include <port/trace_where.h>
#include <tarn/abi.h>
#include <tarn/thread_block.h>

/* kernel's; programs see the same memory at USER_TRACE_RINGS */
#define ARCH_TRACE_RINGS 0xfffffe0000000000ull
#include <arch/trace_rings.h>

/* A site as it is linked: on in the kernel, which logs before it can change its text. */
#define PORT_TRACE_SITE_OFF ".byte 0xa9" /* testl $displacement, %eax */
#ifdef TARN_KERNEL
#define PORT_TRACE_SITE ".byte 0xe9" /* jmp */
#else
#define PORT_TRACE_SITE PORT_TRACE_SITE_OFF
#endif

static inline __attribute__((always_inline)) bool arch_trace_site(uint32_t id)
{
    __asm__ inline goto("0:\t" PORT_TRACE_SITE "\n\t"
                        ".long %l[on] - . - 4\n\t" ARCH_TRACE_LIST_SITE
                        :
                        : "i"(id)
                        : "cc"
                        : on);
    return false;
on:
    __attribute__((cold));
    return true;
}

static inline __attribute__((always_inline)) void arch_trace_site_off(void)
{
    __asm__ volatile(PORT_TRACE_SITE_OFF "\n\t.long 0" : : : "cc");
}

#ifdef TARN_KERNEL
extern struct trace_info trace_info_page; /* kernel/trace: a page of the kernel's data */
#define PORT_TRACE_TEST "testb %0, trace_info_page+%c1(%%rip)"
static inline const struct trace_info *arch_trace_info(void)
{
    return &trace_info_page;
}
#else
#define PORT_TRACE_TEST "testb %0, " PORT_TRACE_INFO_AT "+%c1"
static inline const struct trace_info *arch_trace_info(void)
{
    return (const struct trace_info *)USER_TRACE_INFO;
}
#endif

#include <arch/x86_64/trace_machine.h>

static inline __attribute__((always_inline)) char *arch_trace_ring(void)
{
    char *ring;
    __asm__ volatile("movq %%gs:%c1, %0" : "=r"(ring) : "i"(THREAD_BLOCK_RING) : "memory");
    return ring - TRACE_BUFFERS_OFFSET; /* the compiler adds it to what follows */
}

#ifndef TARN_KERNEL
static inline __attribute__((always_inline)) bool arch_trace_same_ring(const char *ring)
{
    __asm__ goto("cmpq %%gs:%c1, %0\n\tjne %l[moved]"
                 :
                 : "r"(ring + TRACE_BUFFERS_OFFSET), "i"(THREAD_BLOCK_RING)
                 : "cc", "memory"
                 : moved);
    return true;
moved:
    __attribute__((cold));
    return false;
}
#endif
