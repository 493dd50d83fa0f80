/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables.c - `tarn tables SOURCE [NAME]`: the tables of counters of a guest.
 *
 * tables/moment.h copies them, tables/counted.h adds CPUs up, tables/show.h makes the table that is printed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/command/row_options.h>
#include <tools/tarn/tables/show.h>

struct options {
    struct row_options rows;
    const char *name; /* of the table; NULL: list all */
    const char *trace, *symbols;
    bool by_cpu, previous;
};

static const struct command_option known[] = {
    {FLAG("by-cpu", struct options, by_cpu, "a row for each CPU, instead of sums over all of them")},
    {TEXT("trace", "DIRECTORY", struct options, trace,
          "take the names of lock classes, locks, processes and functions from a trace of the same boot")},
    {TEXT("symbols", "DIR[:DIR]", struct options, symbols,
          "search for the executables of --trace here, by build-id; see tarn-analyses(1)"),
     .need = "trace"},
    {FLAG("previous", struct options, previous,
          "show the tables that the previous boot left in memory\nNames of lock classes come from --trace, "
          "pulled with --previous, too")},
    {.name = NULL}};

/* ---- reading --------------------------------------------------------------------------------------- */

static bool check_tables(struct source *source, struct fail *fail)
{
    const bool is_link = source->class->link != NULL;
    const struct wire_request request = {
        .operation = is_link && source->is_previous ? WIRE_OP_PREVIOUS_METADATA : WIRE_OP_METADATA};
    struct source_reply reply = {0};

    return source_control(source, &request, "the metadata: ", &reply, fail) &&
           check_metadata(&source->hello, reply.data, reply.size, fail) &&
           tables_check((const char *)reply.data, reply.size, fail);
}

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

/* Reports missing counts on standard error. */
static void complain_of_rows(const char *name, const struct counted *counted)
{
    if (counted->count == 0 && counted->damaged == 0)
        complain("%s: no rows, because nothing was counted; tarn-tables(1) says how to switch counting on",
                 name);
    if (counted->damaged != 0)
        complain("%s: %" PRIu64 " damaged row%s left out: a program has written over the tables", name,
                 counted->damaged, counted->damaged == 1 ? " is" : "s are");
    if (counted->is_moving)
        complain("%s: rows were moved while they were read: sums may count some updates twice, or not at "
                 "all; try again",
                 name);
    if (counted->no_row != 0)
        complain("%s: %" PRIu64 " update%s found no row, because no more may be used: %s keys are missing",
                 name, counted->no_row, counted->no_row == 1 ? "" : "s",
                 counted->no_row == 1 ? "its" : "their");
}

static void print_rows(const struct options *options, const struct shown *shown,
                       const struct counted *counted, unsigned cpu_count, double seconds)
{
    if (options->rows.output.format == TABLES_JSON) {
        printf("{\"table\":\"%s\",\"cpus\":%u,\"clock_hz\":%" PRIu64 ",\"no_row\":%" PRIu64
               ",\"damaged_rows\":%" PRIu64 ",\"moving\":%s,\"seconds\":",
               shown->counters->name, cpu_count, shown->clock_hz, counted->no_row, counted->damaged,
               counted->is_moving ? "true" : "false");
        printf(seconds > 0 ? "%.9f" : "null", seconds);
        printf(",\"tables\":{");
    } else if (options->rows.output.format == TABLES_TEXT && seconds > 0) {
        printf("between two moments %.3f s apart\n", seconds);
    }
    table_print(stdout, &options->rows.output, &shown->table, ROWS_TOP);
    if (options->rows.output.format == TABLES_JSON)
        printf("}}\n");
    else if (options->rows.output.format == TABLES_TEXT && shown->has_histogram)
        printf(
            "\np50, p90, p99 and max of a histogram are upper bounds of its buckets, each twice as wide as "
            "the one before\n");
}

/* ---- running --------------------------------------------------------------------------------------- */

/* Shows the rows of a table at NOW, or, if there is a BEFORE, between both. */
static bool show_rows(const struct options *options, struct source *source,
                      const struct trace_table_info *counters, const struct moment *now,
                      const struct moment *before, int *status, struct fail *fail)
{
    struct key_names names;
    struct counted counted;
    struct shown shown;

    if (!key_names_open(&names, source, options->trace, options->symbols, fail))
        return false;
    const uint64_t hz = source->hello.clock_hz, ticks = before != NULL ? ticks_between(before, now, hz) : 0;
    shown_open(&shown, counters, hz, ticks, options->by_cpu);
    counted_collect(&counted, counters, now, before, options->by_cpu);
    shown_fill(&shown, &counted, &names);
    const bool ok = rows_sort(&options->rows.output, &shown.table, fail);
    if (ok) {
        complain_of_rows(counters->name, &counted);
        print_rows(options, &shown, &counted, now->cpu_count, (double)ticks / (double)hz);
        *status = counted.damaged != 0 ? EXIT_DAMAGE : EXIT_OK;
    }
    counted_free(&counted);
    shown_close(&shown);
    key_names_close(&names);
    return ok;
}

/* Opens the source again at the end of an interval: a guest ends a link that is silent for so long. */
static bool open_again(const struct options *options, struct source **source, double end, struct fail *fail)
{
    const uint64_t boot = (*source)->hello.boot_id;

    (*source)->class->close(*source);
    rows_wait(end);
    *source = open_source(options->rows.source, options->rows.wait, fail);
    return *source != NULL && ((*source)->hello.boot_id == boot ||
                               fail_set(fail, "the guest was started again in the interval"));
}

static bool show_table(const struct options *options, struct source **source, struct moment *now, int *status,
                       struct fail *fail)
{
    const struct trace_table_info *counters = tables_find(options->name);
    struct moment before;

    if (counters == NULL)
        return refuse_name(options->name, fail);
    if (options->rows.interval == 0)
        return show_rows(options, *source, counters, now, NULL, status, fail);
    before = *now;
    *now = (struct moment){0};
    bool ok = open_again(options, source, before.time + options->rows.interval, fail) &&
              moment_read(now, *source, fail) &&
              show_rows(options, *source, counters, now, &before, status, fail);
    moment_free(&before);
    return ok;
}

static bool show_list(const struct options *options, const struct moment *moment, struct fail *fail)
{
    struct table list;

    shown_list(&list, moment);
    bool ok = rows_sort(&options->rows.output, &list, fail);
    if (ok) {
        printf(options->rows.output.format == TABLES_JSON ? "{\"cpus\":%u,\"tables\":{" : "",
               moment->cpu_count);
        table_print(stdout, &options->rows.output, &list, ROWS_TOP);
        printf(options->rows.output.format == TABLES_JSON ? "}}\n" : "");
    }
    table_free(&list);
    return ok;
}

static bool show(const struct options *options, struct source **source, int *status, struct fail *fail)
{
    struct moment moment;
    struct wire_previous previous;

    if ((options->previous && !source_choose_previous(*source, &previous, fail)) ||
        !check_tables(*source, fail))
        return false;
    bool ok = moment_read(&moment, *source, fail);
    if (ok) {
        ok = options->name != NULL ? show_table(options, source, &moment, status, fail)
                                   : show_list(options, &moment, fail);
        moment_free(&moment);
    }
    return ok;
}

static int run_tables(int argc, char **argv)
{
    struct options options = {.rows = ROW_OPTIONS_DEFAULT};
    struct fail fail;
    int status =
        command_parse(&tables_command, (void *[]){&options, &options.rows, &options.rows.output}, argc, argv);

    if (status >= 0)
        return status;
    options.name = optind + 1 < argc ? argv[optind + 1] : NULL;
    if (options.name == NULL && (options.rows.interval != 0 || options.by_cpu || options.trace != NULL))
        return complain_of_words(&tables_command,
                                 "--interval, --by-cpu and --trace require the NAME of a table");
    if (options.previous && options.rows.interval != 0)
        return complain_of_words(&tables_command,
                                 "the previous boot has ended, so nothing changes: remove --interval");
    options.rows.source = argv[optind];
    struct source *source = open_source(options.rows.source, options.rows.wait, &fail);
    status = EXIT_OK;
    bool ok = source != NULL && show(&options, &source, &status, &fail);
    if (source != NULL)
        source->class->close(source);
    return ok ? status : fail_report(&fail, EXIT_USAGE);
}

const struct command tables_command =
    COMMAND("tables", "show the tables of counters of a guest", "[OPTION]... SOURCE [NAME]", 1, 2, run_tables,
            NULL, {NULL, known}, ROW_OPTIONS_GROUPS);
