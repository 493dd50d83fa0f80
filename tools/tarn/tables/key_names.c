/* SPDX-License-Identifier: BSD-2-Clause */
/* key_names.c - names for the keys of tables of counters; see key_names.h. */
#include "trace/events.h" /* generated */
#include <stdio.h>
#include <string.h>
#include <tools/tarn/index/index_walk.h>
#include <tools/tarn/tables/key_names.h>

/* ---- where names come from ------------------------------------------------------------------------- */

static bool parse_lock_classes(struct lock_classes *classes, const uint8_t *data, size_t size,
                               struct fail *fail)
{
    classes->count = size >= 8 ? wire_get32(data) : UINT32_MAX;
    if (classes->count > WIRE_LOCK_CLASSES_MAX || size < 8 + classes->count * WIRE_LOCK_CLASS_BYTES)
        return fail_set(fail, "the guest's list of lock classes is invalid");
    data += 8;
    for (uint32_t i = 0; i < classes->count; i++, data += WIRE_LOCK_CLASS_BYTES) {
        struct wire_lock_class *class = &classes->class[i];

        *class = (struct wire_lock_class){wire_get32(data), wire_get32(data + 4), wire_get64(data + 8), ""};
        memcpy(class->name, data + 16, WIRE_LOCK_NAME_BYTES - 1);
        for (char *at = class->name; *at != '\0'; at++)
            if (*at < ' ' || *at > '~' || *at == '"' || *at == '\\')
                *at = '?';
    }
    return true;
}

static bool ask_lock_classes(struct source *source, struct lock_classes *classes, struct fail *fail)
{
    const struct wire_request request = {.operation = WIRE_OP_LOCK_CLASSES};
    struct source_reply reply;

    return source_control(source, &request, "", &reply, fail) &&
           parse_lock_classes(classes, reply.data, reply.size, fail);
}

void key_names_open(struct key_names *names, struct source *source)
{
    struct fail ignored;

    *names = (struct key_names){0};
    if (source->class->link != NULL && !source->is_previous &&
        !ask_lock_classes(source, &names->classes, &ignored))
        names->classes.count = 0; /* their numbers have to do */
}

void key_names_open_routines(struct key_names *names, const struct routines *routines, const char *path)
{
    static const uint8_t uuid[16] = TRACE_SCHEMA_UUID_BYTES;

    *names = (struct key_names){.routines = routines,
                                .knows_arguments = memcmp(routines->hello.uuid, uuid, sizeof(uuid)) == 0,
                                .symbols = symbols_open(NULL, path)};
}

void key_names_close(struct key_names *names)
{
    if (names->symbols != NULL)
        symbols_close(names->symbols);
    *names = (struct key_names){0};
}

/* ---- names ----------------------------------------------------------------------------------------- */

static const char *class_name(const struct key_names *names, uint64_t number)
{
    for (uint32_t i = 0; i < names->classes.count; i++)
        if (names->classes.class[i].number == number)
            return names->classes.class[i].name;
    return NULL;
}

static const struct trace_event_info *find_nothing(uint32_t id)
{
    (void)id;
    return NULL;
}

/* NULL: the routine is no function, or its executable is not found. */
static const char *find_function(const struct key_names *names, uint32_t context)
{
    const struct trace_routine *routine = trace_routine_find(&names->routines->names, context);

    if (routine == NULL || routine->name[0] != '\0')
        return NULL;
    struct executable executable = {
        .pid = 1, .base = routine->base, .size = routine->size, .path = (char *)routine->program};
    memcpy(executable.build_id, routine->build_id, sizeof(executable.build_id));
    return symbol_outermost(symbols_find(names->symbols, &executable, routine->address))->function;
}

static const char *name_context(const struct key_names *names, uint32_t context, char text[KEY_NAME_BYTES])
{
    const char *function = find_function(names, context);

    if (function == NULL)
        return trace_context_name(context, &names->routines->names,
                                  names->knows_arguments ? trace_event_find : find_nothing, text);
    snprintf(text, TRACE_ROUTINE_NAME_BYTES, "%s", function);
    for (char *c = text; *c != '\0'; c++)
        if (*c < ' ' || *c > '~' || *c == ';' || *c == '"')
            *c = '?';
    return text;
}

static bool is_of_program(uint64_t key)
{
    return trace_routine_kind(key) == TRACE_ROUTINE_PROGRAM && trace_routine_context(key) != 0;
}

const char *routine_name(const struct key_names *names, uint64_t key, char text[KEY_NAME_BYTES])
{
    return is_of_program(key)
               ? name_context(names, trace_routine_context(key), text)
               : trace_routine_name(key, names->knows_arguments ? trace_event_find : find_nothing, text);
}

const char *context_name(const struct key_names *names, uint64_t key, char text[KEY_NAME_BYTES])
{
    const uint32_t context = trace_routine_context(key);

    return context == 0 || is_of_program(key) ? NULL : name_context(names, context, text);
}

const char *key_name(const struct key_names *names, const char *key, uint64_t value,
                     char text[KEY_NAME_BYTES])
{
    if (value == TRACE_KEY_ENDED)
        return "(ended)";
    if (strcmp(key, "lock_class") == 0)
        return class_name(names, value);
    if (strcmp(key, "pid") == 0)
        return value == 0 ? "kernel" : NULL;
    if (strcmp(key, "routine") == 0)
        return routine_name(names, value, text);
    if (strcmp(key, "what") == 0)
        return value == 0 ? "wait" : value == 1 ? "hold" : NULL;
    return NULL;
}
