/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/print/print.h - prints one event as a line of text, from the generated table. Kernel and programs. */
#ifndef TRACE_PRINT_H
#define TRACE_PRINT_H

#include <stdint.h>
#include <trace/format/event_table.h>
#include <trace/format/format.h>
#include <trace/print/merge.h>

/* Prints "sched_switch: idle/0 ready -> sh/12", at most size - 1 bytes and a NUL; returns the bytes written.
 * `words`: readable 64-bit words from the header on; the event's own length is not trusted. */
uint32_t trace_print_event(char *line, uint32_t size, const struct trace_header *event, uint64_t words);

/* The same after time (seconds; ticks if `hz` is 0) and CPU. `info` describes an application's event; NULL:
 * the system's table does. */
uint32_t trace_print_moment(char *line, uint32_t size, const struct trace_moment *moment, uint64_t hz,
                            const struct trace_event_info *info);

#endif
