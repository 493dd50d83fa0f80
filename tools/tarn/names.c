/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/names.c - names of processes; see names.h. */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/names.h>

static void set_source(struct name_source *source, const struct schema *schema, const char *event,
                       const char *name)
{
    source->type = schema_find_event(schema, event);
    source->pid = schema_find_field(source->type, "pid");
    source->name = schema_find_field(source->type, name);
    if (source->pid == NULL || source->name == NULL || source->pid->kind != FIELD_INTEGER ||
        (source->name->kind != FIELD_TEXT && source->name->kind != FIELD_STRING))
        memset(source, 0, sizeof(*source));
}

void names_open(struct names *names, const struct schema *schema)
{
    memset(names, 0, sizeof(*names));
    set_source(&names->sources[0], schema, "state_process", "name");
    set_source(&names->sources[1], schema, "process_rename", "name");
    set_source(&names->sources[2], schema, "process_exec", "filename");
    names->size = 64;
    names->table = alloc_zero(names->size, sizeof(names->table[0]));
}

void names_close(struct names *names)
{
    free(names->table);
    names->table = NULL;
}

/* The place of PID, or the free place where it would go. The table is never full. */
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

void names_set(struct names *names, uint32_t pid, const char *name, size_t length)
{
    struct process_name *place = find_place(names, pid);

    if (!place->is_used) {
        if (names->count == NAMES_MAX)
            return;
        if (++names->count * 2 > names->size) {
            grow_table(names);
            place = find_place(names, pid);
        }
    }
    place->pid = pid;
    place->is_used = true;
    length = length < sizeof(place->name) - 1 ? length : sizeof(place->name) - 1;
    memcpy(place->name, name, length);
    place->name[length] = '\0';
}

void names_learn_from(struct names *names, const struct name_source *source, const struct event *event)
{
    const char *name = (const char *)event->bytes + source->name->offset;
    size_t length = field_text_length(source->name, event);

    /* of a path, the last part */
    for (size_t i = length; source->name->kind == FIELD_STRING && i-- > 0;)
        if (name[i] == '/') {
            name += i + 1;
            length -= i + 1;
            break;
        }
    if (length > 0)
        names_set(names, (uint32_t)field_integer(source->pid, event->bytes), name, length);
}
