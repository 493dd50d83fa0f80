/* diff_print.c - prints the changes as text, JSON and CSV; see diff.h. */
#include <inttypes.h>
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
    return diff->per == PER_EVENT ? diff->unit_event : diff_units[diff->per];
}

static void print_unit(const struct diff *diff, const struct run *run, const char *name)
{
    printf("%s: %s", name, run->directory);
    if (diff->per == PER_EVENT)
        printf(": %.0f %s\n", run->unit, diff->unit_event);
    else if (diff->per != PER_NOTHING)
        printf(": %.6g s%s\n", run->unit, diff->per == PER_SECOND ? "" : " of CPU time");
    else
        printf("\n");
}

/* A table for each trace. */
static void print_losses(const struct diff *diff, const struct run *run, const char *name)
{
    char text[32];
    snprintf(text, sizeof(text), "losses_%c%s", *name - 'A' + 'a', name[1] != '\0' ? name + 1 : "1");
    losses_print_csv(stdout, &run->losses, text);
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

/* Tables that have not changed are only counted in text. */
static void print_tables(const struct diff *diff)
{
    const bool is_text = diff->output.format == TABLES_TEXT;
    size_t same = 0;
    if (!is_text || diff->largest.count != 0)
        table_print(stdout, &diff->output, &diff->largest, DIFF_TEXT_TOP);
    for (size_t i = 0; i < diff->result_count; i++) {
        const struct table *table = &diff->results[i].result;
        same += table->count == 0;
        if (!is_text)
            fputc(diff->output.format == TABLES_JSON ? ',' : '\n', stdout);
        if (!is_text || table->count != 0)
            table_print(stdout, &diff->output, table, DIFF_TEXT_TOP);
    }
    if (is_text && same != 0)
        printf("\n%zu of %zu tables have not changed\n", same, diff->result_count);
}

/* Calls SHOW for each trace, with its name: A, or A1, if there are several. */
static void each_run(const struct diff *diff,
                     void (*show)(const struct diff *diff, const struct run *run, const char *name))
{
    for (unsigned side = 0; side < 2; side++)
        for (unsigned run = 0; run < diff->run_count[side]; run++) {
            char name[16];
            diff_name_run(diff, side, run, name);
            show(diff, &diff->runs[side][run], name);
        }
}

void diff_print(const struct diff *diff)
{
    if (diff->output.format == TABLES_JSON) {
        fputc('{', stdout);
        print_side(diff, 0);
        print_side(diff, 1);
        fputs("\"per\":", stdout);
        print_json_string(stdout, unit_name(diff));
        printf(",\"judged\":%zu,\"significant\":%zu,\"tables\":{", diff->judged, diff->significant);
        print_tables(diff);
        fputs("}}\n", stdout);
        return;
    }
    if (diff->output.format == TABLES_TEXT) {
        each_run(diff, print_unit);
        print_method(diff);
    }
    print_tables(diff);
    if (diff->output.format == TABLES_CSV)
        each_run(diff, print_losses);
}
