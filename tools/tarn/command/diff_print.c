/* SPDX-License-Identifier: BSD-2-Clause */
/* diff_print.c - prints the changes as text, JSON and CSV; see diff.h. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <tools/tarn/command/diff.h>
#include <tools/tarn/print/print_table.h>
#include <tools/tarn/read/judge.h>

static void print_run(const struct run *run)
{
    printf("\"trace\":");
    print_json_string(stdout, run->directory);
    printf(",\"unit\":%.9f,", run->unit);
    losses_print_json(stdout, &run->losses);
    printf(",\"clock_is_shared\":%s", trace_shares_clock(&run->trace) ? "true" : "false");
}

/* The members of the first run, then all runs. */
static void print_side(const struct diff *diff, unsigned side)
{
    printf("\"%c\":{", 'a' + (int)side);
    print_run(&diff->runs[side][0]);
    printf(",\"runs\":[");
    for (unsigned run = 0; run < diff->run_count[side]; run++) {
        printf("%s{", run ? "," : "");
        print_run(&diff->runs[side][run]);
        printf("}");
    }
    printf("]},");
}

static const char *unit_name(const struct diff *diff)
{
    static const char *const names[] = {
        [PER_WORK] = "work", [PER_BUSY] = "busy", [PER_SECOND] = "second", [PER_NOTHING] = "nothing"};

    return diff->per == PER_EVENT ? diff->unit_event : names[diff->per];
}

static void print_unit(const struct diff *diff, unsigned side, unsigned number)
{
    const struct run *run = &diff->runs[side][number];
    char name[16];

    snprintf(name, sizeof(name), diff->run_count[side] > 1 ? "%c%u" : "%c", 'A' + (int)side, number + 1);
    printf("%s: %s", name, run->directory);
    if (diff->per == PER_EVENT)
        printf(": %.0f %s\n", run->unit, diff->unit_event);
    else if (diff->per != PER_NOTHING)
        printf(": %.6g s%s\n", run->unit, diff->per == PER_SECOND ? "" : " of CPU time");
    else
        printf("\n");
}

/* Prints what the numbers mean and how reliable they are. */
static void print_method(const struct diff *diff)
{
    static const char *const divided[] = {
        [PER_WORK] = "Times are per unit of each row's work; without a unit, per second of CPU time.",
        [PER_BUSY] = "Sums are per second of CPU time.",
        [PER_SECOND] = "Sums are per second of the trace.",
        [PER_EVENT] = "Sums are per event of that type.",
        [PER_NOTHING] = "Sums are not divided."};

    puts(divided[diff->per]);
    if (!diff_has_several(diff))
        puts("The variation between equal runs is not known. To measure it, compare several runs: "
             "tarn diff A1 A2 A3 -- B1 B2 B3.");
    else if (diff->run_count[0] < 2 || diff->run_count[1] < 2)
        puts("Significance is not known: it requires several runs on both sides.");
    else if (diff->significant == 0)
        printf(
            "No change is significant: %zu rows were compared with the variation between runs of one side.\n",
            diff->judged);
    else
        printf(
            "%zu of %zu rows changed significantly, compared with the variation between runs of one side.\n",
            diff->significant, diff->judged);
}

static void print_json(const struct diff *diff)
{
    fputc('{', stdout);
    print_side(diff, 0);
    print_side(diff, 1);
    fputs("\"per\":", stdout);
    print_json_string(stdout, unit_name(diff));
    printf(",\"judged\":%zu,\"significant\":%zu,\"tables\":{", diff->judged, diff->significant);
    table_print_json(stdout, &diff->largest, diff->top);
    for (size_t i = 0; i < diff->result_count; i++) {
        fputc(',', stdout);
        table_print_json(stdout, &diff->results[i], diff->top);
    }
    fputs("}}\n", stdout);
}

static void print_text(const struct diff *diff)
{
    size_t same = 0;

    for (unsigned side = 0; side < 2; side++)
        for (unsigned run = 0; run < diff->run_count[side]; run++)
            print_unit(diff, side, run);
    print_method(diff);
    if (diff->largest.count != 0)
        table_print_text(stdout, &diff->largest, diff->top, UINT_MAX);
    for (size_t i = 0; i < diff->result_count; i++) {
        same += diff->results[i].count == 0;
        if (diff->results[i].count != 0)
            table_print_text(stdout, &diff->results[i], diff->top, UINT_MAX);
    }
    if (same != 0)
        printf("\n%zu of %zu tables have not changed\n", same, diff->result_count);
}

void diff_print(const struct diff *diff)
{
    if (diff->format == ANALYSIS_JSON) {
        print_json(diff);
        return;
    }
    if (diff->format == ANALYSIS_TEXT) {
        print_text(diff);
        return;
    }
    table_print_csv(stdout, &diff->largest, diff->top);
    for (size_t i = 0; i < diff->result_count; i++) {
        fputc('\n', stdout);
        table_print_csv(stdout, &diff->results[i], diff->top);
    }
    for (unsigned side = 0; side < 2; side++)
        for (unsigned run = 0; run < diff->run_count[side]; run++) {
            char name[32];

            snprintf(name, sizeof(name), "losses_%c%u", 'a' + (int)side, run + 1);
            losses_print_csv(stdout, &diff->runs[side][run].losses, name);
        }
}
