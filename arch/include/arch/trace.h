/*
 * arch/trace.h - what the logging path (trace/ring/ring.h) needs of a port, in the kernel and in user
 * programs.
 *
 * Everything is inline and comes from <port/trace.h>, which selects the kernel's or the user's addresses by
 * TARN_KERNEL. The host's unit tests have a port of their own (tests/unit/trace/host/port/trace.h), other
 * kernels that of trace/kit/port/trace.h. Atomics are GCC's builtins.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <trace/format/layout.h>

/* For the port's site, at the local label 0, that jumps to the C label `on`: lists it as a struct trace_site
 * (tarn/trace_control.h). Operand 0 is the id. A file that defines TRACE_SITES_UNLISTED has sites that stay
 * as they are linked. */
#ifdef TRACE_SITES_UNLISTED
#define ARCH_TRACE_LIST_SITE ""
#else
#define ARCH_TRACE_LIST_SITE                          \
    ".pushsection .trace_sites, \"a\", @progbits\n\t" \
    ".balign 4\n\t"                                   \
    ".long 0b - .\n\t"                                \
    ".long %l[on] - .\n\t"                            \
    ".long %c0\n\t"                                   \
    ".popsection"
#endif

/* The info page, at a link-time constant. */
static inline const struct trace_info *arch_trace_info(void);

/* Whether the trace points with this id, a constant, are on. One instruction, the *site*, which the kernel
 * changes in place (<arch/trace_site.h>). */
#ifndef TRACE_TESTED
static inline bool arch_trace_site(uint32_t id);
static inline void arch_trace_site_off(void); /* the same instruction, which is off and stays so */
#endif

/* The same by reading the info page: whether the class, and the event, are enabled. Constants. */
static inline bool arch_trace_enabled(unsigned class_number);
static inline bool arch_trace_event_enabled(unsigned class_number, unsigned minor);

/* Ticks, 64 bits, never decreasing on one CPU. */
static inline uint64_t arch_trace_clock(void);

/* The ring of the current CPU; the thread may migrate at the next instruction. */
static inline char *arch_trace_ring(void);
/* Whether `ring` is still that of the current CPU. Must read it again. */
static inline bool arch_trace_same_ring(const char *ring);
/* arch_trace_index reads an index; arch_trace_swap, a few loads and a clock read later, stores `next` there
 * unless another store came in between. `old` is the value read. No ordering with other accesses. May fail
 * spuriously. */
static inline uint64_t arch_trace_index(uint64_t *index);
static inline bool arch_trace_swap(uint64_t *index, uint64_t old, uint64_t next);
/* An event's header word, from its first half in memory (id and length) and its time. */
static inline uint64_t arch_trace_header(uint32_t id_length, uint64_t time);
/* Number of the CPU that a ring belongs to. */
static inline uint32_t arch_trace_cpu(const char *ring);

/* Fills a context event's body with the thread that runs on the ring's CPU. Slow path only. A user program
 * calls this only for its own CPU, and describes itself. */
static inline void arch_trace_context(const char *ring, struct trace_context *context);

#include <port/trace.h>
