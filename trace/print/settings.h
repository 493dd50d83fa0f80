/*
 * trace/print/settings.h - the trace's settings, as the commands of commands.h read, print and change them.
 * Freestanding.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <trace/format/event_table.h>
#include <trace/format/layout.h>
#include <trace/print/words.h>

#define TRACE_COMMAND_ERROR_MAX 400u

struct system_counter;
struct system_lock_class;
struct trace_command;
struct trace_settings;

typedef void trace_print_list(struct trace_settings *settings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* How to read and change the settings. Functions that are not set are not called for commands that do not
 * need them. */
struct trace_settings {
    const struct trace_info *info;
    trace_find_class *find_class;
    const char *(*class_name)(uint32_t class_number); /* NULL: no such class */
    trace_find_info *find_event;
    /* As sys_system_read */
    int64_t (*read)(uint32_t kind, uint64_t index, void *to, uint64_t bytes);
    /* As sys_trace_control with enum trace_operation; sets all rings of TRACE_OP_SET_GEOMETRY. */
    int64_t (*control)(uint32_t operation, uint64_t a, uint64_t b);
    /* Prints a piece of a list. */
    trace_print_list *print;
    char error[TRACE_COMMAND_ERROR_MAX]; /* why the last command was refused, without a newline */
    /* the command that is executed */
    const struct trace_command *command;
    char *const *words;
    uint32_t count;
};

/* Put the settings as text. */
typedef void trace_list(struct trace_settings *settings);
trace_list trace_list_classes, trace_list_switches, trace_list_sampled, trace_list_thresholds,
    trace_list_mode, trace_list_low_water, trace_list_buffers, trace_list_counters, trace_list_locks;

/* The counter, or class, with that index; false: there is none. */
bool trace_read_counter(struct trace_settings *settings, uint32_t index, struct system_counter *counter);
bool trace_read_lock_class(struct trace_settings *settings, uint32_t index, struct system_lock_class *class);
/* The event at a place in the order of classes and minors; NULL: there is none. */
#define TRACE_PLACES (TRACE_CLASS_COUNT * TRACE_MINORS_SWITCHED)
const struct trace_event_info *trace_event_at(const struct trace_settings *settings, uint32_t place);
/* Joins texts, up to NULL, as far as they fit. */
void trace_join(char *to, uint64_t size, const char *const *parts);
#define TRACE_JOIN(to, size, ...) trace_join(to, size, (const char *const[]){__VA_ARGS__, 0})
