/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * span.h - spans: what the kernel is inside of between a begin and an end, each written once, where it
 * happens.
 *
 * If nothing listens, begin and end are one instruction each, a site (trace/sites.c). It is on while the
 * events of the class are, routines are counted, or samples are taken. Then `log`, which logs the event of
 * the begin or of the end, is evaluated, and the routine is counted at the event's time.
 */
#ifndef KERNEL_SPAN_H
#define KERNEL_SPAN_H

#include <kernel/diagnosis/routines.h>

/* Of the current thread, in which nothing is open: an interrupt, an exception, or the sleep of an idle
 * thread. */
#define SPAN_BEGIN(CLASS, kind, argument, log) \
    do {                                       \
        if (ROUTINES_OR(TRACE_CLASS_##CLASS))  \
            span_begun(kind, argument, log);   \
    } while (0)
#define SPAN_END(CLASS, log)                  \
    do {                                      \
        if (ROUTINES_OR(TRACE_CLASS_##CLASS)) \
            span_ended(log);                  \
    } while (0)

/* `logged`: what the log function has returned. */
void span_begun(enum trace_routine_kind kind, uint64_t argument, uint64_t logged);
void span_ended(uint64_t logged);

#endif
