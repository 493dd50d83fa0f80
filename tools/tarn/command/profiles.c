/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profiles.c - `tarn profiles SOURCE`: how often and how long each thread was in each routine of the kernel.
 *
 * tables/profiles.h copies the profiles; profiles_export.h writes them for other tools.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/command/profiles_export.h>
#include <tools/tarn/command/row_options.h>
#include <tools/tarn/table.h>
#include <tools/tarn/tables/profiles.h>

#define ROWS_AS_FLAME ROWS_AS_OTHER

struct options {
    struct row_options rows; /* first */
    const char *tau;
    bool by_thread;
    uint64_t pid;
};

static const struct command_option known[] = {
    {FLAG("by-thread", struct options, by_thread,
          "rows for each thread and process, instead of sums over all of them")},
    {COUNT("pid", "PID", struct options, pid, 0, UINT32_MAX,
           "only those of this process; 0: of idle threads and orphans")},
    {CHOICE("flame", struct options, rows.format, ROWS_AS_FLAME,
            "print folded stacks for flame graphs: process, routine of the program, routine of the kernel, "
            "and their "
            "exclusive microseconds")},
    {TEXT(
        "tau", "DIRECTORY", struct options, tau,
        "write a profile of TAU for each thread into DIRECTORY, for pprof and ParaProf: profile.0.PID.TID")},
    {.name = NULL}};

/* ---- the table ------------------------------------------------------------------------------------- */

enum { EXCLUSIVE, PERCENT, TIMES, INCLUSIVE, MEAN, LEAST, P50, P99, GREATEST, CONTEXT, PID, TID, PROCESS };

static const struct table_column columns[] = {
    [EXCLUSIVE] = TIME_COLUMN("exclusive_ns"),
    [PERCENT] = REAL_COLUMN("ran_percent", 2),
    [TIMES] = COUNT_COLUMN("times"),
    [INCLUSIVE] = TIME_COLUMN("inclusive_ns"),
    [MEAN] = TIME_OF_ONE("mean_ns"),
    [LEAST] = TIME_SMALLEST("least_ns"),
    [P50] = TIME_OF_ONE("p50_ns"),
    [P99] = TIME_OF_ONE("p99_ns"),
    [GREATEST] = TIME_LARGEST("greatest_ns"),
    [CONTEXT] = NUMBER_COLUMN("context"),
    [PID] = NUMBER_COLUMN("pid"),
    [TID] = NUMBER_COLUMN("tid"),
    [PROCESS] = TEXT_COLUMN("process"),
};

struct view {
    const struct options *options;
    struct table table;
    const struct profile_names *names;
    uint64_t clock_hz, life, ran, threads;
};

static uint64_t in_ns(const struct view *view, uint64_t ticks)
{
    const unsigned __int128 ns =
        (unsigned __int128)ticks * 1000000000 / (view->clock_hz ? view->clock_hz : 1);
    return ns < TABLE_NONE ? (uint64_t)ns : TABLE_NONE - 1;
}

/* The upper bound of the bucket of the value that PERCENT of all do not exceed; unknown in the last one. */
static uint64_t percentile(const struct view *view, const struct trace_profile_row *row, unsigned percent)
{
    uint64_t below = 0;

    for (unsigned b = 0; b + 1 < TRACE_PROFILE_BUCKETS && row->ended > 0; b++) {
        below += row->times[b];
        if (below >= row->ended - row->ended / 100 * (100 - percent))
            return in_ns(view, (2ull << b) - 1);
    }
    return TABLE_NONE;
}

static bool is_apart(uint64_t key)
{
    return trace_routine_kind(key) == TRACE_ROUTINE_OUT || trace_routine_kind(key) == TRACE_ROUTINE_SERVED;
}

static void add_to_sum(struct trace_profile_row *sum, const struct trace_profile_row *row)
{
    if (sum->ended == 0 || (row->ended > 0 && row->least < sum->least))
        sum->least = row->least;
    if (row->greatest > sum->greatest)
        sum->greatest = row->greatest;
    sum->key = row->key;
    sum->ended += row->ended;
    sum->inclusive += row->inclusive;
    sum->exclusive += row->exclusive;
    for (unsigned b = 0; b < TRACE_PROFILE_BUCKETS; b++)
        sum->times[b] += row->times[b];
}

/* A row of the table for each routine, by its context, and by the profile if each has its own. */
static void add_profile(struct view *view, const struct profile_copy *copy)
{
    char name[TRACE_ROUTINE_NAME_BYTES], process[PROFILE_NAME_BYTES];

    view->life += copy->head.life;
    view->ran += copy->head.life - profile_time_out(copy);
    view->threads += copy->head.threads;
    for (uint32_t i = 0; i < copy->head.rows; i++) {
        const struct trace_profile_row *row = &copy->rows[i];
        if (row->ended == 0 && row->exclusive == 0)
            continue;
        const bool by_thread = view->options->by_thread;
        const uint64_t key = trace_routine_context(row->key) | (by_thread ? copy->head.serial << 12 : 0);
        struct table_row *line =
            table_row(&view->table, key, profile_routine_name(view->names, row->key, name));
        add_to_sum(table_sum(&view->table, line, sizeof(*row)), row);
        line->cells[CONTEXT].count = trace_routine_context(row->key);
        line->cells[PID].count = by_thread ? copy->head.pid : TABLE_NONE;
        line->cells[TID].count =
            by_thread && copy->head.of == TRACE_PROFILE_THREAD ? copy->head.tid : TABLE_NONE;
        line->cells[PROCESS].text =
            by_thread ? table_text(&view->table, profile_name(&copy->head, process)) : NULL;
    }
}

static void fill_cells(const struct view *view, struct table_row *line)
{
    const struct trace_profile_row *sum = line->sum;
    union table_cell *cells = line->cells;

    cells[EXCLUSIVE].count = in_ns(view, sum->exclusive);
    cells[PERCENT].real =
        is_apart(sum->key) || view->ran == 0 ? NAN : 100 * (double)sum->exclusive / (double)view->ran;
    cells[TIMES].count = sum->ended;
    cells[INCLUSIVE].count = in_ns(view, sum->inclusive);
    cells[MEAN].count = sum->ended ? in_ns(view, sum->inclusive / sum->ended) : TABLE_NONE;
    cells[LEAST].count = sum->ended ? in_ns(view, sum->least) : TABLE_NONE;
    cells[P50].count = percentile(view, sum, 50);
    cells[P99].count = percentile(view, sum, 99);
    cells[GREATEST].count = sum->ended ? in_ns(view, sum->greatest) : TABLE_NONE;
}

static void print_view(const struct view *view)
{
    const struct row_options *options = &view->options->rows;

    if (options->format == ROWS_AS_JSON)
        printf("{\"threads\":%" PRIu64 ",\"life_ns\":%" PRIu64 ",\"ran_ns\":%" PRIu64 ",\"clock_hz\":%" PRIu64
               ",\"tables\":{",
               view->threads, in_ns(view, view->life), in_ns(view, view->ran), view->clock_hz);
    else if (options->format == ROWS_AS_TEXT)
        printf("threads %" PRIu64 ", life %.3f ms, on CPUs %.3f ms\n", view->threads,
               (double)in_ns(view, view->life) / 1e6, (double)in_ns(view, view->ran) / 1e6);
    rows_print(options, &view->table);
    if (options->format == ROWS_AS_JSON)
        printf("}}\n");
}

static bool is_chosen(const struct options *options, const struct trace_profile *head)
{
    return options->pid == UINT64_MAX || head->pid == options->pid;
}

static bool show_table(const struct options *options, const struct profiles *profiles,
                       const struct profile_names *names, uint64_t clock_hz, struct fail *fail)
{
    struct view view = {.options = options, .names = names, .clock_hz = clock_hz};

    view.table = (struct table)TABLE("routines", "routine", "routines", columns, "exclusive_ns");
    for (size_t i = 0; i < profiles->count; i++)
        if (is_chosen(options, &profiles->copies[i].head))
            add_profile(&view, &profiles->copies[i]);
    for (size_t i = 0; i < view.table.count; i++)
        fill_cells(&view, view.table.rows[i]);
    bool ok = rows_sort(&options->rows, &view.table, fail);
    if (ok)
        print_view(&view);
    table_free(&view.table);
    return ok;
}

/* What is missing or not exact, to standard error. */
static void complain_of_profiles(const struct profiles *profiles)
{
    const uint64_t unfinished = profiles_unfinished(profiles);

    if (unfinished != 0)
        complain("%" PRIu64 " row%s updated while they were read: they may lack a part of an update",
                 unfinished, unfinished == 1 ? " was being" : "s were being");
    if (profiles->is_cut)
        complain("only %zu profiles could be read: %s", profiles->count, profiles->why.text);
}

/* ---- running --------------------------------------------------------------------------------------- */

/* Drops those of other processes. */
static void keep_chosen(const struct options *options, struct profiles *profiles)
{
    size_t kept = 0;

    for (size_t i = 0; i < profiles->count; i++) {
        if (is_chosen(options, &profiles->copies[i].head))
            profiles->copies[kept++] = profiles->copies[i];
        else
            free(profiles->copies[i].rows);
    }
    profiles->count = kept;
}

static bool show(const struct options *options, struct source *source, struct profiles *profiles,
                 struct fail *fail)
{
    struct profile_names names;

    keep_chosen(options, profiles);
    if (profiles->count == 0)
        return fail_set(
            fail,
            options->pid == UINT64_MAX
                ? "no profiles: they are off; `tarn ctl SOURCE profiles on` counts routines from then on"
                : "that process has no profiles");
    profile_names_open(&names, &source->hello);
    if (options->tau != NULL &&
        !profiles_write_tau(profiles, &names, source->hello.clock_hz, options->tau, fail))
        return false;
    if (options->rows.format == ROWS_AS_FLAME)
        profiles_print_flame(profiles, &names, source->hello.clock_hz);
    else if (options->tau == NULL)
        return show_table(options, profiles, &names, source->hello.clock_hz, fail);
    return true;
}

static bool read_and_show(const struct options *options, struct source *source, struct fail *fail)
{
    struct profiles now = {0}, before = {0};

    if (options->rows.interval_ns != 0) {
        const double end = now_seconds() + (double)options->rows.interval_ns * 1e-9;
        if (!profiles_read(&before, source, fail))
            return false;
        if (!rows_wait(source, end, fail)) {
            profiles_free(&before);
            return false;
        }
    }
    bool ok = profiles_read(&now, source, fail);
    if (ok) {
        complain_of_profiles(&now);
        profiles_subtract(&now, &before);
        ok = show(options, source, &now, fail);
    }
    profiles_free(&before);
    profiles_free(&now);
    return ok;
}

static int run_profiles(int argc, char **argv)
{
    struct options options = {.rows = ROW_OPTIONS_DEFAULT, .pid = UINT64_MAX};
    struct fail fail;
    int status = command_parse(&profiles_command, (void *[]){&options, &options.rows}, argc, argv);

    if (status >= 0)
        return status;
    struct source *source = open_source(argv[optind], options.rows.wait, &fail);
    bool ok = source != NULL && read_and_show(&options, source, &fail);
    if (source != NULL)
        source->class->close(source);
    return ok ? EXIT_OK : fail_report(&fail, EXIT_USAGE);
}

const struct command profiles_command = {
    .name = "profiles",
    .summary = "show how often and how long threads were in routines of the kernel",
    .forms = "[OPTION]... SOURCE",
    .groups = {{NULL, known}, {ROW_OPTIONS_HEADING, row_options}},
    .least = 1,
    .most = 1,
    .run = run_profiles};
