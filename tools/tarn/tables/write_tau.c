/* write_tau.c - tables of routines as files of TAU; see tables/key_names.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tools/tarn/tables/key_names.h>

static double in_us(uint64_t ticks, uint64_t clock_hz)
{
    return (double)ticks * 1e6 / (double)(clock_hz ? clock_hz : 1);
}

static bool is_of_program(uint64_t key)
{
    return trace_routine_kind(key) == TRACE_ROUTINE_PROGRAM;
}

/* Whether a routine lies within the program, as TAU shows it: not served calls, nor the program itself. */
static bool is_nested(uint64_t key)
{
    return trace_routine_kind(key) != TRACE_ROUTINE_SERVED &&
           (!is_of_program(key) || trace_routine_context(key) != 0);
}

#define ATTRIBUTE(name, format) "<attribute><name>" name "</name><value>" format "</value></attribute>"

/* TAU numbers its files from 0, so each file names its process and thread. */
static void write_owner(FILE *file, const struct trace_routines *head)
{
    char process[ROUTINES_NAME_BYTES];
    routines_name(head, process);
    make_plain(process, "<>&");
    fprintf(file,
            "# Name Calls Subrs Excl Incl ProfileCalls # <metadata>" ATTRIBUTE("Process", "%s")
                ATTRIBUTE("PID", "%" PRIu32),
            process, head->pid);
    if (head->of == TRACE_ROUTINES_THREAD && head->tid != 0)
        fprintf(file, ATTRIBUTE("TID", "%" PRIu32), head->tid);
    fprintf(file, "</metadata>\n");
}

/* The program is the routine in which all others are. */
static void write_routines(FILE *file, const struct routines_copy *copy, const struct key_names *names,
                           uint64_t clock_hz)
{
    char name[KEY_NAME_BYTES];
    uint64_t own = 0, all = 0, calls = 0;
    uint32_t count = 1;
    for (uint32_t i = 0; i < copy->head.rows; i++) {
        const struct trace_routines_row *row = &copy->rows[i];
        const bool nested = is_nested(row->routine), outer = !nested && is_of_program(row->routine);
        if (!nested && !outer)
            continue;
        count += nested;
        calls += nested ? row->ended : 0;
        own += outer ? row->own : 0;
        all += row->own;
    }
    fprintf(file, "%u templated_functions\n", count);
    write_owner(file, &copy->head);
    fprintf(file, "\"program\" 1 %" PRIu64 " %.3f %.3f 0 GROUP=\"PROGRAM\"\n", calls, in_us(own, clock_hz),
            in_us(all, clock_hz));
    for (uint32_t i = 0; i < copy->head.rows; i++) {
        const struct trace_routines_row *row = &copy->rows[i];
        if (!is_nested(row->routine))
            continue;
        fprintf(file, "\"%s", routine_name(names, row->routine, name));
        if (context_name(names, row->routine, name) != NULL)
            fprintf(file, " in %s", name);
        fprintf(file, "\" %" PRIu64 " 0 %.3f %.3f 0 GROUP=\"%s%s\"\n", row->ended, in_us(row->own, clock_hz),
                in_us(row->total > row->own ? row->total : row->own, clock_hz),
                is_of_program(row->routine) ? "" : "KERNEL_",
                is_of_program(row->routine) ? "PROGRAM"
                                            : trace_routine_kind_name(trace_routine_kind(row->routine)));
    }
    fprintf(file, "0 aggregates\n"); /* behind a line "0 userevents", pprof would read no further file */
}

/* CONTEXT and THREAD count from 0 without gaps: pprof begins with profile.0.0.0, and looks for no files
 * behind a gap. */
static bool write_file(const struct routines_copy *copy, uint32_t context, uint32_t thread,
                       const struct key_names *names, uint64_t clock_hz, const char *directory,
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

bool write_tau(const struct routines *routines, const struct key_names *names, const char *directory,
               struct fail *fail)
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
