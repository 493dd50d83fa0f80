/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_schema.c - reads applications' events from the metadata; see trace_schema.h. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/abi.h>
#include <tarn/syscall.h>

#include <trace/event/app_schema.h>
#include <user/bin/trace_schema.h>

#define METADATA_MAX   (512u << 10) /* the kernel's limit (trace/control/registry.c) */
/* Memory for the parsed schemas, in multiples of the text: names, and a structure per field. */
#define SCHEMAS_FACTOR 4

static struct trace_app_schemas schemas;

/* ---- the text -------------------------------------------------------------------------------------- */

/* Returns malloc'ed text; NULL: not allowed, or out of memory. */
static char *read_metadata(void)
{
    char *text = malloc(METADATA_MAX + 1);
    size_t size = 0;
    int64_t got;
    while (text && (got = sys_trace_metadata(SLOT_TRACE, size, text + size, METADATA_MAX - size)) > 0)
        size += (size_t)got;
    if (text)
        text[size] = 0;
    return text;
}

void load_app_schemas(void)
{
    load_app_schemas_from(read_metadata());
}

void load_app_schemas_from(char *text)
{
    size_t size = text ? strlen(text) : 0, room = SCHEMAS_FACTOR * size;
    void *memory = malloc(room);
    trace_learn_schemas(&schemas, text, size, memory, memory ? room : 0);
    free(text);
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
