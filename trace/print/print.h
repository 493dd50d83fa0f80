/* trace/print/print.h - prints one event as a line of text, from the generated table. Kernel and programs. */
#pragma once

#include <stdint.h>
#include <trace/format/event_table.h>
#include <trace/format/format.h>
#include <trace/print/merge.h>

/* Prints "    12.345678 cpu 0 sched_switch: idle/0 ready -> sh/12", at most size - 1 bytes and a NUL; returns
 * the bytes written. hz: of the clock; 0: prints ticks. `info` describes an application's event; NULL: the
 * system's table does. The event's own length is not trusted. */
uint32_t trace_print_moment(char *line, uint32_t size, const struct trace_moment *moment, uint64_t hz,
                            const struct trace_event_info *info);

/* The field with this name, not NUL-terminated; NULL: none. */
const struct trace_field_info *trace_find_field(const struct trace_event_info *info, const char *name,
                                                uint64_t length);
/* Whether the event has all fields of fixed size, which trace_field_value needs. */
bool trace_has_body(const struct trace_moment *moment, const struct trace_event_info *info);
uint64_t trace_field_value(const struct trace_moment *moment, const struct trace_field_info *field);
