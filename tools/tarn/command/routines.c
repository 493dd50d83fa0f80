/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * routines.c - `tarn routines SOURCE`: how often and how long each thread was in each routine of kernel
 * and programs.
 *
 * tables/routines.h copies the tables; routines_export.c has the names of routines, and writes TAU's files.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/command/routines.h>
#include <trace/ring/routine_copy.h>
#include <trace/ring/table_derive.h>

struct options {
    struct row_options rows;
    const char *tau, *symbols;
    uint64_t pid; /* UINT64_MAX: all */
    bool by_thread;
};

static const struct command_option known[] = {
    {FLAG("by-thread", struct options, by_thread,
          "rows for each thread and process, instead of sums over all of them")},
    {COUNT("pid", "PID", struct options, pid, 0, UINT32_MAX,
           "only those of this process; 0: of idle threads and orphans")},
    {TEXT("tau", "DIRECTORY", struct options, tau,
          "write a profile of TAU for each thread into DIRECTORY, for pprof and ParaProf: "
          "profile.0.CONTEXT.THREAD, numbered from 0")},
    {TEXT(
        "symbols", "DIR[:DIR]", struct options, symbols,
        "search for the programs' executables here, by build-id: they name functions that were compiled with "
        "-finstrument-functions")},
    {.name = NULL}};

/* ---- the table ------------------------------------------------------------------------------------- */

enum { OWN, PERCENT, COUNT, CONTEXT, TOTAL, MEAN, MAX, P99, P90, P50, MIN, PID, TID, PROCESS };

/* Called as in the analyses of a trace: a total is an inclusive time, an own time an
 * exclusive one. */
static const struct table_column columns[] = {
    [OWN] = TIME_COLUMN("own_ns"),      [PERCENT] = REAL_COLUMN("ran_percent"),
    [COUNT] = COUNT_COLUMN("count"),    [TOTAL] = TIME_COLUMN("total_ns"),
    [MIN] = TIME_SMALLEST("min_ns"),    [MEAN] = TIME_OF_ONE("mean_ns"),
    [P50] = TIME_OF_ONE("p50_ns"),      [P90] = TIME_OF_ONE("p90_ns"),
    [P99] = TIME_OF_ONE("p99_ns"),      [MAX] = TIME_LARGEST("max_ns"),
    [CONTEXT] = TEXT_COLUMN("context"), [PID] = NUMBER_COLUMN("pid"),
    [TID] = NUMBER_COLUMN("tid"),       [PROCESS] = TEXT_COLUMN("process"),
};

struct view {
    const struct options *options;
    struct table table;
    struct routine_names names;
    double seconds;      /* between two moments; 0: there is one */
    uint64_t unfinished; /* rows that were being updated */
    uint64_t clock_hz, life, ran, threads, refused;
};

static uint64_t in_ns(const struct view *view, uint64_t ticks)
{
    const unsigned __int128 ns =
        (unsigned __int128)ticks * 1000000000 / (view->clock_hz ? view->clock_hz : 1);
    return ns < TABLE_NONE ? (uint64_t)ns : TABLE_NONE - 1;
}

/* A bucket's bound, or the largest value if that is less. Unknown in the last bucket, which has no bound. */
static uint64_t percentile(const struct view *view, const struct trace_routine_row *row, unsigned percent)
{
    const uint64_t bound = trace_histogram_bound(row->times, percent);

    return bound == TRACE_NO_VALUE ? TABLE_NONE : in_ns(view, bound < row->greatest ? bound : row->greatest);
}

static bool is_apart(uint64_t key)
{
    return trace_routine_kind(key) == TRACE_ROUTINE_OUT || trace_routine_kind(key) == TRACE_ROUTINE_SERVED;
}

/* A routine of the kernel that was entered from one of the program. */
static bool is_in_context(uint64_t key)
{
    return trace_routine_context(key) != 0 && trace_routine_kind(key) != TRACE_ROUTINE_PROGRAM;
}

/* A row of the table for each routine, by its context, and by the table if each has its own. */
static void add_table(struct view *view, const struct routines_copy *copy)
{
    char name[TRACE_ROUTINE_NAME_BYTES], process[ROUTINES_NAME_BYTES];

    view->life += copy->head.life;
    view->ran += copy->head.life - trace_routines_time(copy->rows, copy->head.rows, TRACE_ROUTINES_OUT);
    view->threads += copy->head.threads;
    view->refused += copy->head.refused;
    for (uint32_t i = 0; i < copy->head.rows; i++) {
        const struct trace_routine_row *row = &copy->rows[i];
        if (row->ended == 0 && row->exclusive == 0)
            continue;
        const bool by_thread = view->options->by_thread;
        const uint64_t key = trace_routine_context(row->key) | (by_thread ? copy->head.serial << 12 : 0);
        struct table_row *line = table_row(&view->table, key, row_routine_name(&view->names, row->key, name));
        struct trace_routine_row *sum = table_sum(&view->table, line, sizeof(*row));
        sum->key = row->key;
        trace_routine_add_row(sum, row);
        line->cells[CONTEXT].text =
            is_in_context(row->key) ? table_text(&view->table, row_context_name(&view->names, row->key, name))
                                    : NULL;
        line->cells[PID].count = by_thread ? copy->head.pid : TABLE_NONE;
        line->cells[TID].count =
            by_thread && copy->head.of == TRACE_ROUTINES_THREAD ? copy->head.tid : TABLE_NONE;
        line->cells[PROCESS].text =
            by_thread ? table_text(&view->table, routines_name(&copy->head, process)) : NULL;
    }
}

static void fill_cells(const struct view *view, struct table_row *line)
{
    const struct trace_routine_row *sum = line->sum;
    union table_cell *cells = line->cells;

    cells[OWN].count = in_ns(view, sum->exclusive);
    cells[PERCENT].real =
        is_apart(sum->key) || view->ran == 0 ? NAN : 100 * (double)sum->exclusive / (double)view->ran;
    cells[COUNT].count = sum->ended;
    cells[TOTAL].count = in_ns(view, sum->inclusive);
    cells[MEAN].count = sum->ended ? in_ns(view, sum->inclusive / sum->ended) : TABLE_NONE;
    cells[MIN].count = sum->ended ? in_ns(view, sum->least) : TABLE_NONE;
    cells[P50].count = percentile(view, sum, 50);
    cells[P90].count = percentile(view, sum, 90);
    cells[P99].count = percentile(view, sum, 99);
    cells[MAX].count = sum->ended ? in_ns(view, sum->greatest) : TABLE_NONE;
}

static void print_view(const struct view *view)
{
    const struct table_options *options = &view->options->rows.output;

    if (options->format == TABLES_TEXT && view->seconds > 0)
        printf("between two moments %.3f s apart\n", view->seconds);
    if (options->format == TABLES_JSON) {
        printf("{\"threads\":%" PRIu64 ",\"life_ns\":%" PRIu64 ",\"ran_ns\":%" PRIu64 ",\"clock_hz\":%" PRIu64
               ",\"seconds\":",
               view->threads, in_ns(view, view->life), in_ns(view, view->ran), view->clock_hz);
        printf(view->seconds > 0 ? "%.9f" : "null", view->seconds);
        printf(",\"unfinished_rows\":%" PRIu64 ",\"tables\":{", view->unfinished);
    } else if (options->format == TABLES_TEXT)
        printf("threads %" PRIu64 ", life %.3f ms, on CPUs %.3f ms\n", view->threads,
               (double)in_ns(view, view->life) / 1e6, (double)in_ns(view, view->ran) / 1e6);
    if (options->format == TABLES_TEXT && view->refused > 0)
        printf("%" PRIu64
               " entries into routines of programs count as part of their callers: too many names, "
               "too many routines of a thread, or nested too deep\n",
               view->refused);
    table_print(stdout, options, &view->table, ROWS_TOP);
    if (options->format == TABLES_JSON)
        printf("}}\n");
}

/* Subtracts threads that ended between the two moments: they are not in the interval. */
static void subtract_gone(struct view *view, const struct routines_copy *copy)
{
    char name[TRACE_ROUTINE_NAME_BYTES];

    view->life -= copy->head.life;
    view->ran -= copy->head.life - trace_routines_time(copy->rows, copy->head.rows, TRACE_ROUTINES_OUT);
    for (uint32_t i = 0; i < copy->head.rows; i++) {
        const struct trace_routine_row *row = &copy->rows[i];
        const struct table_row *line = table_find(&view->table, trace_routine_context(row->key),
                                                  row_routine_name(&view->names, row->key, name));
        if (line != NULL)
            routine_subtract_row(line->sum, row);
    }
}

static void drop_empty(struct table *table)
{
    size_t kept = 0;

    for (size_t i = 0; i < table->count; i++) {
        const struct trace_routine_row *sum = table->rows[i]->sum;
        if (sum->ended != 0 || sum->exclusive != 0)
            table->rows[kept++] = table->rows[i];
    }
    table->count = kept;
}

static bool print_table(struct view *view, const struct routines *routines, struct fail *fail)
{
    const struct options *options = view->options;

    view->clock_hz = routines->hello.clock_hz;
    view->table = (struct table)TABLE("routines", "routine", "routines", columns, "own_ns");
    for (size_t i = 0; i < routines->count; i++)
        add_table(view, &routines->copies[i]);
    for (size_t i = 0; i < routines->gone_count && !options->by_thread; i++)
        subtract_gone(view, &routines->gone[i]);
    drop_empty(&view->table);
    for (size_t i = 0; i < view->table.count; i++)
        fill_cells(view, view->table.rows[i]);
    bool ok = rows_sort(&options->rows.output, &view->table, fail);
    if (options->rows.output.format == TABLES_TEXT && !options->by_thread)
        view->table.column_count = PID; /* the last ones would be empty */
    if (ok)
        print_view(view);
    table_free(&view->table);
    return ok;
}

/* ---- showing --------------------------------------------------------------------------------------- */

static double seconds_between(const struct routines *before, const struct routines *now)
{
    return now->hello.clock_hz != 0 && now->moment > before->moment
               ? (double)(now->moment - before->moment) / (double)now->hello.clock_hz
               : 0;
}

static bool show(struct view *view, const struct routines *routines, struct fail *fail)
{
    const struct options *options = view->options;

    if (routines->count == 0)
        return fail_set(fail, options->pid == UINT64_MAX ? ROUTINES_ARE_OFF : "that process has no tables");
    routines_names_open(&view->names, routines, options->symbols);
    bool ok = options->tau != NULL ? routines_write_tau(routines, &view->names, options->tau, fail)
                                   : print_table(view, routines, fail);
    routines_names_close(&view->names);
    return ok;
}

/* Shows the counts between BEFORE (NULL: since counting began), which it frees, and NOW. */
static bool show_between(const struct options *options, struct routines *before, struct routines *now,
                         struct fail *fail)
{
    struct view view = {.options = options,
                        .seconds = before != NULL ? seconds_between(before, now) : 0,
                        .unfinished = routines_unfinished(now)};

    routines_complain(now);
    routines_keep(now, options->pid);
    if (before != NULL) {
        routines_keep(before, options->pid);
        if (!routines_subtract(now, before, fail))
            return false;
    }
    return show(&view, now, fail);
}

static bool read_and_show(const struct options *options, struct fail *fail)
{
    const bool has_interval = options->rows.interval != 0;
    const double end = now_seconds() + options->rows.interval;
    struct routines now = {0}, before = {0};

    if (has_interval && !routines_read(&before, options->rows.source, options->rows.wait, fail))
        return false;
    if (has_interval)
        rows_wait(end);
    bool ok = routines_read(&now, options->rows.source, options->rows.wait, fail) &&
              show_between(options, has_interval ? &before : NULL, &now, fail);
    routines_free(&before);
    routines_free(&now);
    return ok;
}

static int run_routines(int argc, char **argv)
{
    struct options options = {.rows = ROW_OPTIONS_DEFAULT, .pid = UINT64_MAX};
    struct fail fail;
    int status = command_parse(&routines_command, (void *[]){&options, &options.rows, &options.rows.output},
                               argc, argv);

    if (status >= 0)
        return status;
    options.rows.source = argv[optind];
    return read_and_show(&options, &fail) ? EXIT_OK : fail_report(&fail, EXIT_USAGE);
}

const struct command routines_command =
    COMMAND("routines", "show how often and how long threads were in routines of the kernel",
            "[OPTION]... SOURCE", 1, 1, run_routines, NULL, {NULL, known}, ROW_OPTIONS_GROUPS);
