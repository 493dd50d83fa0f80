/* SPDX-License-Identifier: BSD-2-Clause */
/* key_names.c - names for the keys of tables of counters; see key_names.h. */
#include "trace/events.h" /* generated */
#include <inttypes.h>
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

static bool learn_trace(struct key_names *names, const struct wire_hello *hello, const char *directory,
                        const char *path, struct fail *fail)
{
    struct merge merge;

    if (!trace_open(&names->trace, directory, fail))
        return false;
    if (memcmp(names->trace.schema.uuid, hello->uuid, sizeof(hello->uuid)) != 0) {
        trace_close(&names->trace);
        return fail_set(fail, "%s is the trace of another system: its UUID differs", directory);
    }
    model_open(&names->model, &names->trace, 0, UINT64_MAX);
    walk_open_late(&names->model, &merge, 0, NULL);
    model_walk_range(&names->model, &merge, NULL, NULL);
    merge_close(&merge);
    names->symbols = symbols_open(directory, path);
    names->has_trace = true;
    return true;
}

bool key_names_open(struct key_names *names, struct source *source, const char *directory, const char *path,
                    struct fail *fail)
{
    struct fail ignored;

    *names = (struct key_names){0};
    if (source->class->link != NULL && !source->is_previous &&
        !ask_lock_classes(source, &names->classes, &ignored))
        names->classes.count = 0; /* their numbers have to do */
    return directory == NULL || learn_trace(names, &source->hello, directory, path, fail);
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
    if (names->has_trace) {
        model_close(&names->model);
        trace_close(&names->trace);
    }
    *names = (struct key_names){0};
}

/* ---- names ----------------------------------------------------------------------------------------- */

static const char *class_name(const struct key_names *names, uint64_t number)
{
    for (uint32_t i = 0; i < names->classes.count; i++)
        if (names->classes.class[i].number == number)
            return names->classes.class[i].name;
    if (names->has_trace && number < MODEL_LOCK_CLASSES && names->model.lock_classes[number].name[0] != '\0')
        return names->model.lock_classes[number].name;
    return NULL;
}

static const char *process_name(const struct key_names *names, uint64_t pid)
{
    if (pid == 0)
        return "kernel";
    return names->has_trace && pid <= UINT32_MAX ? names_find(&names->model.names, (uint32_t)pid) : NULL;
}

/* Names the function or variable at an address, with the offset into it. AT: where to search. */
static const char *symbol_at(struct key_names *names, uint32_t pid, uint64_t at, uint64_t address,
                             char text[KEY_NAME_BYTES])
{
    const struct executable *executable =
        names->has_trace ? executables_find(&names->model.executables, pid, at) : NULL;
    const struct symbol *symbol =
        executable != NULL ? symbol_outermost(symbols_find(names->symbols, executable, at)) : NULL;

    if (symbol == NULL || symbol->function == NULL)
        return NULL;
    const uint64_t offset = symbol->offset + (address - at);
    if (offset != 0)
        snprintf(text, KEY_NAME_BYTES, "%.200s+0x%" PRIx64, symbol->function, offset);
    else
        snprintf(text, KEY_NAME_BYTES, "%.200s", symbol->function);
    return text;
}

static const char *lock_name_of(struct key_names *names, uint64_t lock, uint32_t pid,
                                char text[KEY_NAME_BYTES])
{
    const char *name = names->has_trace ? names_of(&names->model.names, pid, lock) : NULL;

    return name != NULL ? name : symbol_at(names, pid, lock, lock, text);
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

const char *key_name(struct key_names *names, const char *key, uint64_t value, uint32_t pid,
                     char text[KEY_NAME_BYTES])
{
    if (value == TRACE_KEY_ENDED)
        return "(ended)";
    if (strcmp(key, "lock_class") == 0)
        return class_name(names, value);
    if (strcmp(key, "pid") == 0)
        return process_name(names, value);
    if (strcmp(key, "lock") == 0)
        return lock_name_of(names, value, pid, text);
    if (strcmp(key, "site") == 0) /* a return address: the call is before it */
        return symbol_at(names, pid, value - 1, value, text);
    if (strcmp(key, "routine") == 0)
        return routine_name(names, value, text);
    if (strcmp(key, "what") == 0)
        return value == 0 ? "wait" : value == 1 ? "hold" : NULL;
    return NULL;
}
