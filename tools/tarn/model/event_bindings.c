/*
 * event_bindings.c - binds the trace's events and fields to the model's handlers, and finds what the schema
 * lacks; see model_parts.h.
 */
#include <stdio.h>
#include <tools/tarn/model/model_parts.h>

/* Fields are in the order of `at`. An event type that lacks one is ignored. */
struct event_binding {
    const char *event;
    model_handler *handle;
    const char *fields[8];
    /* bytes of each; T: text or string; S: two bytes with the numbers of model_state_names */
    const char *widths;
};

static const struct event_binding scheduling[] = {
    {"trace_control", on_control, {"old_mask", "mask"}, "88"},
    {"sched_switch",
     on_switch,
     {"prev_tid", "prev_pid", "prev_comm", "prev_state", "next_tid", "next_pid", "next_comm", "next_prio"},
     "44TS44T2"},
    {"sched_wakeup", on_wakeup, {"comm", "tid", "prio"}, "T42"},
    {"sched_enqueue", on_enqueue, {"tid"}, "4"},
    {"sched_process_fork", on_thread_create, {"child_comm", "child_tid", "child_pid"}, "T44"},
    {"sched_process_exit", on_thread_exit, {"tid"}, "4"},
    {"sched_priority", on_priority, {"tid", "prio"}, "44"},
    {"timer_expire", on_expire, {"tid"}, "4"},
    {"power_cpu_idle", on_cpu_idle, {"state"}, "4"},
    {"lttng_statedump_process_state",
     on_state_thread,
     {"tid", "pid", "state", "prio", "cpu", "name"},
     "44422T"},
};

/* Processes, programs and names. */
static const struct event_binding names[] = {
    {"process_create", on_process_create, {"pid", "parent_pid"}, "44"},
    {"process_exec", on_process_exec, {"pid", "filename"}, "4T"},
    {"process_exit", on_process_exit, {"pid", "status"}, "44"},
    {"process_free", on_process_free, {"pid"}, "4"},
    {"process_rename", on_process_rename, {"pid"}, "4"},
    {"state_process", on_state_process, {"pid", "parent_pid"}, "44"},
    {"state_image",
     on_state_image,
     {"pid", "base", "size", "build_id_high", "build_id_low", "filename"},
     "48888T"},
    {"profile_setting", on_sampling, {"period", "counts_instructions", "unit"}, "84T"},
    {"trace_sampling", on_event_sampling, {"class_number", "minor", "every", "old_every"}, "4444"},
    {"trace_threshold", on_event_threshold, {"class_number", "minor", "threshold", "old_threshold"}, "4444"},
    {"lttng_statedump_interrupt", on_state_irq, {"irq", "action"}, "4T"},
    {"state_lock_class", on_state_lock_class, {"lock_class", "name", "watch", "kind"}, "4T44"},
    {"lock_name", on_lock_name, {"lock", "pid", "name"}, "84T"},
};

/* Activities and calls. */
static const struct event_binding details[] = {
    {"syscall_entry", on_syscall_entry, {"number", "tid", "arg0", "arg1"}, "4488"},
    {"syscall_exit", on_syscall_exit, {"number", "tid", "ret"}, "448"},
    {"libc_entry", on_libc_entry, {"call", "tid", "arg0", "arg1"}, "4488"},
    {"libc_exit", on_libc_exit, {"call", "tid", "ret"}, "448"},
    {"fault_entry", on_fault_entry, {"address", "ip", "tid"}, "884"},
    {"fault_exit", on_fault_exit, {"address", "duration", "kind", "tid"}, "8844"},
    {"exception_entry", on_exception_entry, {"vector", "tid", "ip", "code"}, "4488"},
    {"exception_exit", on_exception_exit, {"vector", "action"}, "44"},
    {"irq_handler_entry", on_irq_entry, {"irq", "ip"}, "48"},
    {"irq_handler_exit", on_irq_exit, {"irq", "ret"}, "44"},
    {"irq_ipi_entry", on_ipi_entry, {"kind"}, "4"},
    {"irq_ipi_exit", on_ipi_exit, {"kind"}, "4"},
    {"fs_request_begin", on_request_begin, {"request", "client", "file"}, "448"},
    {"fs_request_end", on_request_end, {"request", "result"}, "44"},
    {"ipc_call", on_call, {"call_id", "label", "endpoint", "server_tid"}, "8844"},
    {"ipc_receive", on_receive, {"call_id", "client_tid"}, "84"},
    {"ipc_reply", on_reply, {"call_id", "label", "client_tid"}, "884"},
    {"ipc_return", on_return, {"call_id", "error"}, "88"},
};

/* Older schemas lack them: then a thread has its new name from its next switch on, and runs while switches
 * are off. */
static const struct event_binding late[] = {
    {"sched_rename", on_thread_rename, {"tid", "pid", "name"}, "44T"},
    {"trace_switches", on_switches, {"class_number", "old_events", "events"}, "488"}};

/* For --without-drain: older schemas lack the marks of the drain (filter_resolve). */
static const struct event_binding marks[] = {
    {"irq_timer_entry", on_timer_entry, {"due"}, "8"},
    {"irq_timer_exit", on_timer_exit, {"expired"}, "4"},
    {"trace_drain_begin", on_drain_begin, {"tid", "cpu"}, "44"},
    {"trace_drain_end", on_drain_end, {"tid", "is_last"}, "44"},
};

#define ROWS(table) table, sizeof(table) / sizeof(table[0])

static const struct {
    const struct event_binding *rows;
    size_t count;
    bool is_detail;
    const char *without; /* the effect on analyses; NULL: none */
} groups[] = {{ROWS(scheduling), false, "states of threads (running, ready, waiting) are wrong"},
              {ROWS(names), false, "processes, programs or names are missing"},
              {ROWS(details), true, "calls, faults, interrupts or requests are missing"},
              {ROWS(late), false, NULL},
              {ROWS(marks), true, NULL}};
#define GROUPS (sizeof(groups) / sizeof(groups[0]))

static bool has_width(const struct field *field, char width, bool swap)
{
    if (field == NULL)
        return false;
    if (width == 'T')
        return field->kind == FIELD_STRING || (field->kind == FIELD_TEXT && field->count == TRACE_NAME_BYTES);
    return (field->kind == FIELD_INTEGER || field->kind == FIELD_ENUM) &&
           field->width == (width == 'S' ? 2 : width - '0') && field->swap == swap;
}

#define LACKS_SHOWN 6u /* any more are only counted */

struct lacks {
    char names[300];
    size_t used;
    unsigned count;
};

static void add_lack(struct lacks *lacks, const char *event, const char *field)
{
    if (lacks->count++ < LACKS_SHOWN && lacks->used < sizeof(lacks->names))
        lacks->used += (size_t)snprintf(lacks->names + lacks->used, sizeof(lacks->names) - lacks->used,
                                        "%s%s%s%s", lacks->count > 1 ? ", " : "", event,
                                        field != NULL ? "." : "", field != NULL ? field : "");
}

/* Whether the labels have the model's state names under the same numbers. */
static bool has_states(const struct field *field)
{
    for (const struct label *label = field->labels; label != NULL; label = label->next) {
        uint64_t state = MODEL_STATE_OF(label->value);
        if (state > MODEL_DEAD || strcmp(label->name, model_state_names[state]) != 0)
            return false;
    }
    return field->labels != NULL;
}

/* Sets the action; false: the schema lacks something. LACKS: what, or NULL. */
static bool bind(const struct schema *schema, const struct event_binding *binding,
                 struct model_action *action, struct lacks *lacks)
{
    const struct event_type *type = schema_find_event(schema, binding->event);
    bool is_whole = type != NULL;
    *action = (struct model_action){.handle = binding->handle};
    if (type == NULL && lacks != NULL && schema_other_system(schema) == NULL)
        add_lack(lacks, binding->event, NULL);
    for (unsigned i = 0; type != NULL && binding->widths[i] != '\0'; i++) {
        const struct field *field = schema_find_field(type, binding->fields[i]);
        bool fits = has_width(field, binding->widths[i], schema->swap);
        action->at[i] = fits ? (uint16_t)field->offset : 0;
        is_whole &= fits;
        if (lacks != NULL && (!fits || (binding->widths[i] == 'S' && !has_states(field))))
            add_lack(lacks, binding->event, binding->fields[i]);
    }
    return is_whole;
}

void event_bindings_resolve(struct model *model, bool only_scheduling)
{
    const struct schema *schema = &model->trace->schema;
    struct model_action action;
    for (size_t g = 0; g < GROUPS; g++)
        for (size_t i = 0; i < groups[g].count && !(groups[g].is_detail && only_scheduling); i++)
            if (bind(schema, &groups[g].rows[i], &action, NULL))
                model->actions[schema_find_event(schema, groups[g].rows[i].event)->index] = action;
}

bool model_lacks(const struct schema *schema, bool only_scheduling, char *text, size_t size)
{
    struct lacks lacks = {.count = 0};
    struct model_action action;
    char without[300] = "", more[32] = "";
    size_t used = 0;
    for (size_t g = 0; g < GROUPS; g++) {
        unsigned before = lacks.count;
        for (size_t i = 0;
             groups[g].without != NULL && i < groups[g].count && !(groups[g].is_detail && only_scheduling);
             i++)
            bind(schema, &groups[g].rows[i], &action, &lacks);
        if (lacks.count > before)
            used += (size_t)snprintf(without + used, sizeof(without) - used, "%s%s", used > 0 ? ", " : "",
                                     groups[g].without);
    }
    if (lacks.count > LACKS_SHOWN)
        snprintf(more, sizeof(more), " and %u more", lacks.count - LACKS_SHOWN);
    if (lacks.count > 0 && schema_other_system(schema) != NULL)
        snprintf(text, size,
                 "the events of %s are not declared as the model needs them: %s%s. So %s. Declare them as "
                 "Tarn's trace/schema does, or give them other names",
                 schema_other_system(schema), lacks.names, more, without);
    else if (lacks.count > 0)
        snprintf(text, size,
                 "the trace is from another version of Tarn: its schema lacks, or declares differently, "
                 "%s%s. So %s. "
                 "Use the tarn of that version; tarn list and tarn check work with any version",
                 lacks.names, more, without);
    return lacks.count > 0;
}
