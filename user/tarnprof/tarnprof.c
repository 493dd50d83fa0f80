/* tarnprof.c - reads tables of routines, adds them, and prints the sum. Interface: tarnprof.h. */
#include "trace/events.h" /* generated */
#include <arch/trace.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/error.h>
#include <tarn/syscall.h>
#include <user/tarnprof/tarnprof.h>

int tarnprof_next(struct tarnprof *table, cap_t of)
{
    if (!table->memory && !(table->memory = malloc(TRACE_ROUTINES_BYTES_MAX)))
        return -E_NO_MEMORY;
    const int64_t bytes = sys_routines_read(of, table->serial, table->memory, TRACE_ROUTINES_BYTES_MAX);
    table->head = bytes > 0 ? table->memory : NULL;
    table->rows = bytes > 0 ? (const struct trace_routines_row *)(table->head + 1) : NULL;
    table->serial = bytes > 0 ? table->head->serial : 0;
    return bytes > 0 ? 1 : (int)bytes;
}

void tarnprof_free(struct tarnprof *table)
{
    free(table->memory);
    *table = (struct tarnprof){0};
}

const struct trace_routines_row *tarnprof_find(const struct tarnprof *table, enum trace_routine_kind kind,
                                               uint64_t argument, uint32_t context)
{
    const uint64_t key = trace_routine_key(kind, argument) | (uint64_t)context
                                                                 << TRACE_ROUTINES_CONTEXT_SHIFT;
    return trace_routines_find(table->rows, table->head->rows, key);
}

/* ---- Names ---- */

#define NAMES_AT_ONCE 64u

int tarnprof_read_names(struct trace_routine_names *names)
{
    struct trace_routine *list = NULL;
    int64_t bytes;
    uint32_t count = 0;
    do {
        struct trace_routine *more = realloc(list, (count + NAMES_AT_ONCE) * sizeof *more);
        bytes =
            more ? sys_routine_names(TRACE_CONTEXT_NAMED + count, more + count, NAMES_AT_ONCE * sizeof *more)
                 : -E_NO_MEMORY;
        list = more ? more : list;
        count += bytes > 0 ? (uint32_t)((uint64_t)bytes / sizeof *list) : 0;
    } while (bytes > 0);
    *names = (struct trace_routine_names){list, count};
    return (int)bytes;
}

void tarnprof_free_names(struct trace_routine_names *names)
{
    free((void *)names->list);
    *names = (struct trace_routine_names){0};
}

uint32_t tarnprof_find_name(const struct trace_routine_names *names, const char *name, const void *function)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (name ? !strcmp(names->list[i].name, name) : names->list[i].address == (uintptr_t)function)
            return names->list[i].number;
    return 0;
}

/* ---- Sums ---- */

bool tarnprof_add(struct tarnprof_sum *sum, const struct tarnprof *table)
{
    sum->rows.table = &trace_table_list[TRACE_TABLE_ROUTINES];
    for (uint32_t i = 0; i < table->head->rows; i++)
        if (!trace_rows_add(&sum->rows, (const uint64_t *)&table->rows[i]))
            return false;
    sum->threads += table->head->threads;
    sum->life += table->head->life;
    sum->refused += table->head->refused;
    return true;
}

int tarnprof_add_all(struct tarnprof_sum *sum, cap_t of, uint32_t kinds)
{
    struct tarnprof table = {0};
    int result;
    while ((result = tarnprof_next(&table, of)) > 0)
        if (kinds >> table.head->of & 1 && !tarnprof_add(sum, &table)) {
            result = -E_NO_MEMORY;
            break;
        }
    tarnprof_free(&table);
    return result;
}

void tarnprof_free_sum(struct tarnprof_sum *sum)
{
    trace_rows_free(&sum->rows);
    *sum = (struct tarnprof_sum){0};
}

/* ---- Printing ---- */

static struct trace_routine_names names; /* while a table is printed */

static const char *name_of(const char *unused, uint64_t routine, char name[TRACE_TABLE_CELL_BYTES])
{
    const uint32_t context = trace_routine_context(routine);
    (void)unused;
    trace_row_name(routine, &names, trace_event_find, name);
    if (context && trace_routine_kind(routine) != TRACE_ROUTINE_PROGRAM) {
        strcat(name, " in ");
        trace_context_name(context, &names, trace_event_find, name + strlen(name));
    }
    return name;
}
_Static_assert(TRACE_TABLE_CELL_BYTES >= 2 * TRACE_ROUTINE_NAME_BYTES + 4, "name_of()");

bool tarnprof_show(FILE *file, struct tarnprof_sum *sum, uint32_t lines, const char *by)
{
    const int error = tarnprof_read_names(&names); /* without names, numbers are printed */
    if (error)
        fprintf(stderr, "names of programs' routines are missing: %s\n", tarn_error_text(error));
    const uint64_t hz = arch_trace_info()->clock_hz,
                   ran = sum->life - trace_routines_time((const struct trace_routines_row *)sum->rows.words,
                                                         sum->rows.count, TRACE_ROUTINES_OUT);
    fprintf(file, "threads %u, life %.1f us, on CPUs %.1f us\n", (unsigned)sum->threads,
            (double)sum->life * 1e6 / (double)hz, (double)ran * 1e6 / (double)hz);
    if (sum->refused)
        fprintf(file,
                "%" PRIu64 " entries into routines of programs count as part of their callers: "
                "too many names, too many routines of a thread, or nested too deep\n",
                sum->refused);
    sum->rows.table = &trace_table_list[TRACE_TABLE_ROUTINES];
    const struct trace_rows_view view = {
        .clock_hz = hz, .elapsed = ran, .top = lines, .by = by, .name_of = name_of};
    const bool ok = trace_rows_print(file, &sum->rows, &view);
    tarnprof_free_names(&names);
    return ok;
}

void tarnprof_show_own(FILE *file)
{
    struct tarnprof_sum sum = {0};
    const int result =
        tarnprof_add_all(&sum, TARNPROF_OWN, 1u << TRACE_ROUTINES_THREAD | 1u << TRACE_ROUTINES_ENDED);
    if (result)
        fprintf(file, "the table cannot be read: %s\n", tarn_error_text(result));
    else
        tarnprof_show(file, &sum, UINT32_MAX, NULL);
    tarnprof_free_sum(&sum);
}
