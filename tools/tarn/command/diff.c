/*
 * diff.c - `tarn diff A... -- B...`: compares the tables of analyses of two sides.
 *
 * A side is one trace, or several traces of equal runs. Each trace is analysed in one walk with the same
 * options; diff_compare.c joins the tables.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/command/diff.h>
#include <tools/tarn/read/judge.h>
#include <tools/tarn/symbols/symbols.h>

static bool uses_symbols(const struct diff *diff)
{
    for (unsigned i = 0; i < diff->count; i++)
        if (diff->analyses[i]->kind->uses_symbols)
            return true;
    return false;
}

bool diff_open_run(const struct diff *diff, struct run *run, struct fail *fail)
{
    for (unsigned i = 0; i <= diff->count; i++)
        for (unsigned t = 0; t < diff->analyses[i]->kind->table_count; t++)
            run->analyses[i]->tables[t].is_wanted = diff->analyses[i]->tables[t].is_wanted;
    run->is_open = trace_open(&run->trace, run->directory, fail);
    run->is_missing = !run->is_open;
    if (!run->is_open || !filter_resolve(&run->filter, &run->trace, fail))
        return false;
    losses_begin(&run->losses, &run->trace, &run->filter);
    return true;
}

static void complain_of_left_out(const struct run *run)
{
    char text[400];
    analysis_describe_left_out(run->analyses[0], text, sizeof(text));
    if (*text != '\0')
        complain("%s: %s", run->directory, text);
}

static bool run_analyses_of(const struct diff *diff, struct run *run, struct fail *fail)
{
    if (!diff_open_run(diff, run, fail))
        return false;
    model_lacks(&run->trace.schema, false, run->losses.lacks, sizeof(run->losses.lacks));
    if (uses_symbols(diff))
        run->symbols = symbols_open(run->directory, diff->symbols);
    if (!analyses_ask(run->analyses, diff->count + 1, &run->trace, &run->filter, run->symbols,
                      &run->losses.reporter, fail))
        return false;
    complain_of_left_out(run);
    return true;
}

/* ---- units --------------------------------------------------------------------------------------- */

static double count_events(const struct analysis *stats, const char *event)
{
    const struct table *table = stats->tables;
    while (strcmp(table->key, "event") != 0)
        table++;
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i]->name, event) == 0)
            return (double)table->rows[i]->cells[table_find_column(table, "events")].count;
    return 0;
}

static bool find_unit(const struct diff *diff, struct run *run, struct fail *fail)
{
    const struct analysis *stats = run->analyses[diff->count];
    double seconds = analysis_seconds(stats), worked = (double)analysis_ns(stats, stats->worked) / 1e9;
    if (diff->per == PER_EVENT)
        run->unit = count_events(stats, diff->unit_event);
    else if (diff->per == PER_NOTHING)
        run->unit = 1;
    else
        run->unit = diff->per != PER_SECOND && worked > 0 ? worked : seconds;
    if (run->unit > 0)
        return true;
    return diff->per == PER_EVENT
               ? fail_set(fail, "%s: no event '%.60s' to divide by", run->directory, diff->unit_event)
               : fail_set(fail,
                          "%s: nothing in this time range; `tarn info` shows when the trace begins and ends",
                          run->directory);
}

/* ---- all runs ------------------------------------------------------------------------------------ */

void diff_tell_losses(const struct run *run, const char *name)
{
    const struct losses *losses = &run->losses;
    const char *text;
    if (losses->lost_events || losses->lost_packets || losses->lost_unknown || losses->is_unfinished)
        complain("%s lost %" PRIu64 " events%s%s, %" PRIu64 " packets: lower counts may be due to this", name,
                 losses->lost_events, losses->lost_unknown ? " and some before its start" : "",
                 losses->is_unfinished ? " and an unknown number after its end" : "", losses->lost_packets);
    if (losses->damaged)
        complain("%s is damaged: %" PRIu64 " anomal%s; see tarn check", name, losses->damaged,
                 losses->damaged == 1 ? "y" : "ies");
    if (losses->lacks[0] != '\0')
        complain("%s: %s", name, losses->lacks);
    for (unsigned i = 0; run->symbols != NULL && (text = symbols_complaint(run->symbols, i)) != NULL; i++)
        complain("%s: %s", name, text);
}

/* Counts are the same whatever the clock counts. */
static void complain_of_clocks(const struct diff *diff)
{
    const struct trace *a = &diff->runs[0][0].trace, *b = &diff->runs[1][0].trace;
    if (trace_shares_clock(a) || trace_shares_clock(b))
        complain("clock: %s counts the instructions of all its CPUs together (A has %" PRIu64
                 ", B has %" PRIu64 "): a thread's time also contains the instructions of other CPUs that "
                 "were busy meanwhile%s. Compare "
                 "counts, or runs on one CPU",
                 trace_shares_clock(a) && trace_shares_clock(b) ? "each side's"
                 : trace_shares_clock(a)                        ? "A's"
                                                                : "B's",
                 schema_cpu_count(&a->schema), schema_cpu_count(&b->schema),
                 schema_cpu_count(&a->schema) != schema_cpu_count(&b->schema)
                     ? ", more on the side with more CPUs"
                     : "");
}

void diff_name_run(const struct diff *diff, unsigned side, unsigned number, char name[16])
{
    snprintf(name, 16, diff->run_count[side] > 1 ? "%c%u" : "%c", 'A' + (int)side, number + 1);
}

bool diff_has_several(const struct diff *diff)
{
    return diff->run_count[0] > 1 || diff->run_count[1] > 1;
}

/* Analyses one run. Sets *STATUS on damage or an error; returns false on an error. */
static bool ask_run(const struct diff *diff, unsigned side, unsigned number, int *status)
{
    struct run *run = &diff->runs[side][number];
    char name[16];
    struct fail fail;
    diff_name_run(diff, side, number, name);
    if (!run_analyses_of(diff, run, &fail)) {
        complain("%s", fail.text);
        *status = run->is_missing ? EXIT_DAMAGE : EXIT_USAGE;
        return false;
    }
    diff_tell_losses(run, name);
    if (!find_unit(diff, run, &fail)) {
        complain("%s", fail.text);
        *status = EXIT_USAGE;
        return false;
    }
    if (losses_status(&run->losses) != EXIT_OK)
        *status = losses_status(&run->losses);
    return true;
}

static int show(struct diff *diff)
{
    int status = EXIT_OK;
    struct fail fail = {0};
    if (!diff_choose_tables(diff, &fail))
        return fail_report(&fail, EXIT_USAGE);
    for (unsigned side = 0; side < 2; side++)
        for (unsigned run = 0; run < diff->run_count[side]; run++)
            if (!ask_run(diff, side, run, &status))
                return status;
    complain_of_clocks(diff);
    if (!diff_compare(diff, &fail))
        return fail_report(&fail, EXIT_USAGE);
    diff_print(diff);
    return status;
}

void diff_close_run(struct run *run)
{
    for (unsigned n = 0; n <= DIFF_ANALYSES_MAX; n++)
        if (run->analyses[n] != NULL)
            analysis_free(run->analyses[n]);
    symbols_close(run->symbols);
    filter_free(&run->filter);
    if (run->is_open)
        trace_close(&run->trace);
}

static void close_diff(struct diff *diff)
{
    for (size_t i = 0; i < diff->result_count; i++)
        table_free(&diff->results[i].result);
    table_free(&diff->largest);
    free(diff->results);
    arena_free(&diff->texts);
    for (unsigned side = 0; side < 2; side++) {
        for (unsigned run = 0; run < diff->run_count[side]; run++)
            diff_close_run(&diff->runs[side][run]);
        free(diff->runs[side]);
    }
    for (unsigned n = 0; n <= diff->count; n++)
        if (diff->analyses[n] != NULL)
            analysis_free(diff->analyses[n]);
}

int run_diff(int argc, char **argv)
{
    struct diff *diff = alloc_zero(1, sizeof(*diff));
    int status = diff_parse_options(diff, argc, argv);
    if (status < 0)
        status = diff->is_first ? diff_first(diff) : show(diff);
    close_diff(diff);
    free(diff);
    return status;
}
