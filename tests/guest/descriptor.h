/* descriptor.h - descriptors made by hand (trace/format/descriptor.h): a class with one event, "e", with one
 * field. */
#pragma once

#include <stddef.h>
#include <trace/format/descriptor.h>
#include <trace/format/event_table.h>

struct small_descriptor {
    struct trace_descriptor head;
    struct trace_event_record event;
    struct trace_field_record field;
    char class_name[16], event_name[16], field_name[4];
};

static inline struct small_descriptor make_descriptor(const char *class_name)
{
    struct small_descriptor made = {
        .head = {TRACE_DESCRIPTOR_MAGIC, sizeof made, offsetof(struct small_descriptor, class_name),
                 offsetof(struct small_descriptor, class_name), 1},
        .event = {1, offsetof(struct small_descriptor, event_name), 1, TRACE_LIMIT_NONE},
        .field = {offsetof(struct small_descriptor, field_name), TRACE_FIELD_UNSIGNED, 8, 0, 0},
        .field_name = "a",
    };
    for (unsigned i = 0; i < sizeof made.class_name - 3 && class_name[i]; i++) {
        made.class_name[i] = made.event_name[i] = class_name[i];
        made.event_name[i + 1] = '_', made.event_name[i + 2] = 'e';
    }
    return made;
}
