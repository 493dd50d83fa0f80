/* check.c - `tarn check`: verifies every packet and event (read/judge.h), and prints the findings. */
#include <inttypes.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/read/judge.h>
#include <tools/tarn/read/losses.h>

#define REPORTS_SHOWN 1000u /* of damage, and of losses */

/* Prints the damage, or the LOSSES; returns their number. */
static uint64_t print_reports(const struct trace *trace, const struct findings *findings, bool losses,
                              bool quiet)
{
    const char *word = losses ? "loss  " : "damage";
    uint64_t count = 0;
    char text[1024];
    for (size_t i = 0; i < findings->count; i++) {
        if (anomaly_kinds[findings->reports[i].anomaly].is_loss != losses || count++ >= REPORTS_SHOWN ||
            quiet)
            continue;
        format_report(trace, &findings->reports[i], text, sizeof(text));
        printf("%s %s\n", word, text);
    }
    if (count > REPORTS_SHOWN && !quiet)
        printf("%s %" PRIu64 " more; the relation %s of tarn-sql(1) has all\n", word, count - REPORTS_SHOWN,
               losses ? "loss" : "anomaly");
    return count;
}

static int print_findings(const struct trace *trace, const struct findings *findings, bool quiet)
{
    uint64_t damage = print_reports(trace, findings, false, quiet), kinds[ANOMALY_COUNT] = {0}, bytes = 0;
    uint64_t events = 0, packets = 0;
    struct missing missing = {.events = 0};
    print_reports(trace, findings, true, quiet);
    for (size_t i = 0; i < findings->count; i++) {
        const struct report *report = &findings->reports[i];
        kinds[report->anomaly]++;
        if (report->anomaly == ANOMALY_LOST_EVENTS && report->count != UINT64_MAX)
            events += report->count;
        if (report->anomaly == ANOMALY_LOST_PACKETS) {
            packets += report->count;
            missing_add(&missing, report);
        }
    }
    for (int kind = 1; kind < ANOMALY_COUNT; kind++)
        if (kinds[kind] != 0)
            printf("%-14s %10" PRIu64 "  %s\n", anomaly_kinds[kind].name, kinds[kind],
                   anomaly_kinds[kind].meaning);
    for (unsigned s = 0; s < trace->stream_count; s++)
        bytes += trace->streams[s].size;
    printf("%" PRIu64 " packets, %" PRIu64 " events, %" PRIu64 " bytes of %u CPUs checked\n",
           findings->packets, findings->events, bytes, trace->stream_count);
    if (events == 0 && packets == 0)
        puts("lost: nothing");
    else
        printf("lost: %" PRIu64 " events, %" PRIu64 " packets with %s%" PRIu64 " events\n", events, packets,
               missing.is_least ? "at least " : "", missing.events);
    if (kinds[ANOMALY_UNFINISHED] != 0)
        printf("UNFINISHED: the pull ended early, so losses after the last packets are not counted here. "
               "They are\n"
               "known only if a pull ends by itself or by a single Ctrl-C\n");
    if (damage != 0)
        printf("DAMAGED: %" PRIu64 " anomal%s\n", damage, damage == 1 ? "y" : "ies");
    else
        printf("no damage%s\n", kinds[ANOMALY_UNFINISHED] != 0 ? ", but the end is not known" : "");
    return damage != 0 || kinds[ANOMALY_UNFINISHED] != 0 ? EXIT_DAMAGE : EXIT_OK;
}

struct options {
    bool quiet;
};

static const struct command_option known[] = {
    {FLAG("quiet", struct options, quiet, "print only the summary"), .letter = 'q'}, {.name = NULL}};

static int run_check(int argc, char **argv)
{
    struct options options = {false};
    struct findings findings;
    struct trace trace;
    struct fail fail;
    int status = command_parse(&check_command, (void *[]){&options}, argc, argv);
    if (status >= 0)
        return status;
    if (!trace_open(&trace, argv[optind], &fail))
        return fail_report(&fail, EXIT_DAMAGE);
    trace_check(&trace, &findings);
    status = print_findings(&trace, &findings, options.quiet);
    findings_free(&findings);
    trace_close(&trace);
    return status;
}

const struct command check_command = COMMAND("check", "verify every packet and event of a trace",
                                             "[--quiet] DIRECTORY", 1, 1, run_check, NULL, {NULL, known});
