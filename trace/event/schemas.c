/* SPDX-License-Identifier: BSD-2-Clause */
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
#include <trace/events.h>
#include <trace/format/store.h>
#include <trace/print/app_schema.h>
#include <trace/print/words.h>

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

/* ---- switching ------------------------------------------------------------------------------------- */

int64_t trace_switch(cap_t trace, const char *names, bool on, const char **bad)
{
    const struct trace_info *info = arch_trace_info();
    uint64_t switches[TRACE_CLASS_COUNT];
    for (uint32_t i = 0; i < TRACE_CLASS_COUNT; i++)
        switches[i] = info->switches[i];
    if (!trace_switch_events(names, trace_known_event, on, switches, bad))
        return -E_NOT_FOUND;
    for (uint32_t i = 0; i < TRACE_CLASS_COUNT; i++) {
        int64_t error = switches[i] != info->switches[i]
                            ? sys_trace_control(trace, TRACE_OP_SET_SWITCHES, i, switches[i])
                            : 0;
        if (error)
            return error;
    }
    return 0;
}

static uint64_t ticks_of(uint64_t ns)
{
    const unsigned __int128 ticks =
        ((unsigned __int128)ns * arch_trace_info()->clock_hz + 999999999) / 1000000000;
    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

static bool can_be_limited(uint32_t id, bool is_threshold)
{
    const struct trace_event_info *event = trace_known_event(id);
    return event && event->limit_kind == (is_threshold ? TRACE_LIMIT_ABOVE : TRACE_LIMIT_SAMPLED);
}

uint32_t trace_known_limit(const struct trace_event_info *event)
{
    const struct trace_info *info = arch_trace_info();
    const uint32_t class_number = TRACE_ID_CLASS(event->id);
    if (event->limit_kind == TRACE_LIMIT_NONE)
        return 0;
    return class_number < TRACE_CLASS_APP_FIRST
               ? info->event_limit[event->limit]
               : info->app_limit[trace_app_limit_index(class_number, event->limit)];
}

int64_t trace_limit(cap_t trace, const char *names, bool is_threshold, uint64_t limit, const char **bad)
{
    uint64_t meant[TRACE_CLASS_COUNT] = {0};
    int64_t error = -E_NOT_FOUND;
    if (!trace_switch_events(names, trace_known_event, true, meant, bad))
        return -E_NOT_FOUND;
    *bad = NULL;
    limit = is_threshold ? ticks_of(limit) : limit;
    for (uint32_t i = 0; i < TRACE_CLASS_COUNT * TRACE_MINORS_SWITCHED; i++) {
        const uint32_t class_number = i / TRACE_MINORS_SWITCHED, minor = i % TRACE_MINORS_SWITCHED,
                       id = TRACE_ID(class_number, minor);
        if (!(meant[class_number] >> minor & 1) || !can_be_limited(id, is_threshold))
            continue;
        error = sys_trace_control(trace, is_threshold ? TRACE_OP_SET_THRESHOLD : TRACE_OP_SAMPLE_EVENTS, id,
                                  limit);
        if (error)
            return error;
    }
    return error;
}
