/* SPDX-License-Identifier: BSD-2-Clause */
/* routines.c - names of routines. Interface: routines.h. No C library: also for the kernel. */
#include <stddef.h>
#include <trace/format/format.h>
#include <trace/format/text.h>
#include <trace/print/routines.h>

/* The events whose fields name the arguments. */
struct argument_names {
    const char *kind;
    const char *event; /* full name; NULL: none */
    const char *field;
};

static const struct argument_names kinds[TRACE_ROUTINE_KINDS] = {
    [TRACE_ROUTINE_SYSCALL] = {"syscall", "syscall_entry", "number"},
    [TRACE_ROUTINE_FAULT] = {"fault", "fault_exit", "kind"},
    [TRACE_ROUTINE_EXCEPTION] = {"exception", NULL, NULL},
    [TRACE_ROUTINE_INTERRUPT] = {"interrupt", NULL, NULL},
    [TRACE_ROUTINE_IPI] = {"ipi", "irq_ipi_entry", "kind"},
    [TRACE_ROUTINE_TIMER] = {"timer", NULL, NULL},
    [TRACE_ROUTINE_IDLE] = {"idle", NULL, NULL},
    [TRACE_ROUTINE_CALL] = {"call", "ipc_call", "label"},
    [TRACE_ROUTINE_OUT] = {"out", NULL, NULL},
    [TRACE_ROUTINE_SERVED] = {"served", "ipc_call", "label"},
    [TRACE_ROUTINE_OTHERS] = {"others", NULL, NULL},
    [TRACE_ROUTINE_PROGRAM] = {"program", NULL, NULL},
};

/* enum thread_state of tarn/abi.h */
static const char *const out_reasons[] = {"idle",  "preempted",    "ipc_send", "ipc_receive",
                                          "reply", "notification", "futex",    "sleeping",
                                          "fault", "suspended",    "dead"};

static bool is_same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static const struct trace_event_info *find_named(const char *name, trace_find_info *find)
{
    for (uint32_t class_number = 0; class_number < TRACE_CLASS_APP_FIRST; class_number++)
        for (uint32_t minor = 0; minor < TRACE_MINORS_SWITCHED; minor++) {
            const struct trace_event_info *event = find(TRACE_ID(class_number, minor));
            if (event && is_same(event->full_name, name))
                return event;
        }
    return NULL;
}

static const char *find_value(const struct trace_enum_table *table, uint64_t value)
{
    for (uint32_t i = 0; table && i < table->count; i++)
        if (table->values[i].value == value)
            return table->values[i].name;
    return NULL;
}

/* NULL: it has none. */
static const char *argument_name(const struct argument_names *names, uint64_t argument, trace_find_info *find)
{
    const struct trace_event_info *event = names->event ? find_named(names->event, find) : NULL;
    for (uint32_t i = 0; event && i < event->field_count; i++)
        if (is_same(event->fields[i].name, names->field))
            return find_value(event->fields[i].enumeration, argument);
    return NULL;
}

const char *trace_routine_kind_name(enum trace_routine_kind kind)
{
    return kind < TRACE_ROUTINE_KINDS ? kinds[kind].kind : "?";
}

static bool has_argument(enum trace_routine_kind kind)
{
    return kind < TRACE_ROUTINE_OTHERS && kind != TRACE_ROUTINE_TIMER && kind != TRACE_ROUTINE_IDLE;
}

const char *trace_routine_name(uint64_t key, trace_find_info *find, char name[TRACE_ROUTINE_NAME_BYTES])
{
    const enum trace_routine_kind kind = trace_routine_kind(key);
    const uint64_t argument = trace_routine_argument(key);
    struct trace_text text = {.bytes = name, .capacity = TRACE_ROUTINE_NAME_BYTES - 1};
    trace_text_add(&text, trace_routine_kind_name(kind));
    if (has_argument(kind)) {
        const char *word = kind != TRACE_ROUTINE_OUT ? argument_name(&kinds[kind], argument, find)
                           : argument < sizeof out_reasons / sizeof *out_reasons ? out_reasons[argument]
                                                                                 : NULL;
        trace_text_char(&text, ' ');
        if (word)
            trace_text_add(&text, word);
        else
            trace_text_number(&text, argument);
    }
    name[text.length < text.capacity ? text.length : text.capacity] = 0;
    return name;
}
