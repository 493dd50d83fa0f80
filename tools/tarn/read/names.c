/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c - process names; see names.h. */
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
    names->size = 64;
    names->table = alloc_zero(names->size, sizeof(names->table[0]));
    names_set(names, 0, "kernel", 6);
}

void names_close(struct names *names)
{
    free(names->table);
    free(names->told_by);
    names->table = NULL;
    names->told_by = NULL;
}

/* Returns PID's place, or a free one. */
static struct process_name *find_place(const struct names *names, uint32_t pid)
{
    uint32_t at = pid * 2654435761u;

    for (;; at++) {
        struct process_name *place = &names->table[at & (names->size - 1)];

        if (!place->is_used || place->pid == pid)
            return place;
    }
}

const char *names_find(const struct names *names, uint32_t pid)
{
    const struct process_name *place = find_place(names, pid);

    return place->is_used ? place->name : NULL;
}

static void grow_table(struct names *names)
{
    struct process_name *old = names->table;
    uint32_t old_size = names->size;

    names->size *= 2;
    names->table = alloc_zero(names->size, sizeof(names->table[0]));
    for (uint32_t i = 0; i < old_size; i++)
        if (old[i].is_used)
            *find_place(names, old[i].pid) = old[i];
    free(old);
}

/* NULL: too many processes. */
static struct process_name *add_place(struct names *names, uint32_t pid)
{
    struct process_name *place = find_place(names, pid);

    if (!place->is_used) {
        if (names->count == NAMES_MAX)
            return NULL;
        if (++names->count * 2 > names->size) {
            grow_table(names);
            place = find_place(names, pid);
        }
    }
    place->pid = pid;
    place->is_changed |= !place->is_used;
    place->is_used = true;
    return place;
}

void names_set(struct names *names, uint32_t pid, const char *name, size_t length)
{
    struct process_name *place = add_place(names, pid);

    if (place == NULL)
        return;
    length = length < sizeof(place->name) - 1 ? length : sizeof(place->name) - 1;
    if (strlen(place->name) != length || memcmp(place->name, name, length) != 0) {
        names->changes++;
        place->is_changed = true;
    }
    memcpy(place->name, name, length);
    place->name[length] = '\0';
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

static void learn_from_source(struct names *names, const struct name_source *source,
                              const struct event *event)
{
    uint32_t pid;
    size_t length;
    const char *name = names_told(source, event, &pid, &length);

    if (name != NULL && (!source->is_thread || names_find(names, pid) == NULL))
        names_set(names, pid, name, length);
}

void names_learn_from(struct names *names, const struct event *event)
{
    for (unsigned told_by = names->told_by[event->type->index]; told_by != 0; told_by &= told_by - 1)
        learn_from_source(names, &names->sources[__builtin_ctz(told_by)], event);
}
