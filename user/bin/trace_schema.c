/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_schema.c - reads applications' events from their descriptors; see trace_schema.h. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/abi.h>
#include <tarn/syscall.h>

#include <trace/format/store.h>
#include <trace/print/app_schema.h>
#include <user/bin/trace_schema.h>

/* Memory for the tables, in multiples of the descriptors: a structure per event and field. */
#define TABLES_FACTOR 4

static struct trace_app_schemas schemas;

void load_app_schemas(void)
{
    char *descriptors = malloc(TRACE_APP_ENTRIES_BYTES_MAX);
    size_t size = 0;
    int64_t got;
    while (descriptors &&
           (got = sys_trace_metadata(SLOT_TRACE, TRACE_METADATA_DESCRIPTORS, size, descriptors + size,
                                     TRACE_APP_ENTRIES_BYTES_MAX - size)) > 0)
        size += (size_t)got;
    load_app_schemas_from(descriptors, size);
}

void load_app_schemas_from(void *descriptors, size_t size)
{
    size_t bytes = TABLES_FACTOR * size;
    void *tables = malloc(bytes);
    trace_load_app_schemas(&schemas, descriptors, size, tables, tables ? bytes : 0);
}

/* ---- looking up ------------------------------------------------------------------------------------ */

const struct trace_event_info *find_event(uint32_t id)
{
    return trace_find_event(&schemas, id);
}

const char *class_name(uint32_t class_number)
{
    static char text[16];
    const char *name = trace_find_class_name(&schemas, class_number);
    if (name)
        return name;
    snprintf(text, sizeof text, "%u", (unsigned)class_number);
    return text;
}

int find_class(const char *name, uint64_t length)
{
    return trace_find_any_class(&schemas, name, length);
}

/* Accepts sched.switch as `switch`, and frame.alloc as `alloc` or `kmem_mm_page_alloc`. */
static bool is_called(const struct trace_event_info *info, const char *class, const char *name)
{
    size_t length = strlen(class);
    return !strcmp(info->full_name, name) || !strcmp(info->name, name) ||
           (!strncmp(info->full_name, class, length) && info->full_name[length] == '_' &&
            !strcmp(info->full_name + length + 1, name));
}

int find_minor(uint32_t class_number, const char *name)
{
    for (uint32_t minor = 0; minor < TRACE_MINORS_SWITCHED; minor++) {
        const struct trace_event_info *info = find_event(TRACE_ID(class_number, minor));
        if (info && is_called(info, class_name(class_number), name))
            return (int)minor;
    }
    return -1;
}
