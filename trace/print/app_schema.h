/* trace/print/app_schema.h - names and fields of the events that applications registered, read from their
 * descriptors. For kernel and programs; freestanding, in memory that the caller provides. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <trace/format/descriptor.h>
#include <trace/format/event_table.h>
#include <trace/format/format.h>
#include <trace/format/layout.h>

struct trace_app_schemas {
    char names[TRACE_APP_CLASSES][TRACE_NAME_BYTES]; /* empty: not registered */
    const struct trace_event_info *events[TRACE_APP_CLASSES][TRACE_MINORS_SWITCHED];
};

/* One of the descriptors that the kernel keeps one after the other, each in a multiple of 8 bytes. */
struct trace_app_entry {
    uint32_t class_number;
    uint32_t bytes; /* of the descriptor */
    struct trace_descriptor descriptor;
};
#define TRACE_APP_ENTRY_BYTES(descriptor_bytes) \
    ((offsetof(struct trace_app_entry, descriptor) + (uint64_t)(descriptor_bytes) + 7) & ~7ull)
/* Most that the kernel keeps: the largest of all classes, and whole pages. */
#define TRACE_APP_ENTRIES_BYTES_MAX (260u << 10)
_Static_assert(TRACE_APP_ENTRIES_BYTES_MAX >=
                   TRACE_APP_CLASSES * TRACE_APP_ENTRY_BYTES(TRACE_DESCRIPTOR_BYTES_MAX),
               "one of each class");

/* Reads `size` bytes of entries, aligned to 8, which must stay: names lie in them. The other results lie in
 * `memory` (any alignment). Entries that do not fit are left out, and all entries behind a damaged one. */
void trace_load_app_schemas(struct trace_app_schemas *schemas, const void *entries, uint64_t size,
                            void *memory, uint64_t memory_size);

/* An event, also the system's; NULL: not declared. */
const struct trace_event_info *trace_find_event(const struct trace_app_schemas *schemas, uint32_t id);
/* NULL: no such class. */
const char *trace_find_class_name(const struct trace_app_schemas *schemas, uint32_t class_number);
/* A class by its name, also the system's; negative: none. */
int trace_find_any_class(const struct trace_app_schemas *schemas, const char *name, uint64_t length);
