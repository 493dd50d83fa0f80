/*
 * trace/ring/ring.h - the logging path: one source for kernel, servers and applications.
 *
 * The generated functions of <trace/CLASS.h> test whether the event is enabled, and then log it by one of two
 * disciplines with the same format:
 *
 * - restart.h, the default: a sequence without atomic instructions, which the kernel restarts if it was
 *   interrupted;
 * - cas.h, with TRACE_CAS defined: for writers that nobody restarts.
 *
 * No locks. Read next: layout.h, restart.h, restart.c.
 */
#pragma once

#include <arch/trace.h>
#include <stdbool.h>
#include <stdint.h>
#include <trace/format/layout.h>

/* Named race windows. Host tests (tests/unit/trace) define TRACE_TEST_POINT to act in them; otherwise it is
 * empty. All but the last are in cas.h and cas.c: an interrupted sequence of restart.h has no windows.
 */
enum trace_test_point {
    TRACE_AFTER_INDEX_READ, /* index read, clock not yet */
    TRACE_BEFORE_RESERVE,   /* swap not yet done */
    TRACE_AFTER_RESERVE,    /* words reserved, nothing written */
    TRACE_BEFORE_COMMIT,    /* all written, not yet counted */
    TRACE_AFTER_STATE_READ, /* index, losses and clock read: the slow path */
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

/* A log function of an event of constant size returns this if it logs nothing; else the timestamp that it
 * stored, 32 bits, or, if the ring was full, the time at which the event was discarded. For events with names
 * or many fields, the function with _timed at its name's end returns it. */
#define TRACE_NOT_LOGGED UINT64_MAX

/* Stores of fields; `offset`: bytes from the event's body. The types may alias and need only their natural
 * alignment. */
typedef uint8_t __attribute__((may_alias)) trace_word_8;
typedef uint16_t __attribute__((may_alias)) trace_word_16;
typedef uint32_t __attribute__((may_alias)) trace_word_32;
typedef uint64_t __attribute__((may_alias)) trace_word_64;
typedef uint64_t __attribute__((may_alias, aligned(1))) trace_word_name;

#ifdef TRACE_CAS
#include <trace/ring/cas.h>
#else
#include <trace/ring/restart.h>
#endif

/* For an event with a string or array: collects its fixed fields. */
#define TRACE_COLLECTS(bits)                                                                             \
    static inline __attribute__((always_inline)) void trace_fix_##bits(uint64_t *fixed, unsigned offset, \
                                                                       uint##bits##_t value)             \
    {                                                                                                    \
        *(trace_word_##bits *)((char *)fixed + offset) = value;                                          \
    }
TRACE_COLLECTS(8)
TRACE_COLLECTS(16)
TRACE_COLLECTS(32)
TRACE_COLLECTS(64)
#undef TRACE_COLLECTS

/* A name is always 16 readable bytes: two loads, two stores. */
static inline __attribute__((always_inline)) void trace_fix_name(uint64_t *fixed, unsigned offset,
                                                                 const char name[static TRACE_NAME_BYTES])
{
    fixed[offset / 8] = ((const trace_word_name *)name)[0];
    fixed[offset / 8 + 1] = ((const trace_word_name *)name)[1];
}

/* Log events that end in a string (cut to one event's length, always terminated) or in words, after
 * `fixed_bytes` bytes of `fixed`. The caller has tested the mask. */
#ifdef TARN_KERNEL
#define TRACE_TAIL_WORDS 128u /* data words of such an event: its stacks are small */
#elif !defined(TRACE_TAIL_WORDS)
#define TRACE_TAIL_WORDS (TRACE_LENGTH_MAX - 1)
#endif
void trace_log_string(uint32_t id, const uint64_t *fixed, uint32_t fixed_bytes, const char *text);
void trace_log_words(uint32_t id, const uint64_t *fixed, uint32_t fixed_bytes, const uint64_t *words,
                     uint64_t count);

/* The rest is the kernel's. */

/* Closes the open packet of this CPU's ring and opens the next, so that a reader gets all events so far.
 * False: nothing to close, or no free buffer; then the open packet stays open. Not for another CPU's ring:
 * that CPU may already have read its clock for its next event, before the new packet begins. */
bool trace_ring_flush(char *ring);
/* Opens a ring's packet that begins at word `start`, on its CPU or while nothing logs there. */
void trace_ring_open(char *ring, uint64_t start);
/* Closes the open packet of a ring, on its CPU or while nothing logs there. From now on events are counted as
 * discarded, until trace_ring_go_on, which opens the next packet if it may, or trace_ring_open. With
 * TRACE_CAS only as long as the geometry is odd; afterwards the next event opens a packet. */
void trace_ring_stop(char *ring);
void trace_ring_go_on(char *ring);
/* Logs an event that bounds the time since the last one, and raises the time limit. Ignores the mask. */
void trace_ring_heartbeat(void);

#define TRACE_SITE_OF_CLASS        TRACE_MINORS_SWITCHED /* in place of a minor: any event of the class */
/* Also in place of a minor: a span of the kernel (kernel/cpu/span.h; an event of the class, or another
 * listener); counted routines (trace/format/routine.h; level 1 or 2), an event of the class or level 2, level
 * 2 alone. */
#define TRACE_SITE_SPAN            (TRACE_SITE_OF_CLASS + 1)
#define TRACE_SITE_ROUTINES        (TRACE_SITE_OF_CLASS + 2)
#define TRACE_SITE_OR_ALL_ROUTINES (TRACE_SITE_OF_CLASS + 3)
#define TRACE_SITE_ALL_ROUTINES    (TRACE_SITE_OF_CLASS + 4)
#define TRACE_SITE_LOCKS           (TRACE_SITE_OF_CLASS + 5) /* the kernel's locks are sampled */
#define TRACE_SITE_LIMITED         128u /* added to a minor: behind the event's site, whether it is limited */

/* Whether a class, or an event, is enabled: constants, so that a disabled trace point is one instruction, its
 * site (<arch/trace.h>). With TRACE_TESTED, for hosts and other kernels, the mask and the event's switch are
 * read instead. */
static inline __attribute__((always_inline)) bool trace_class_on(unsigned class_number)
{
#ifdef TRACE_TESTED
    return arch_trace_enabled(class_number);
#else
    return arch_trace_site(TRACE_ID(class_number, TRACE_SITE_OF_CLASS));
#endif
}

static inline __attribute__((always_inline)) bool trace_event_on(unsigned class_number, unsigned minor)
{
#ifdef TRACE_TESTED
    return arch_trace_enabled(class_number) && arch_trace_event_enabled(class_number, minor);
#else
    return arch_trace_site(TRACE_ID(class_number, minor));
#endif
}

/* Whether this event of a sampled type is the one in N that is logged. Counts per CPU, and up, so that a
 * count that a program has overwritten is over at once. A thread that is interrupted in between may lose a
 * count. */
static inline bool trace_is_one_in(uint32_t limit, uint32_t *skipped)
{
    const uint32_t count = __atomic_load_n(skipped, __ATOMIC_RELAXED) + 1;
    const bool is_sample = count >= limit;
    __atomic_store_n(skipped, is_sample ? 0 : count, __ATOMIC_RELAXED);
    return is_sample;
}

static inline bool trace_is_sample(unsigned index)
{
    return trace_is_one_in(__atomic_load_n(&arch_trace_info()->event_limit[index], __ATOMIC_RELAXED),
                           &trace_control_of(arch_trace_ring())->skipped[index]);
}

/* Whether not all events of the type, with this index in trace_limited, are to be logged. */
static inline __attribute__((always_inline)) bool trace_is_limited(unsigned class_number, unsigned minor,
                                                                   unsigned index)
{
#ifdef TRACE_TESTED
    return arch_trace_info()->event_limit[index] > 1;
#elif defined(TRACE_SITES_UNLISTED) /* kernel/trace/bench.c measures all events as without limits */
    arch_trace_site_off();
    return false;
#else
    return arch_trace_site(TRACE_ID(class_number, TRACE_SITE_LIMITED + minor));
#endif
}

/* trace_event_on() for a type that is declared `sampled`. */
static inline __attribute__((always_inline)) bool trace_sample_on(unsigned class_number, unsigned minor,
                                                                  unsigned index)
{
    return trace_event_on(class_number, minor) &&
           (!trace_is_limited(class_number, minor, index) || trace_is_sample(index));
}

/* The same for one that is declared `above` a field, which has this value. */
static inline __attribute__((always_inline)) bool trace_above_on(unsigned class_number, unsigned minor,
                                                                 unsigned index, uint64_t value)
{
    return trace_event_on(class_number, minor) &&
           (!trace_is_limited(class_number, minor, index) || value >= arch_trace_info()->event_limit[index]);
}

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

/* Of an enabled event that is its class's `limit`th that can be limited: whether this one is logged. As there
 * are no sites, the limit is read. */
static inline bool trace_app_is_sample(uint32_t class_number, unsigned limit)
{
    const uint32_t index = trace_app_limit_index(class_number, limit),
                   every = __atomic_load_n(&arch_trace_info()->app_limit[index], __ATOMIC_RELAXED);
    return __builtin_expect(every <= 1, 1) ||
           trace_is_one_in(every, &trace_control_of(arch_trace_ring())->app_skipped[index]);
}

static inline bool trace_app_is_above(uint32_t class_number, unsigned limit, uint64_t value)
{
    const uint32_t index = trace_app_limit_index(class_number, limit),
                   threshold = __atomic_load_n(&arch_trace_info()->app_limit[index], __ATOMIC_RELAXED);
    return __builtin_expect(threshold <= 1, 1) || value >= threshold;
}
