/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * routines.c - `tarn routines SOURCE`: how often and how long each thread was in each routine of kernel
 * and programs.
 *
 * tables/routines.h copies the tables; routines_table.c and routines_export.c print them.
 */
#include <tools/tarn/command/commands.h>
#include <tools/tarn/command/routines.h>

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

/* ---- showing --------------------------------------------------------------------------------------- */

static double seconds_between(const struct routines *before, const struct routines *now)
{
    return now->hello.clock_hz != 0 && now->moment > before->moment
               ? (double)(now->moment - before->moment) / (double)now->hello.clock_hz
               : 0;
}

static bool show(const struct options *options, const struct routines_view *view,
                 const struct routines *routines, struct fail *fail)
{
    struct routine_names names;

    if (routines->count == 0)
        return fail_set(fail, options->pid == UINT64_MAX ? ROUTINES_ARE_OFF : "that process has no tables");
    routines_names_open(&names, routines, options->symbols);
    bool ok = options->tau == NULL || routines_write_tau(routines, &names, options->tau, fail);
    if (ok && options->tau == NULL)
        ok = routines_print_table(view, routines, &names, fail);
    routines_names_close(&names);
    return ok;
}

/* Shows the counts between BEFORE (NULL: since counting began), which it frees, and NOW. */
static bool show_between(const struct options *options, struct routines *before, struct routines *now,
                         struct fail *fail)
{
    const struct routines_view view = {.output = &options->rows.output,
                                       .by_thread = options->by_thread,
                                       .seconds = before != NULL ? seconds_between(before, now) : 0,
                                       .unfinished = routines_unfinished(now)};

    routines_complain(now);
    routines_keep(now, options->pid);
    if (before != NULL) {
        routines_keep(before, options->pid);
        if (!routines_subtract(now, before, fail))
            return false;
    }
    return show(options, &view, now, fail);
}

static bool read_and_show(const struct options *options, struct source *source, struct fail *fail)
{
    const bool has_interval = options->rows.interval_ns != 0;
    const double end = now_seconds() + (double)options->rows.interval_ns * 1e-9;
    struct routines now = {0}, before = {0};

    bool ok = !has_interval || (routines_read(&before, source, fail) && rows_wait(source, end, fail));
    ok = ok && routines_read(&now, source, fail) &&
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
    struct source *source = open_source(argv[optind], options.rows.wait, &fail);
    bool ok = source != NULL && read_and_show(&options, source, &fail);
    if (source != NULL)
        source->class->close(source);
    return ok ? EXIT_OK : fail_report(&fail, EXIT_USAGE);
}

const struct command routines_command =
    COMMAND("routines", "show how often and how long threads were in routines of the kernel",
            "[OPTION]... SOURCE", 1, 1, run_routines, NULL, {NULL, known}, ROW_OPTIONS_GROUPS);
