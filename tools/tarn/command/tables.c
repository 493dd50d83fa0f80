/*
 * tables.c - `tarn tables SOURCE [NAME]`: the tables of counters of a guest; and `tarn routines SOURCE`, the
 * one of them that has a part for each thread instead of each CPU.
 *
 * tables/moment.h copies them, tables/counted.h adds parts up, tables/show.h makes the table that is printed;
 * write_tau.c writes TAU's files.
 */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/command/write_tau.h>
#include <tools/tarn/print/print_table.h>
#include <tools/tarn/tables/show.h>

#define ROWS_TOP 20u /* usually, in text */

struct options {
    struct table_options output;
    double interval;    /* seconds; 0: none */
    double wait;        /* seconds to connect */
    const char *source; /* its name */
    const char *name;   /* of the table; NULL: list all */
    const char *symbols, *tau;
    uint64_t pid; /* of routines; UINT64_MAX: all */
    bool by_part, previous;
};

static const struct command_option known[] = {
    {FLAG("by-cpu", struct options, by_part,
          "a row for each CPU, or, of routines, for each thread, instead of sums over all of them")},
    {FLAG("previous", struct options, previous, "show the tables that the previous boot left in memory")},
    {.name = NULL}};

static const struct command_option routines_known[] = {
    {FLAG("by-thread", struct options, by_part,
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

static const struct command_option moments[] = {
    {CALL("interval", "DURATION", take_duration,
          "show what was counted between now and DURATION (500ms, 5s) later\nRows that did not change are "
          "left "
          "out"),
     .place = offsetof(struct options, interval)},
    {REAL("wait", "SEC", struct options, wait, 0, 1e9, "keep trying to connect for SEC seconds (0)")},
    {.name = NULL}};

#define GROUPS                  \
    {"Moments", moments},       \
    {                           \
        "Output", table_options \
    }

/* ---- reading --------------------------------------------------------------------------------------- */

static bool refuse_name(const char *name, struct fail *fail)
{
    char list[400] = "";
    for (unsigned i = 0; i < TRACE_TABLE_COUNT; i++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i > 0 ? ", " : "",
                 trace_table_list[i].name);
    return fail_set(fail, "no table '%.60s'; there are %s", name, list);
}

/* Returns how many ticks it is from one moment to the other: by the guest's clock, if it is known. */
static uint64_t ticks_between(const struct moment *before, const struct moment *now, uint64_t clock_hz)
{
    if (before->clock[0] != 0 && now->clock[0] > before->clock[0])
        return now->clock[0] - before->clock[0];
    const double ticks = (now->time - before->time) * (double)clock_hz;
    return ticks < 0 ? 0 : ticks < 0x1p63 ? (uint64_t)ticks : 1ull << 63;
}

/* ---- printing -------------------------------------------------------------------------------------- */

/* By the chosen column, or by the usual one. */
static bool sort(struct table *table, const struct table_options *options, struct fail *fail)
{
    const int column = options->sort != NULL ? table_find_column(table, options->sort) : table_order(table);
    if (options->sort != NULL && column == TABLE_NO_COLUMN)
        return fail_set(fail, "no column '%.60s' in table %s; --json shows their names", options->sort,
                        table->key);
    table_sort(table, column);
    if (options->reverse)
        table_reverse(table);
    return true;
}

/* The figures that belong to all rows. */
struct view {
    uint64_t clock_hz, ticks; /* between the two moments; 0: there is one */
    unsigned cpu_count;
    bool is_damaged;
};

static double in_seconds(const struct view *view, uint64_t ticks)
{
    return (double)ticks / (double)view->clock_hz;
}

static void print_json_head(const struct shown *shown, const struct counted *counted, const struct view *view)
{
    printf("{\"table\":\"%s\",\"cpus\":%u,\"clock_hz\":%" PRIu64 ",\"no_row\":%" PRIu64
           ",\"damaged_rows\":%" PRIu64 ",\"moving\":%s",
           shown->counters->name, view->cpu_count, view->clock_hz, counted->no_row, counted->damaged,
           counted->is_moving ? "true" : "false");
    if (shown->counters->is_private)
        printf(",\"threads\":%" PRIu64 ",\"life_ns\":%.0f,\"ran_ns\":%.0f", counted->threads,
               in_seconds(view, counted->life) * 1e9, in_seconds(view, counted->ran) * 1e9);
    printf(view->ticks > 0 ? ",\"seconds\":%.9f" : ",\"seconds\":null", in_seconds(view, view->ticks));
    printf(",\"tables\":{");
}

static void print_text_head(const struct shown *shown, const struct counted *counted, const struct view *view)
{
    if (view->ticks > 0)
        printf("between two moments %.3f s apart\n", in_seconds(view, view->ticks));
    if (shown->counters->is_private)
        printf("threads %" PRIu64 ", life %.3f ms, on CPUs %.3f ms\n", counted->threads,
               in_seconds(view, counted->life) * 1e3, in_seconds(view, counted->ran) * 1e3);
}

static void print_rows(const struct options *options, const struct shown *shown,
                       const struct counted *counted, const struct view *view)
{
    const unsigned format = options->output.format;
    if (format == TABLES_JSON)
        print_json_head(shown, counted, view);
    else if (format == TABLES_TEXT)
        print_text_head(shown, counted, view);
    table_print(stdout, &options->output, &shown->table, ROWS_TOP);
    if (format == TABLES_JSON)
        printf("}}\n");
    else if (format == TABLES_TEXT && shown->has_histogram)
        printf(
            "\np50, p90, p99 and max of a histogram are upper bounds of its buckets, each twice as wide as "
            "the one before\n");
}

/* ---- running --------------------------------------------------------------------------------------- */

/* Prints the rows of a table at NOW, or, if there is a BEFORE, between both. */
static bool print_table(const struct options *options, const struct trace_table_info *counters,
                        const struct moment *now, const struct moment *before, struct view *view,
                        struct key_names *names, struct fail *fail)
{
    struct counted counted;
    struct shown shown;
    counted_collect(&counted, counters, now, before, options->by_part);
    shown_open(&shown, counters, view->clock_hz, counters->is_private ? counted.ran : view->ticks,
               options->by_part);
    shown_fill(&shown, &counted, names);
    const bool ok = sort(&shown.table, &options->output, fail);
    if (ok) {
        if (counted.count == 0 && counted.damaged == 0)
            complain(
                "%s: no rows, because nothing was counted; tarn-tables(1) says how to switch counting on",
                counters->name);
        counted_complain(&counted, counters);
        print_rows(options, &shown, &counted, view);
        view->is_damaged = counted.damaged != 0;
    }
    counted_free(&counted);
    shown_close(&shown);
    return ok;
}

static bool show_rows(const struct options *options, struct source *source,
                      const struct trace_table_info *counters, const struct moment *now,
                      const struct moment *before, int *status, struct fail *fail)
{
    struct key_names names;
    struct view view = {.clock_hz = source->hello.clock_hz, .cpu_count = now->cpu_count};
    if (counters->is_private && now->routines.count == 0)
        return fail_set(fail, options->pid == UINT64_MAX ? ROUTINES_ARE_OFF : "that process has no tables");
    if (before != NULL)
        view.ticks = ticks_between(before, now, view.clock_hz);
    if (counters->is_private)
        key_names_open_routines(&names, &now->routines, options->symbols);
    else
        key_names_open(&names, source);
    const bool ok = options->tau != NULL ? write_tau(&now->routines, &names, options->tau, fail)
                                         : print_table(options, counters, now, before, &view, &names, fail);
    *status = view.is_damaged ? EXIT_DAMAGE : EXIT_OK;
    key_names_close(&names);
    return ok;
}

/* Opens the source again at the end of an interval: a guest ends a link that is silent for so long. */
static bool open_again(const struct options *options, struct source **source, double end, struct fail *fail)
{
    const uint64_t boot = (*source)->hello.boot_id;
    (*source)->class->close(*source);
    const double left = end - now_seconds();
    if (left > 0)
        nanosleep(&(struct timespec){.tv_sec = (time_t)left, .tv_nsec = (long)(fmod(left, 1) * 1e9)}, NULL);
    *source = open_source(options->source, options->wait, fail);
    return *source != NULL && ((*source)->hello.boot_id == boot ||
                               fail_set(fail, "the guest was started again in the interval"));
}

static bool read_moment(struct moment *moment, const struct options *options, struct source *source,
                        const struct trace_table_info *counters, struct fail *fail)
{
    const bool ok = moment_read(moment, source, counters->is_private, fail);
    if (ok)
        routines_keep(&moment->routines, options->pid);
    return ok;
}

static bool show_table(const struct options *options, struct source **source,
                       const struct trace_table_info *counters, int *status, struct fail *fail)
{
    struct moment before = {0}, now = {0};
    const bool has_interval = options->interval != 0;
    bool ok = !has_interval || (read_moment(&before, options, *source, counters, fail) &&
                                open_again(options, source, before.time + options->interval, fail));
    ok = ok && read_moment(&now, options, *source, counters, fail) &&
         show_rows(options, *source, counters, &now, has_interval ? &before : NULL, status, fail);
    moment_free(&before);
    moment_free(&now);
    return ok;
}

static bool show_list(const struct options *options, struct source *source, struct fail *fail)
{
    struct table list;
    struct moment moment;
    if (!moment_read(&moment, source, false, fail))
        return false;
    shown_list(&list, &moment);
    bool ok = sort(&list, &options->output, fail);
    if (ok) {
        printf(options->output.format == TABLES_JSON ? "{\"cpus\":%u,\"tables\":{" : "", moment.cpu_count);
        table_print(stdout, &options->output, &list, ROWS_TOP);
        printf(options->output.format == TABLES_JSON ? "}}\n" : "");
    }
    table_free(&list);
    moment_free(&moment);
    return ok;
}

static bool show(const struct options *options, struct source **source, int *status, struct fail *fail)
{
    struct wire_previous previous;
    const struct trace_table_info *counters = options->name != NULL ? tables_find(options->name) : NULL;
    if (options->name != NULL && counters == NULL)
        return refuse_name(options->name, fail);
    if (counters != NULL && counters->is_private && options->previous)
        return fail_set(fail, "no routines are kept of the previous boot");
    if (options->previous && !source_choose_previous(*source, &previous, fail))
        return false;
    return counters != NULL ? show_table(options, source, counters, status, fail)
                            : show_list(options, *source, fail);
}

static int run(struct options *options)
{
    struct fail fail;
    int status = EXIT_OK;
    struct source *source = open_source(options->source, options->wait, &fail);
    bool ok = source != NULL && show(options, &source, &status, &fail);
    if (source != NULL)
        source->class->close(source);
    return ok ? status : fail_report(&fail, EXIT_USAGE);
}

static int run_tables(int argc, char **argv)
{
    struct options options = {.output.top = TABLE_TOP_DEFAULT, .pid = UINT64_MAX};
    int status = command_parse(&tables_command, (void *[]){&options, &options, &options.output}, argc, argv);
    if (status >= 0)
        return status;
    options.name = optind + 1 < argc ? argv[optind + 1] : NULL;
    if (options.name == NULL && (options.interval != 0 || options.by_part))
        return complain_of_words(&tables_command, "--interval and --by-cpu require the NAME of a table");
    if (options.previous && options.interval != 0)
        return complain_of_words(&tables_command,
                                 "the previous boot has ended, so nothing changes: remove --interval");
    options.source = argv[optind];
    return run(&options);
}

const struct command tables_command =
    COMMAND("tables", "show the tables of counters of a guest", "[OPTION]... SOURCE [NAME]", 1, 2, run_tables,
            NULL, {NULL, known}, GROUPS);

static int run_routines(int argc, char **argv)
{
    struct options options = {.output.top = TABLE_TOP_DEFAULT, .pid = UINT64_MAX, .name = "routines"};
    int status =
        command_parse(&routines_command, (void *[]){&options, &options, &options.output}, argc, argv);
    if (status >= 0)
        return status;
    options.source = argv[optind];
    return run(&options);
}

const struct command routines_command =
    COMMAND("routines", "show how often and how long threads were in routines of the kernel",
            "[OPTION]... SOURCE", 1, 1, run_routines, NULL, {NULL, routines_known}, GROUPS);
