/* trace/event/schemas.c - reads applications' events from their descriptors; see schemas.h. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/abi.h>
#include <tarn/error.h>
#include <tarn/runtime.h>
#include <tarn/trace_control.h>

#include <arch/trace.h>
#include <trace/event/schemas.h>
#include <trace/event/sizes.h>
#include <trace/events.h>
#include <trace/format/store.h>
#include <trace/print/app_schema.h>

/* Memory for the tables, in multiples of the descriptors: a structure per event and field. */
#define TABLES_FACTOR 4

static struct trace_app_schemas schemas;
static void *loaded_descriptors, *loaded_tables; /* of `schemas` */

void trace_schemas_load(cap_t trace)
{
    char *descriptors = malloc(TRACE_APP_ENTRIES_BYTES_MAX);
    size_t size = 0;
    int64_t got;
    while (descriptors &&
           (got = sys_trace_metadata(trace, TRACE_METADATA_DESCRIPTORS, size, descriptors + size,
                                     TRACE_APP_ENTRIES_BYTES_MAX - size)) > 0)
        size += (size_t)got;
    trace_schemas_load_from(descriptors, size);
    free(loaded_descriptors);
    loaded_descriptors = descriptors;
}

void trace_schemas_load_from(void *descriptors, size_t size)
{
    size_t bytes = TABLES_FACTOR * size;
    void *tables = malloc(bytes);
    trace_load_app_schemas(&schemas, descriptors, size, tables, tables ? bytes : 0);
    free(loaded_tables);
    loaded_tables = tables;
}

/* ---- looking up ------------------------------------------------------------------------------------ */

const struct trace_event_info *trace_known_event(uint32_t id)
{
    return trace_find_event(&schemas, id);
}

const char *trace_known_class_name(uint32_t class_number)
{
    static char text[16];
    const char *name = trace_find_class_name(&schemas, class_number);
    if (name)
        return name;
    snprintf(text, sizeof text, "%u", (unsigned)class_number);
    return text;
}

int trace_known_class(const char *name, uint64_t length)
{
    return trace_find_any_class(&schemas, name, length);
}

/* ---- settings ------------------------------------------------------------------------------------- */

static const char *class_name(uint32_t class_number)
{
    return trace_find_class_name(&schemas, class_number);
}

static int64_t control(uint32_t operation, uint64_t a, uint64_t b)
{
    return operation == TRACE_OP_SET_GEOMETRY ? trace_set_sizes(SLOT_TRACE, a, b)
                                              : sys_trace_control(SLOT_TRACE, operation, a, b);
}

void trace_settings_open(struct trace_settings *settings)
{
    *settings = (struct trace_settings){.info = arch_trace_info(),
                                        .find_class = trace_known_class,
                                        .class_name = class_name,
                                        .find_event = trace_known_event,
                                        .read = sys_system_read,
                                        .control = control};
}
