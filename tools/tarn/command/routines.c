/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * routines.c - `tarn routines SOURCE|FILE`: how often and how long each thread was in each routine of kernel
 * and programs.
 *
 * tables/routines.h copies the tables, tables/recorded.h has files of them; routines_table.c and
 * routines_export.c print them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/command/routines.h>
#include <tools/tarn/print/print_table.h>
#include <tools/tarn/tables/recorded.h>
#include <tools/tarn/view/puller.h>

#define TABLES_FLAME TABLES_OTHER

struct options {
    struct row_options rows; /* first */
    const char *path, *tau, *symbols;
    uint64_t pid;   /* UINT64_MAX: all */
    uint64_t count; /* of snapshots; 0: until it is ended */
    bool by_thread, lists;
    uint64_t from, to; /* snapshots of a file, from 1; 0: not given */
};

static const struct command_option known[] = {
    {FLAG("by-thread", struct options, by_thread,
          "rows for each thread and process, instead of sums over all of them")},
    {COUNT("pid", "PID", struct options, pid, 0, UINT32_MAX,
           "only those of this process; 0: of idle threads and orphans")},
    {CHOICE("flame", struct options, rows.output.format, TABLES_FLAME,
            "print folded stacks for flame graphs: process, routine of the program, routine of the kernel, "
            "and their "
            "exclusive microseconds")},
    {TEXT("tau", "DIRECTORY", struct options, tau,
          "write a profile of TAU for each thread into DIRECTORY, for pprof and ParaProf: "
          "profile.0.CONTEXT.THREAD, numbered from 0")},
    {TEXT("save", "FILE", struct options, path,
          "add a snapshot of SOURCE to FILE instead of printing it; with --interval one every DURATION"),
     .with = "interval,count,wait"},
    {COUNT("count", "N", struct options, count, 1, COUNT_MAX,
           "end after N snapshots (default: with --interval until Ctrl-C)"),
     .need = "save"},
    {TEXT(
        "symbols", "DIR[:DIR]", struct options, symbols,
        "search for the programs' executables here, by build-id: they name functions that were compiled with "
        "-finstrument-functions")},
    {FLAG("list", struct options, lists, "list the snapshots of FILE")},
    {COUNT("to", "N", struct options, to, 1, COUNT_MAX, "show snapshot N of FILE (default: the last)")},
    {COUNT("from", "N", struct options, from, 1, COUNT_MAX,
           "show what was counted between snapshot N of FILE and that of --to")},
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
    if (ok && options->rows.output.format == TABLES_FLAME)
        routines_print_flame(routines, &names);
    else if (ok && options->tau == NULL)
        ok = routines_print_table(view, routines, &names, fail);
    routines_names_close(&names);
    return ok;
}

/* Shows what was counted from BEFORE, which it takes, if there is one, to NOW. */
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

/* ---- a source -------------------------------------------------------------------------------------- */

/* Adds snapshots of SOURCE to the file. False: FAIL; the file has the snapshots before. */
static bool record(const struct options *options, struct source *source, struct fail *fail)
{
    struct recorded_writer writer;
    struct fail other;

    if (!recorded_writer_open(&writer, options->path, fail))
        return false;
    double due = now_seconds();
    bool ok = recorded_writer_add(&writer, source, fail);
    while (ok && options->rows.interval_ns != 0 && (options->count == 0 || writer.added < options->count)) {
        due += (double)options->rows.interval_ns * 1e-9;
        ok = rows_wait(source, due, fail) && recorded_writer_add(&writer, source, fail);
    }
    if (!ok && writer.added > 0)
        complain("%s has %zu snapshots", options->path, writer.added);
    return recorded_writer_close(&writer, ok ? fail : &other) && ok;
}

static bool read_and_show(const struct options *options, struct source *source, struct fail *fail)
{
    const bool has_interval = options->rows.interval_ns != 0;
    const double end = now_seconds() + (double)options->rows.interval_ns * 1e-9;
    struct routines now = {0}, before = {0};

    if (options->path != NULL)
        return record(options, source, fail);
    bool ok = !has_interval || (routines_read(&before, source, fail) && rows_wait(source, end, fail));
    ok = ok && routines_read(&now, source, fail) &&
         show_between(options, has_interval ? &before : NULL, &now, fail);
    routines_free(&before);
    routines_free(&now);
    return ok;
}

static int run_source(const struct options *options, const char *name)
{
    struct fail fail;
    struct source *source = open_source(name, options->rows.wait, &fail);
    bool ok = source != NULL && read_and_show(options, source, &fail);

    if (source != NULL)
        source->class->close(source);
    return ok ? EXIT_OK : fail_report(&fail, EXIT_USAGE);
}

/* ---- a file ---------------------------------------------------------------------------------------- */

enum { AT, ROUTINES, BYTES };

static const struct table_column snapshot_columns[] = {
    [AT] = TEXT_COLUMN("at"),
    [ROUTINES] = COUNT_COLUMN("routines"),
    [BYTES] = COUNT_COLUMN("bytes"),
};

/* The time of the guest's clock. */
static const char *describe_time(struct table *table, const struct recorded_snapshot *snapshot)
{
    const struct wire_hello *hello = &snapshot->hello;
    const double at =
        (double)hello->clock_offset_ns * 1e-9 + (double)snapshot->moment / (double)hello->clock_hz;
    const time_t seconds = at > -1e11 && at < 1e11 ? (time_t)at : 0;
    struct tm parts;
    char text[40];

    if (gmtime_r(&seconds, &parts) == NULL || strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts) == 0)
        return NULL;
    return table_format(table, "%s.%03u", text, (unsigned)((at - (double)seconds) * 1000) % 1000);
}

static bool list_snapshots(const struct options *options, const struct recorded *file, struct fail *fail)
{
    struct table table =
        TABLE_AS("snapshots", "snapshot", "snapshots", snapshot_columns, TABLE_AS_FILLED, false, true);

    for (size_t i = 0; i < file->count; i++) {
        const struct recorded_snapshot *snapshot = &file->snapshots[i];
        struct table_row *row = table_add(&table, table_format(&table, "%zu", i + 1));
        cells_put(&row->cells[AT], {.text = describe_time(&table, snapshot)}, {.count = snapshot->routines},
                  {.count = snapshot->bytes});
    }
    bool ok = rows_sort(&options->rows.output, &table, fail);
    if (ok) {
        printf(options->rows.output.format == TABLES_JSON ? "{\"tables\":{" : "");
        table_print(stdout, &options->rows.output, &table, ROWS_TOP);
        printf(options->rows.output.format == TABLES_JSON ? "}}\n" : "");
    }
    table_free(&table);
    return ok;
}

static bool show_snapshots(const struct options *options, struct recorded *file, struct fail *fail)
{
    const uint64_t to = options->to != 0 ? options->to : file->count, from = options->from;
    struct routines now = {0}, before = {0};

    if (to > file->count || from > file->count)
        return fail_set(fail, "%s has %zu snapshots; --list shows them", file->path, file->count);
    if (from != 0 && from >= to)
        return fail_set(fail, "snapshot %" PRIu64 " is not before %" PRIu64, from, to);
    bool ok = (from == 0 || recorded_load(file, from - 1, &before, fail)) &&
              recorded_load(file, to - 1, &now, fail) &&
              show_between(options, from != 0 ? &before : NULL, &now, fail);
    routines_free(&before);
    routines_free(&now);
    return ok;
}

static int run_file(const struct options *options, const char *path)
{
    struct recorded file;
    struct fail fail;

    if (!recorded_open(&file, path, &fail))
        return fail_report(&fail, EXIT_USAGE);
    if (file.is_damaged)
        complain("%s", file.why.text);
    bool ok = options->lists ? list_snapshots(options, &file, &fail) : show_snapshots(options, &file, &fail);
    const int status = file.is_damaged ? EXIT_DAMAGE : EXIT_OK;
    recorded_close(&file);
    return ok ? status : fail_report(&fail, EXIT_USAGE);
}

/* ---- running --------------------------------------------------------------------------------------- */

/* Returns what is wrong with the arguments, or NULL. */
static const char *check_options(const struct options *options, const char *name)
{
    if (!is_source(name) && (options->path != NULL || options->rows.interval_ns != 0))
        return "--save and --interval require a SOURCE; of a FILE, use --from and --to";
    if (is_source(name) && (options->lists || options->from != 0 || options->to != 0))
        return "--list, --from and --to require a FILE of routines; of a SOURCE, use --interval";
    if (options->count > 1 && options->rows.interval_ns == 0)
        return "--count requires --interval";
    return NULL;
}

static int run_routines(int argc, char **argv)
{
    struct options options = {.rows = ROW_OPTIONS_DEFAULT, .pid = UINT64_MAX};
    int status = command_parse(&routines_command, (void *[]){&options, &options.rows, &options.rows.output},
                               argc, argv);

    if (status >= 0)
        return status;
    const char *name = argv[optind], *wrong = check_options(&options, name);
    if (wrong != NULL)
        return complain_of_words(&routines_command, wrong);
    return is_source(name) ? run_source(&options, name) : run_file(&options, name);
}

const struct command routines_command =
    COMMAND("routines", "show how often and how long threads were in routines of the kernel",
            "[OPTION]... SOURCE|FILE", 1, 1, run_routines, NULL, {NULL, known}, ROW_OPTIONS_GROUPS);
