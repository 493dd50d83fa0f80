/* tarnprof.c - reads tables of routines, and adds them. Interface: tarnprof.h. */
#include "trace/events.h" /* generated */
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
