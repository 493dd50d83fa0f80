/* show.c - prints tables of routines. Interface: show.h. */
#include <arch/trace.h>
#include <inttypes.h>
#include <string.h>
#include <tarn/error.h>
#include <trace/events.h>
#include <user/tarnprof/show.h>

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
