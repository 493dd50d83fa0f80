/* SPDX-License-Identifier: BSD-2-Clause */
/* routines_export.c - names of routines, and tables for TAU; see routines.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tools/tarn/command/routines.h>
#include <tools/tarn/symbols/symbols.h>
#include <trace/events.h>

void routines_names_open(struct routine_names *names, const struct routines *routines, const char *path)
{
    static const uint8_t uuid[16] = TRACE_SCHEMA_UUID_BYTES;

    names->are_known = memcmp(routines->hello.uuid, uuid, sizeof(uuid)) == 0;
    names->routines = &routines->names;
    names->symbols = symbols_open(NULL, path);
}

void routines_names_close(struct routine_names *names)
{
    symbols_close(names->symbols);
}

static const struct trace_event_info *find_nothing(uint32_t id)
{
    (void)id;
    return NULL;
}

/* NULL: the routine is no function, or its executable is not found. */
static const char *find_function(const struct routine_names *names, uint32_t context)
{
    const struct trace_routine *routine = trace_routine_find(names->routines, context);

    if (routine == NULL || routine->name[0] != '\0')
        return NULL;
    struct executable executable = {
        .pid = 1, .base = routine->base, .size = routine->size, .path = (char *)routine->program};
    memcpy(executable.build_id, routine->build_id, sizeof(executable.build_id));
    return symbol_outermost(symbols_find(names->symbols, &executable, routine->address))->function;
}

/* Replaces characters that ASCII cannot print or that are in REFUSED. */
static void make_plain(char *text, const char *refused)
{
    for (char *c = text; *c != '\0'; c++)
        if (*c < ' ' || *c > '~' || strchr(refused, *c) != NULL)
            *c = '?';
}

static const char *context_name(const struct routine_names *names, uint32_t context,
                                char name[TRACE_ROUTINE_NAME_BYTES])
{
    const char *function = find_function(names, context);

    if (function == NULL)
        return trace_context_name(context, names->routines,
                                  names->are_known ? trace_event_find : find_nothing, name);
    snprintf(name, TRACE_ROUTINE_NAME_BYTES, "%s", function);
    make_plain(name, ";\"");
    return name;
}

const char *row_routine_name(const struct routine_names *names, uint64_t key,
                             char name[TRACE_ROUTINE_NAME_BYTES])
{
    const uint32_t context = trace_routine_context(key);

    if (trace_routine_kind(key) == TRACE_ROUTINE_PROGRAM && context != 0)
        return context_name(names, context, name);
    return trace_routine_name(key, names->are_known ? trace_event_find : find_nothing, name);
}

const char *row_context_name(const struct routine_names *names, uint64_t key,
                             char name[TRACE_ROUTINE_NAME_BYTES])
{
    name[0] = '\0';
    return trace_routine_context(key) == 0 ? name : context_name(names, trace_routine_context(key), name);
}

static double in_us(uint64_t ticks, uint64_t clock_hz)
{
    return (double)ticks * 1e6 / (double)(clock_hz ? clock_hz : 1);
}

static bool is_of_program(uint64_t key)
{
    return trace_routine_kind(key) == TRACE_ROUTINE_PROGRAM;
}

/* ---- TAU ------------------------------------------------------------------------------------------- */

/* Whether a routine lies within the program, as TAU shows it: not served calls, nor the program itself. */
static bool is_nested(uint64_t key)
{
    return trace_routine_kind(key) != TRACE_ROUTINE_SERVED &&
           (!is_of_program(key) || trace_routine_context(key) != 0);
}

/* TAU numbers its files from 0, so each file names its process and thread. */
static void write_owner(FILE *file, const struct trace_routines *head)
{
    static const char attribute[] = "<attribute><name>%s</name><value>%s</value></attribute>";
    char process[ROUTINES_NAME_BYTES], number[16];

    routines_name(head, process);
    make_plain(process, "<>&");
    fprintf(file, "# Name Calls Subrs Excl Incl ProfileCalls # <metadata>");
    fprintf(file, attribute, "Process", process);
    snprintf(number, sizeof(number), "%" PRIu32, head->pid);
    fprintf(file, attribute, "PID", number);
    if (head->of == TRACE_ROUTINES_THREAD && head->tid != 0) {
        snprintf(number, sizeof(number), "%" PRIu32, head->tid);
        fprintf(file, attribute, "TID", number);
    }
    fprintf(file, "</metadata>\n");
}

/* The program is the routine in which all others are. */
static void write_routines(FILE *file, const struct routines_copy *copy, const struct routine_names *names,
                           uint64_t clock_hz)
{
    char name[TRACE_ROUTINE_NAME_BYTES];
    uint64_t own = 0, all = 0, calls = 0;
    uint32_t count = 1;

    for (uint32_t i = 0; i < copy->head.rows; i++) {
        const struct trace_routine_row *row = &copy->rows[i];
        const bool nested = is_nested(row->key), outer = !nested && is_of_program(row->key);
        if (!nested && !outer)
            continue;
        count += nested;
        calls += nested ? row->ended : 0;
        own += outer ? row->exclusive : 0;
        all += row->exclusive;
    }
    fprintf(file, "%u templated_functions\n", count);
    write_owner(file, &copy->head);
    fprintf(file, "\"program\" 1 %" PRIu64 " %.3f %.3f 0 GROUP=\"PROGRAM\"\n", calls, in_us(own, clock_hz),
            in_us(all, clock_hz));
    for (uint32_t i = 0; i < copy->head.rows; i++) {
        const struct trace_routine_row *row = &copy->rows[i];
        if (!is_nested(row->key))
            continue;
        fprintf(file, "\"%s", row_routine_name(names, row->key, name));
        if (trace_routine_context(row->key) != 0 && !is_of_program(row->key))
            fprintf(file, " in %s", row_context_name(names, row->key, name));
        fprintf(file, "\" %" PRIu64 " 0 %.3f %.3f 0 GROUP=\"%s%s\"\n", row->ended,
                in_us(row->exclusive, clock_hz),
                in_us(row->inclusive > row->exclusive ? row->inclusive : row->exclusive, clock_hz),
                is_of_program(row->key) ? "" : "KERNEL_",
                is_of_program(row->key) ? "PROGRAM" : trace_routine_kind_name(trace_routine_kind(row->key)));
    }
    fprintf(file, "0 aggregates\n"); /* behind a line "0 userevents", pprof would read no further file */
}

/* CONTEXT and THREAD count from 0 without gaps: pprof begins with profile.0.0.0, and looks for no files
 * behind a gap. */
static bool write_file(const struct routines_copy *copy, uint32_t context, uint32_t thread,
                       const struct routine_names *names, uint64_t clock_hz, const char *directory,
                       struct fail *fail)
{
    char path[4200];

    snprintf(path, sizeof(path), "%s/profile.0.%u.%u", directory, context, thread);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return fail_set(fail, "%s: %s", path, strerror(errno));
    write_routines(file, copy, names, clock_hz);
    const bool failed = ferror(file) != 0;
    return (fclose(file) == 0 && !failed) || fail_set(fail, "%s: %s", path, strerror(errno));
}

/* Tables that are no thread's come last. */
static int by_process(const void *left, const void *right)
{
    const struct trace_routines *a = &(*(const struct routines_copy *const *)left)->head;
    const struct trace_routines *b = &(*(const struct routines_copy *const *)right)->head;

    return a->pid != b->pid ? (a->pid < b->pid ? -1 : 1)
           : a->of != b->of ? (a->of == TRACE_ROUTINES_THREAD ? -1 : 1)
                            : (a->serial > b->serial) - (a->serial < b->serial);
}

bool routines_write_tau(const struct routines *routines, const struct routine_names *names,
                        const char *directory, struct fail *fail)
{
    const struct routines_copy **copies = alloc_zero(routines->count + 1, sizeof(copies[0]));
    uint32_t context = 0, thread = 0;
    bool ok = true;

    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        ok = fail_set(fail, "%s: %s", directory, strerror(errno));
    for (size_t i = 0; i < routines->count; i++)
        copies[i] = &routines->copies[i];
    qsort(copies, routines->count, sizeof(copies[0]), by_process);
    for (size_t i = 0; i < routines->count && ok; i++, thread++) {
        if (i > 0 && copies[i]->head.pid != copies[i - 1]->head.pid) {
            context++;
            thread = 0;
        }
        ok = write_file(copies[i], context, thread, names, routines->hello.clock_hz, directory, fail);
    }
    free(copies);
    return ok;
}
