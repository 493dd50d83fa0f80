/*
 * trace/event/schemas.h - names and fields of all events: the system's, and those that applications
 * registered, which are read from their descriptors.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>
#include <trace/print/commands.h>

/* Reads the descriptors, with a capability of the trace. Before, only the system's events are known. Each
 * call replaces the events loaded before; calls must not run beside each other or a look-up. */
void trace_schemas_load(cap_t trace);
/* The same from other descriptors, as of trace/print/app_schema.h, which must stay. */
void trace_schemas_load_from(void *descriptors, size_t size);

/* NULL: no such event. */
const struct trace_event_info *trace_known_event(uint32_t id);
/* "sched", "market", or "50" for an undeclared class. Valid until the next call. */
const char *trace_known_class_name(uint32_t class_number);
/* Returns the class's number, or a negative value. A trace_find_class of trace/print/words.h. */
int trace_known_class(const char *name, uint64_t length);

/* For trace_command_run, with the loaded events; without `put`. Changes need the capability in SLOT_TRACE. */
void trace_settings_open(struct trace_settings *settings);
