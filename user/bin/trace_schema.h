/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_schema.h - names and fields of all events: the system's, and those that applications registered,
 * which are read from their descriptors.
 */
#ifndef USER_BIN_TRACE_SCHEMA_H
#define USER_BIN_TRACE_SCHEMA_H

#include <stdint.h>
#include <trace/format/event_table.h>

/* Reads the descriptors; needs SLOT_TRACE. Without it only the system's events are known. */
void load_app_schemas(void);
/* The same from other descriptors, as of trace/print/app_schema.h, which must stay. */
void load_app_schemas_from(void *descriptors, size_t size);

/* NULL: no such event. */
const struct trace_event_info *find_event(uint32_t id);
/* "sched", "market", or "50" for an undeclared class. Valid until the next call. */
const char *class_name(uint32_t class_number);
/* Returns the class's number, or a negative value. A trace_find_class of trace/print/words.h. */
int find_class(const char *name, uint64_t length);
/* Returns the number of event `name` in a class, or a negative value. */
int find_minor(uint32_t class_number, const char *name);

#endif
