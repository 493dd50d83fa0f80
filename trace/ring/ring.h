/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/ring/ring.h - the logging path: one source for kernel, servers and applications.
 *
 * The generated functions of <trace/CLASS.h> call, in order: arch_trace_enabled, arch_trace_event_enabled,
 * trace_reserve, trace_put_*, trace_commit. If reserving is not simple they call trace_log_slow; for an event
 * with a string or array, trace_log_string or trace_log_words. No locks, no system calls. Read next:
 * layout.h, reserve_cas.h, ring.c.
 */
#ifndef TRACE_RING_H
#define TRACE_RING_H

#include <arch/trace.h>
#include <stdbool.h>
#include <stdint.h>
#include <trace/format/layout.h>

/* Named race windows. Host tests (tests/unit/trace) define TRACE_TEST_POINT to act in them; otherwise it is
 * empty.
 */
enum trace_test_point {
    TRACE_AFTER_INDEX_READ, /* index read, clock not yet */
    TRACE_BEFORE_RESERVE,   /* swap not yet done */
    TRACE_AFTER_RESERVE,    /* words reserved, nothing written */
    TRACE_BEFORE_COMMIT,    /* all written, not yet counted */
    TRACE_BEFORE_CHANGE,    /* about to swap into the next buffer */
    TRACE_AFTER_CHANGE,     /* done: old packet not closed, next not opened */
    TRACE_BEFORE_OPEN,      /* old packet closed, next not opened */
    TRACE_BEFORE_LIMIT,     /* next packet opened, time limit not raised */
    TRACE_BEFORE_STOP,      /* no free buffer, about to swap to the end of this one */
    TRACE_AFTER_STOP,       /* done, loss counted, packet not closed */
    TRACE_AFTER_COPY,       /* a reader has copied, and not yet checked for overwriting */
};
#ifndef TRACE_TEST_POINT
#define TRACE_TEST_POINT(point) ((void)0)
#endif

#include <trace/ring/reserve_cas.h>

/* Stores of fields; `offset`: bytes from the event's body. The types may alias and need only their natural
 * alignment. */
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

/* Slow path for an event of constant size: never blocks; logs the event or counts it as discarded. `fixed`
 * has its words - 1 data words. */
__attribute__((cold)) void trace_log_slow(uint32_t id, const uint64_t *fixed, uint32_t words);
/* Log events that end in a string (cut at what one event holds, always terminated) or in words, after
 * `fixed_bytes` bytes of `fixed`. The caller has tested the mask. */
void trace_log_string(uint32_t id, const uint64_t *fixed, uint32_t fixed_bytes, const char *text);
void trace_log_words(uint32_t id, const uint64_t *fixed, uint32_t fixed_bytes, const uint64_t *words,
                     uint64_t count);

/* Closes the open packet of this CPU's ring and opens the next, so that a reader gets what was logged.
 * False: nothing to close, or no free buffer; then the open packet stays open. Not for another CPU's ring:
 * that CPU may already have read its clock for its next event, before the new packet begins. */
bool trace_ring_flush(char *ring);
/* Kernel only: opens a CPU's first packet, number `number`; nothing logs there yet. */
void trace_ring_open(char *ring, uint64_t number);
/* Kernel only: logs an event that bounds the time since the last one, and raises the time limit. Ignores the
 * mask. */
void trace_ring_heartbeat(void);

/* Classes of applications (trace/event/schema.h) have their number in a variable: TRACE_CLASS_COUNT until
 * registered. */
static inline bool trace_app_enabled(uint32_t class_number)
{
    return __builtin_expect(class_number < TRACE_CLASS_COUNT && (arch_trace_info()->mask >> class_number & 1),
                            0);
}

static inline bool trace_app_event_enabled(uint32_t class_number, unsigned minor)
{
    return arch_trace_info()->switches[class_number % TRACE_CLASS_COUNT] >> minor & 1;
}

#endif
