/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/trace.h - what the logging path needs of a port, in kernel and user programs alike.
 *
 * Everything is inline and comes from <port/trace.h>, which chooses the kernel's or the user's addresses by
 * TARN_KERNEL. The path itself is trace/ring/ring.h; the host's unit tests have a port of their own
 * (trace/test/host/port/trace.h). Atomics are GCC's builtins, so no port writes any.
 */
#ifndef ARCH_TRACE_H
#define ARCH_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/format/layout.h>

/* The info page, at a link-time constant. */
static inline const struct trace_info *arch_trace_info(void);

/* Is the class on, is the event on? Arguments are compile-time constants. The cost of a disabled event is
 * that of arch_trace_enabled: two instructions on x86_64, at most four anywhere. "On" is the unlikely way. */
static inline bool arch_trace_enabled(unsigned class_number);
static inline bool arch_trace_switched(unsigned class_number, unsigned minor);

/* Ticks, 64 bits, never decreasing on one processor. */
static inline uint64_t arch_trace_clock(void);

/* Window of the processor that runs this; the thread may be elsewhere by the next instruction. */
static inline char *arch_trace_window(void);
/* Is `window` still that of this processor? Must be read again, not remembered. */
static inline bool arch_trace_same_window(const char *window);
/* Reads an index and, a few loads and a clock reading later, stores `next` there if nobody stored since; no
 * order with anything else. `old` is what was read. A port may refuse now and then for no reason. */
static inline uint64_t arch_trace_index(uint64_t *index);
static inline bool arch_trace_swap(uint64_t *index, uint64_t old, uint64_t next);
/* An event's header word, of its first half in memory (id and length) and its time. */
static inline uint64_t arch_trace_header(uint32_t id_length, uint64_t time);
/* Number of the processor that a window belongs to. */
static inline uint32_t arch_trace_cpu(const char *window);

/* Who runs on the window's processor: fills a context event's body. Only on the slow path. A user program is
 * asked for its own windows only, and means itself. */
static inline void arch_trace_context(const char *window, struct trace_context *context);

#include <port/trace.h>
#endif
