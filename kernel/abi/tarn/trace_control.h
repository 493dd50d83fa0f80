/*
 * trace_control.h - operations of the trace_control system call, and tables for trace_sites.
 *
 * All need RIGHT_WRITE on the trace object. The trace info page holds the current settings.
 */
#pragma once

#include <stdint.h>

enum trace_operation {
    TRACE_OP_SET_MASK = 1,     /* a = class mask; a change from 0 logs a statedump */
    TRACE_OP_SET_MODE = 2,     /* a = enum trace_mode */
    TRACE_OP_SET_SWITCHES = 3, /* a = class, b = bits of its minors */
    /* a = bytes of a buffer, b = buffers of a ring; both 0: the sizes after the boot. Loses nothing that the
     * rings hold, but a smaller flight recorder holds less. 1: there is more to do, repeat it;
     * trace_set_sizes() does. -E_BUSY: a reader has not taken what would not fit, or other sizes are being
     * set. -E_NO_MEMORY. */
    TRACE_OP_SET_GEOMETRY = 4,
    TRACE_OP_CLEAR = 5,         /* drops all logged events */
    TRACE_OP_FLUSH = 6,         /* closes the open packet of CPU a (~0: all) */
    TRACE_OP_STATEDUMP = 7,     /* logs what exists */
    TRACE_OP_DROP_PREVIOUS = 8, /* drops the previous boot's trace; -E_NOT_FOUND */
    /* Of each b acquisitions of locks of class a (~0: all classes) one is logged; 0: none. -E_NOT_FOUND. */
    TRACE_OP_SAMPLE_LOCKS = 10,
    /* Of the events with id a (TRACE_ID), which must be declared `sampled`, each CPU logs one in b; 1: all.
     * -E_NOT_FOUND. */
    TRACE_OP_SAMPLE_EVENTS = 14,
    /* Of the events with id a, which must be declared `above` a field, those are logged in which it is at
     * least b, which fits in 32 bits; 0: all. -E_NOT_FOUND. */
    TRACE_OP_SET_THRESHOLD = 15,
    /* Takes a sample every a nanoseconds on average, 20 us to 10 s; 0: none. */
    TRACE_OP_SET_PROFILE = 9,
    /* Binds hardware counters to slots. A byte of a for each slot, slot 0 the lowest: 1 + number of the
     * counter (SYSTEM_COUNTERS); 0 ends the list. -E_NOT_FOUND: there is no such counter. */
    TRACE_OP_BIND_COUNTERS = 11,
    /* a = low-water mark, in percent, 0 to 100: in mode stream the drain is woken when a packet was begun and
     * at most this part of its CPU's ring is free. -E_BAD_ARGUMENT. */
    TRACE_OP_SET_LOW_WATER = 17,
    /* a = a notification: the caller is the drain from now on, and another one no longer. It is signalled
     * with the bits b at the low-water mark, and after a change of mode, mark or sizes, and a clear.
     * Without bits: the caller is the drain no longer, if it was. RIGHT_WRITE on the notification. */
    TRACE_OP_SET_DRAIN = 18,
    /* Measures what logging the event a (TRACE_ID) costs; -E_NOT_FOUND: this kernel has no such event. ~0:
     * adds all that was measured to the metadata; -E_TOO_LARGE: no space until the rings are cleared. */
    TRACE_OP_BENCH = 16,
    /* Counts routines in routines, from now on anew: a = 1 those of the kernel and those that programs
     * declare, 2 also POSIX calls, requests to servers and allocation. 0: stops; routines stay until the next
     * start. */
    TRACE_OP_SET_ROUTINES = 20,
    TRACE_OP_START = 21, /* sets the mask from before it became 0, or all classes, if it is 0 */
};

/* A site of a trace point (arch/trace_site.h), in the table of the kernel or of an executable. Both distances
 * are from the field itself. */
struct trace_site {
    int32_t site;
    int32_t target; /* where the site jumps to */
    uint32_t id;    /* TRACE_ID of class and minor, or TRACE_SITE_OF_CLASS */
};
#define TRACE_SITES_MAX 4096u /* of an executable */
#define TRACE_SITES_ELF_TYPE \
    0x6174726eu /* of the program header that gives the place of an executable's table */
