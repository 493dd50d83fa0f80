/*
 * port/trace.h (ppc64) - primitives of the logging path; contract in <arch/trace.h>.
 *
 * A bit of the info page is tested in its byte, because ANDI. reaches each bit of a byte. LDARX reads the
 * index and STDCX. swaps it: the swap succeeds only if nothing has stored to the index since. The kernel must
 * not let a thread that was interrupted in between find the reservation of another thread, so a thread switch
 * clears it.
 */
#pragma once

#include <port/trace_where.h>
#include <tarn/abi.h>
#include <tarn/thread_block.h>

/* kernel's; programs see the same memory at USER_TRACE_RINGS */
#define ARCH_TRACE_RINGS 0xc008000000000000ull
#include <arch/trace_rings.h>

/* A site as it is linked: on in the kernel, which logs before it can change its text. */
#define PORT_TRACE_SITE_OFF "nop"
#ifdef TARN_KERNEL
#define PORT_TRACE_SITE "b %l[on]"
#else
#define PORT_TRACE_SITE PORT_TRACE_SITE_OFF
#endif

static inline __attribute__((always_inline)) bool arch_trace_site(uint32_t id)
{
    __asm__ inline goto("0:\t" PORT_TRACE_SITE "\n\t" ARCH_TRACE_LIST_SITE : : "i"(id) : : on);
    return false;
on:
    __attribute__((cold));
    return true;
}

static inline __attribute__((always_inline)) void arch_trace_site_off(void)
{
    __asm__ volatile(PORT_TRACE_SITE_OFF);
}

/* The byte of a big-endian word with bit `number`. */
#define PORT_TRACE_BYTE_OF(number) (7 - (number) / 8)

#ifdef TARN_KERNEL
extern struct trace_info trace_info_page; /* kernel/trace: a page of the kernel's data */
#define PORT_TRACE_LOAD_BYTE \
    "addis %0, 2, trace_info_page + %1@toc@ha\n\tlbz %0, trace_info_page + %1@toc@l(%0)"
static inline __attribute__((always_inline)) const struct trace_info *arch_trace_info(void)
{
    return &trace_info_page;
}
#else
#define PORT_TRACE_LOAD_BYTE "lis %0, " PORT_TRACE_INFO_HIGH "\n\tlbz %0, %1(%0)"
/* Hidden from the compiler, which would otherwise compute each field's address from scratch. */
static inline __attribute__((always_inline)) const struct trace_info *arch_trace_info(void)
{
    const struct trace_info *info;
    __asm__("lis %0, " PORT_TRACE_INFO_HIGH : "=b"(info));
    return info;
}
#endif

static inline __attribute__((always_inline)) bool arch_trace_enabled(unsigned class_number)
{
    uint64_t byte;
    __asm__ volatile(PORT_TRACE_LOAD_BYTE : "=b"(byte) : "i"(PORT_TRACE_BYTE_OF(class_number)));
    return __builtin_expect(byte >> class_number % 8 & 1, 0);
}

static inline __attribute__((always_inline)) bool arch_trace_event_enabled(unsigned class_number,
                                                                           unsigned minor)
{
    const volatile uint8_t *word = (const volatile uint8_t *)&arch_trace_info()->switches[class_number];
    return __builtin_expect(word[PORT_TRACE_BYTE_OF(minor)] >> minor % 8 & 1, 1);
}

static inline __attribute__((always_inline)) uint64_t arch_trace_clock(void)
{
    uint64_t now;
    __asm__ volatile("mftb %0" : "=r"(now) : : "memory");
    return now;
}

static inline __attribute__((always_inline)) char *arch_trace_ring(void)
{
    char *ring;
    __asm__ volatile(PORT_TRACE_LOAD_RING("%0") : "=r"(ring) : : "memory");
    return ring - TRACE_BUFFERS_OFFSET; /* the compiler adds it to what follows */
}

#ifndef TARN_KERNEL
static inline __attribute__((always_inline)) bool arch_trace_same_ring(const char *ring)
{
    return __builtin_expect(arch_trace_ring() == ring, 1);
}
#endif

static inline __attribute__((always_inline)) uint64_t arch_trace_index(uint64_t *index)
{
    uint64_t value;
    __asm__ volatile("ldarx %0, 0, %1" : "=r"(value) : "r"(index) : "memory");
    return value;
}

static inline __attribute__((always_inline)) bool arch_trace_swap(uint64_t *index, uint64_t old,
                                                                  uint64_t next)
{
    __asm__ goto("stdcx. %1, 0, %0\n\tbne- %l[lost]" : : "r"(index), "r"(next) : "cr0", "memory" : lost);
    return true;
lost:
    __attribute__((cold));
    return false;
}

/* One instruction inserts the half above the time. The asm hides the half from the compiler, which would
 * otherwise make it a 64-bit constant and clear the time's upper half first: two more instructions. */
static inline __attribute__((always_inline)) uint64_t arch_trace_header(uint32_t id_length, uint64_t time)
{
    uint64_t half = id_length;
    __asm__("" : "+r"(half));
    return half << 32 | (uint32_t)time;
}
