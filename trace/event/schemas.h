/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/event/schemas.h - names and fields of all events: the system's, and those that applications
 * registered, which are read from their descriptors.
 */
#ifndef TRACE_EVENT_SCHEMAS_H
#define TRACE_EVENT_SCHEMAS_H

#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>
#include <trace/format/event_table.h>

/* Reads the descriptors, with a capability of the trace. Before, only the system's events are known. Calls
 * replace what was loaded before, and must not run beside each other or a look-up. */
void trace_schemas_load(cap_t trace);
/* The same from other descriptors, as of trace/print/app_schema.h, which must stay. */
void trace_schemas_load_from(void *descriptors, size_t size);

/* NULL: no such event. */
const struct trace_event_info *trace_known_event(uint32_t id);
/* "sched", "market", or "50" for an undeclared class. Valid until the next call. */
const char *trace_known_class_name(uint32_t class_number);
/* Returns the class's number, or a negative value. A trace_find_class of trace/print/words.h. */
int trace_known_class(const char *name, uint64_t length);

/* Switches the events with these names (trace/print/words.h), of those that are known. -E_NOT_FOUND: there is
 * none with the name at *bad, and none is switched. Or the kernel's error. */
int64_t trace_switch(cap_t trace, const char *names, bool on, const char **bad);
/* Of the events with these names that are declared `sampled`, each CPU logs one in `limit`; 1: all. With
 * is_threshold, of those that are declared `above` a field, those in which it is at least `limit`
 * nanoseconds; 0: all. Others with such a name stay as they are. -E_NOT_FOUND: there is none with the name at
 * *bad, or, with *bad NULL, none of them all can be limited so. Or the kernel's error. */
int64_t trace_limit(cap_t trace, const char *names, bool is_threshold, uint64_t limit, const char **bad);
/* The limit of that type of events: N, or ticks; 0 or 1: all are logged. */
uint32_t trace_known_limit(const struct trace_event_info *event);

#endif
