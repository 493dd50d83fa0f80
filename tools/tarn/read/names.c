/* names.c - names of processes, locks and interrupts; see names.h. */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/read/names.h>

/* The order matters. An event that names two processes has two sources. */
static const struct {
    const char *event, *pid, *name;
    bool is_thread;
} telling[NAME_SOURCES] = {
    {"state_process", "pid", "name", false},
    {"process_rename", "pid", "name", false},
    {"process_exec", "pid", "filename", false},
    {"sched_process_fork", "child_pid", "child_comm", true},
    {"lttng_statedump_process_state", "pid", "name", true},
    {"sched_rename", "pid", "name", true},
    {"sched_switch", "prev_pid", "prev_comm", true},
    {"sched_switch", "next_pid", "next_comm", true},
    {"trace_context", "pid", "name", true},
    {"state_image", "pid", "filename", true},
};

static void set_source(struct names *names, const struct schema *schema, unsigned number)
{
    const struct event_type *type = schema_find_event(schema, telling[number].event);
    const struct field *pid = schema_find_field(type, telling[number].pid);
    const struct field *name = schema_find_field(type, telling[number].name);
    if (pid == NULL || name == NULL || pid->kind != FIELD_INTEGER ||
        (name->kind != FIELD_TEXT && name->kind != FIELD_STRING))
        return;
    names->sources[number] = (struct name_source){pid, name, telling[number].is_thread};
    names->told_by[type->index] |= (uint16_t)(1u << number);
}

void names_open(struct names *names, const struct schema *schema)
{
    memset(names, 0, sizeof(*names));
    names->told_by = alloc_zero(schema->event_count + 1, sizeof(names->told_by[0]));
    for (unsigned i = 0; i < NAME_SOURCES; i++)
        set_source(names, schema, i);
    map_open(&names->table, sizeof(struct known_name));
    names->table.limit = NAMES_MAX;
    names_set(names, 0, 0, "kernel", 6);
}

void names_close(struct names *names)
{
    map_close(&names->table);
    free(names->told_by);
    names->told_by = NULL;
}

const char *names_of(const struct names *names, uint32_t pid, uint64_t thing)
{
    const struct known_name *known = map_find(&names->table, pid, thing, 0);
    return known != NULL && known->name[0] != '\0' ? known->name : NULL;
}

void names_set(struct names *names, uint32_t pid, uint64_t thing, const char *name, size_t length)
{
    bool is_new = false,
         is_full = thing != 0 && names->table.count >= NAMES_MAX / 2; /* others are for processes */
    struct known_name *known =
        is_full ? map_find(&names->table, pid, thing, 0) : map_add(&names->table, pid, thing, 0, &is_new);
    if (known == NULL)
        return; /* too many */
    known->pid = pid;
    known->thing = thing;
    known->is_changed |= is_new;
    length = strnlen(name, length < sizeof(known->name) - 1 ? length : sizeof(known->name) - 1);
    if (strlen(known->name) != length || memcmp(known->name, name, length) != 0) {
        names->changes++;
        known->is_changed = true;
    }
    memcpy(known->name, name, length);
    known->name[length] = '\0';
}

const char *names_told(const struct name_source *source, const struct event *event, uint32_t *pid,
                       size_t *length)
{
    const char *name = (const char *)event->bytes + source->name->offset;
    *pid = (uint32_t)field_integer(source->pid, event->bytes);
    *length = field_text_length(source->name, event);
    for (size_t i = *length; source->name->kind == FIELD_STRING && i-- > 0;)
        if (name[i] == '/') {
            name += i + 1;
            *length -= i + 1;
            break;
        }
    return *pid != 0 && *length > 0 ? name : NULL;
}

void names_copy(struct names *to, const struct names *from)
{
    for (size_t i = 0; i < from->table.count; i++) {
        const struct known_name *known = map_value(&from->table, i);
        names_set(to, known->pid, known->thing, known->name, strlen(known->name));
    }
}

void names_learn_from(struct names *names, const struct event *event)
{
    uint32_t pid;
    size_t length;
    for (unsigned told_by = names->told_by[event->type->index]; told_by != 0; told_by &= told_by - 1) {
        const struct name_source *source = &names->sources[__builtin_ctz(told_by)];
        const char *name = names_told(source, event, &pid, &length);
        if (name != NULL && (!source->is_thread || names_find(names, pid) == NULL))
            names_set(names, pid, 0, name, length);
    }
}
