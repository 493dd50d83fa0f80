/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/command/diff.c - `tarn diff A B`: what changed between two traces, by the tables of the answers.
 *
 * Both traces are asked the same, each in one walk; answer/compare.h joins the tables. What adds up is
 * counted by second, or by event of a kind.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/command/diff.h>
#include <tools/tarn/symbols/symbols.h>

static bool uses_symbols(const struct side *side, unsigned answers)
{
    for (unsigned i = 0; i < answers; i++)
        if (side->answers[i]->kind->uses_symbols)
            return true;
    return false;
}

static bool open_side(struct side *side, unsigned answers, const char *symbols, struct fail *fail)
{
    side->is_open = trace_open(&side->trace, side->directory, fail);
    side->is_missing = !side->is_open;
    if (!side->is_open || !filter_resolve(&side->filter, &side->trace, fail))
        return false;
    losses_open(&side->losses, &side->trace);
    side->losses.from = side->filter.from_ticks;
    side->losses.to = side->filter.to_ticks;
    side->losses.quiet = true;
    losses_judge(&side->losses);
    model_lacks(&side->trace.schema, false, side->losses.lacks, sizeof(side->losses.lacks));
    if (uses_symbols(side, answers))
        side->symbols = symbols_open(side->directory, symbols);
    return answers_ask(side->answers, answers, &side->trace, &side->filter, side->symbols,
                       &side->losses.reporter, fail);
}

/* What is divided by: seconds, or how often an event happened. */
static bool find_unit(const struct diff *diff, struct side *side, struct fail *fail)
{
    const struct answer *stats = side->answers[diff->count];

    side->unit = diff->is_absolute ? 1 : answer_seconds(stats);
    for (unsigned t = 0; t < stats->kind->table_count && diff->unit_event != NULL; t++)
        if (strcmp(stats->tables[t].key, "event") == 0) {
            const struct table *table = &stats->tables[t];
            int column = table_find_column(table, "events");

            side->unit = 0;
            for (size_t i = 0; i < table->count; i++)
                if (strcmp(table->rows[i]->name, diff->unit_event) == 0)
                    side->unit = (double)table->rows[i]->cells[column].count;
        }
    if (side->unit > 0)
        return true;
    return diff->unit_event != NULL
               ? fail_set(fail, "%s: no event '%.60s' to count by", side->directory, diff->unit_event)
               : fail_set(fail,
                          "%s: nothing lies in that time; `tarn info` tells when the trace begins and ends",
                          side->directory);
}

static void tell_losses(const struct side *side, const char *name)
{
    const struct losses *losses = &side->losses;
    const char *text;

    if (losses->lost_events || losses->lost_packets || losses->lost_unknown)
        complain("%s lost %" PRIu64 " events%s, %" PRIu64 " packets: what it has less of may be missing",
                 name, losses->lost_events, losses->lost_unknown ? " and some before it begins" : "",
                 losses->lost_packets);
    if (losses->damaged)
        complain("%s is damaged: %" PRIu64 " anomalies; see tarn check", name, losses->damaged);
    if (losses->lacks[0] != '\0')
        complain("%s: %s", name, losses->lacks);
    for (unsigned i = 0; side->symbols != NULL && (text = symbols_complaint(side->symbols, i)) != NULL; i++)
        complain("%s: %s", name, text);
}

static int show(struct diff *diff)
{
    struct side *a = &diff->sides[0], *b = &diff->sides[1];
    unsigned answers = diff->count + 1;
    struct fail fail;

    if (!diff_choose_tables(diff, &fail)) {
        complain("%s", fail.text);
        return EXIT_USAGE;
    }
    if (!open_side(a, answers, diff->symbols, &fail) || !open_side(b, answers, diff->symbols, &fail)) {
        complain("%s", fail.text);
        return a->is_missing || b->is_missing ? EXIT_DAMAGE : EXIT_USAGE;
    }
    tell_losses(a, "A");
    tell_losses(b, "B");
    if (!find_unit(diff, a, &fail) || !find_unit(diff, b, &fail)) {
        complain("%s", fail.text);
        return EXIT_USAGE;
    }
    diff_compare(diff);
    diff_print(diff);
    return losses_status(&a->losses) != EXIT_FINE ? losses_status(&a->losses) : losses_status(&b->losses);
}

static void close_diff(struct diff *diff)
{
    for (size_t i = 0; i < diff->result_count; i++)
        table_free(&diff->results[i]);
    table_free(&diff->largest);
    free(diff->results);
    for (int i = 0; i < 2; i++) {
        struct side *side = &diff->sides[i];

        for (unsigned n = 0; n <= diff->count; n++)
            if (side->answers[n] != NULL)
                answer_free(side->answers[n]);
        symbols_close(side->symbols);
        filter_free(&side->filter);
        if (side->is_open)
            trace_close(&side->trace);
    }
}

int run_diff(int argc, char **argv)
{
    struct diff diff = {.top = 0};
    int status = diff_parse_options(&diff, argc, argv);

    if (status < 0)
        status = show(&diff);
    close_diff(&diff);
    return status;
}
