/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/ring/ring.h - the logging path: one source for kernel, servers and applications.
 *
 * The generated functions of <trace/CLASS.h> call, in order: arch_trace_enabled, arch_trace_switched,
 * trace_reserve, trace_put_*, trace_commit; or trace_log_slow where that is not simple; or trace_log_string /
 * trace_log_words for an event with a tail.
 * No locks, no system calls. Memory is laid out as in layout.h; what goes wrong, and who notices, is in
 * trace/format/FORMAT.md. Reading side: read.h. Reading order: layout.h, reserve_cas.h, ring.c.
 */
#ifndef TRACE_RING_H
#define TRACE_RING_H

#include <arch/trace.h>
#include <stdbool.h>
#include <stdint.h>
#include <trace/format/layout.h>

/* Named race windows. Host tests (trace/test) define TRACE_TEST_POINT to act inside them; elsewhere nothing.
 */
enum trace_test_point {
    TRACE_AFTER_INDEX_READ, /* index read, clock not yet */
    TRACE_BEFORE_RESERVE,   /* all decided, swap not yet done */
    TRACE_AFTER_RESERVE,    /* words are ours, nothing written */
    TRACE_BEFORE_COMMIT,    /* all written, not yet counted */
    TRACE_BEFORE_CHANGE,    /* about to swap into the next buffer */
    TRACE_AFTER_CHANGE,     /* did it: old packet not closed, next not opened */
    TRACE_BEFORE_OPEN,      /* old packet closed, next not opened */
    TRACE_BEFORE_LIMIT,     /* next packet opened, time limit not raised */
    TRACE_BEFORE_STOP,      /* no room for a next packet, about to swap to the end of this one */
    TRACE_AFTER_STOP,       /* did it, and counted the loss: the packet not closed */
    TRACE_AFTER_COPY,       /* a reader has copied, and not yet looked whether it was overwritten */
};
#ifndef TRACE_TEST_POINT
#define TRACE_TEST_POINT(point) ((void)0)
#endif

#include <trace/ring/reserve_cas.h>

/* Half of the range of a 32-bit timestamp: how far beyond the last known event a writer may go before it
 * starts a new packet. */
#define TRACE_TIME_SPAN (1ull << 31)

/* Stores of fields; `offset` is in bytes from the event's body. The types may alias and need no alignment
 * beyond their own. */
typedef uint8_t __attribute__((may_alias)) trace_word_8;
typedef uint16_t __attribute__((may_alias)) trace_word_16;
typedef uint32_t __attribute__((may_alias)) trace_word_32;
typedef uint64_t __attribute__((may_alias)) trace_word_64;
typedef uint64_t __attribute__((may_alias, aligned(1))) trace_word_name;
#define TRACE_STORES(bits)                                                                               \
    static inline __attribute__((always_inline)) void trace_put_##bits(                                  \
        struct trace_slot *slot, unsigned offset, uint##bits##_t value)                                  \
    {                                                                                                    \
        *(trace_word_##bits *)(slot->event + 8 + offset) = value;                                        \
    }                                                                                                    \
    static inline __attribute__((always_inline)) void trace_fix_##bits(uint64_t *fixed, unsigned offset, \
                                                                       uint##bits##_t value)             \
    {                                                                                                    \
        *(trace_word_##bits *)((char *)fixed + offset) = value;                                          \
    }
TRACE_STORES(8)
TRACE_STORES(16)
TRACE_STORES(32)
TRACE_STORES(64)
#undef TRACE_STORES

/* A name is always 16 readable bytes: two loads, two stores. */
static inline __attribute__((always_inline)) void trace_put_name(struct trace_slot *slot, unsigned offset,
                                                                 const char name[static TRACE_NAME_BYTES])
{
    *(trace_word_64 *)(slot->event + 8 + offset) = ((const trace_word_name *)name)[0];
    *(trace_word_64 *)(slot->event + 16 + offset) = ((const trace_word_name *)name)[1];
}

static inline __attribute__((always_inline)) void trace_fix_name(uint64_t *fixed, unsigned offset,
                                                                 const char name[static TRACE_NAME_BYTES])
{
    fixed[offset / 8] = ((const trace_word_name *)name)[0];
    fixed[offset / 8 + 1] = ((const trace_word_name *)name)[1];
}

/* An event of constant size whose way was not simple: waits for nothing, logs it or counts it as discarded.
 * `fixed` holds its words - 1 data words. */
__attribute__((cold)) void trace_log_slow(uint32_t id, const uint64_t *fixed, uint32_t words);
/* Events that end in a string (cut at what one event holds, always terminated) or in words. The class is
 * known to be on. `fixed_bytes` of `fixed` come first. */
void trace_log_string(uint32_t id, const uint64_t *fixed, uint32_t fixed_bytes, const char *text);
void trace_log_words(uint32_t id, const uint64_t *fixed, uint32_t fixed_bytes, const uint64_t *words,
                     uint64_t count);

/* Closes the open packet of this processor's window and opens the next, so that a reader gets what was
 * logged. False: nothing to close, or no room for the next packet; then the open one stays open. Not for
 * another processor's window: that processor may have read its clock already for the event that it will log
 * next, before the new packet's begin. */
bool trace_ring_flush(char *window);
/* The kernel's: makes a processor's first packet, beginning at buffer `number`; nobody logs there yet. */
void trace_ring_open(char *window, uint64_t number);
/* The kernel's: an event bounds the time since the last one; moves the time limit. Independent of the mask.
 */
void trace_ring_heartbeat(void);

/* Applications' classes (trace/event/register.h): number in a variable, TRACE_CLASS_COUNT while unregistered.
 */
static inline bool trace_app_enabled(uint32_t class_number)
{
    return __builtin_expect(class_number < TRACE_CLASS_COUNT && (arch_trace_info()->mask >> class_number & 1),
                            0);
}

static inline bool trace_app_switched(uint32_t class_number, unsigned minor)
{
    return arch_trace_info()->switches[class_number % TRACE_CLASS_COUNT] >> minor & 1;
}

#endif
