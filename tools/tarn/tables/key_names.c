/* key_names.c - names for the keys of tables of counters; see key_names.h. */
#include "trace/events.h" /* generated */
#include <stdio.h>
#include <string.h>
#include <tools/tarn/tables/key_names.h>

void key_names_open(struct key_names *names, struct source *source)
{
    const struct wire_request request = {.operation = WIRE_OP_LOCK_CLASSES};
    struct source_reply reply;
    struct fail ignored; /* their numbers have to do */
    *names = (struct key_names){0};
    if (source->class->link == NULL || source->is_previous ||
        !source_control(source, &request, "", &reply, &ignored))
        return;
    for (size_t at = 8;
         at + WIRE_LOCK_CLASS_BYTES <= reply.size && names->class_count < WIRE_LOCK_CLASSES_MAX;
         at += WIRE_LOCK_CLASS_BYTES) {
        struct lock_class_name *class = &names->classes[names->class_count++];
        class->number = wire_get32(reply.data + at);
        memcpy(class->name, reply.data + at + 16, WIRE_LOCK_NAME_BYTES - 1);
        make_plain(class->name, "\"\\");
    }
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
    make_plain(text, ";\"");
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
    for (uint32_t i = 0; i < names->class_count && strcmp(key, "lock_class") == 0; i++)
        if (names->classes[i].number == value)
            return names->classes[i].name;
    if (strcmp(key, "pid") == 0)
        return value == 0 ? "kernel" : NULL;
    if (strcmp(key, "routine") == 0)
        return routine_name(names, value, text);
    if (strcmp(key, "what") == 0)
        return value == 0 ? "wait" : value == 1 ? "hold" : NULL;
    return NULL;
}
