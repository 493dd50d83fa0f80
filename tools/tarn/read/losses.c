/* losses.c - prints damage and losses; see losses.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/read/judge.h>
#include <tools/tarn/read/losses.h>

#define DAMAGE_SHOWN 20u /* any more are only counted */

static void format_seconds(const struct trace *trace, uint64_t ticks, char text[40])
{
    /* Times in a damaged header can be any distance apart, so the difference may not fit a signed number. */
    int64_t at = schema_ns(&trace->schema, ticks), start = schema_ns(&trace->schema, trace->begin);
    uint64_t ns = at < start ? (uint64_t)start - (uint64_t)at : (uint64_t)at - (uint64_t)start;
    snprintf(text, 40, "%s%" PRIu64 ".%09" PRIu64, at < start ? "-" : "", ns / 1000000000, ns % 1000000000);
}

static void add_count(FILE *to, uint64_t count, const char *what)
{
    if (count == UINT64_MAX)
        fprintf(to, "an unknown number of %ss", what);
    else
        fprintf(to, "%" PRIu64 " %s%s", count, what, count == 1 ? "" : "s");
}

static void add_file(FILE *to, const struct report *report, const char *meaning)
{
    if (report->anomaly == ANOMALY_MISSING) {
        fprintf(to, "no file has the packets of ");
        add_count(to, report->count, "CPU");
        fprintf(to, ": %s", report->file);
        return;
    }
    fprintf(to, "file %s: %s", report->file, meaning);
    if (report->anomaly == ANOMALY_TAIL)
        fprintf(to, ": %" PRIu64 " packets are missing", report->count);
}

static void add_clock(FILE *to, const struct trace *trace, const struct report *report, const char *begin,
                      const char *end)
{
    const double seconds = (double)report->count / (double)trace->schema.clock_freq;
    if (report->is_either)
        fprintf(
            to,
            "the clocks of cpu %u and cpu %u are at least %.9f s apart: a thread leaves the first at [%s] "
            "and "
            "runs on the second from [%s] on",
            report->stream->cpu, report->other->cpu, seconds, begin, end);
    else
        fprintf(
            to,
            "the clock of cpu %u is at least %.9f s ahead of cpu %u's: %s [%s] comes before its cause [%s]",
            report->stream->cpu, seconds, report->other->cpu,
            schema_event(&trace->schema, report->event_id)->name, end, begin);
}

static void add_losses(FILE *to, const struct report *report, const char *begin, const char *end)
{
    const bool has_end = report->begin < report->end || report->anomaly == ANOMALY_LOST_PACKETS;
    fprintf(to, ": lost ");
    add_count(to, report->count, report->anomaly == ANOMALY_LOST_PACKETS ? "packet" : "event");
    if (report->anomaly == ANOMALY_LOST_PACKETS) {
        fprintf(to, " with ");
        add_count(to, report->events, "event");
    }
    if (has_end)
        fprintf(to, " between [%s] and [%s]", begin, end);
    else
        fprintf(to, " after [%s], up to an unknown time", begin);
}

/* Adds the place and kind of a defect. */
static void add_place(FILE *to, const struct trace *trace, const struct report *report, const char *begin,
                      const char *end)
{
    const struct event_type *type = schema_event(&trace->schema, report->event_id);
    const enum anomaly anomaly = report->anomaly;
    fprintf(to, "file %s cpu %u", report->stream->name, report->stream->cpu);
    if (anomaly != ANOMALY_TRUNCATED && anomaly != ANOMALY_MAGIC)
        fprintf(to, " packet %" PRIu64, report->packet_seq);
    if (anomaly == ANOMALY_LOST_EVENTS || anomaly == ANOMALY_LOST_PACKETS) {
        add_losses(to, report, begin, end);
        return;
    }
    fprintf(to, " offset %" PRIu64, report->offset);
    if (anomaly >= ANOMALY_EVENT_LENGTH && anomaly <= ANOMALY_EVENT_TIME)
        fprintf(to, ": event %u.%u%s%s", TRACE_ID_CLASS(report->event_id), TRACE_ID_MINOR(report->event_id),
                type ? " " : "", type ? type->name : "");
    fprintf(to, ": %s", anomaly_kinds[anomaly].meaning);
    if (anomaly == ANOMALY_EVENT_COUNT)
        fprintf(to, ": %" PRIu64 ", not %" PRIu64, report->count, report->events);
}

void format_report(const struct trace *trace, const struct report *report, char *text, size_t size)
{
    const struct anomaly_kind *kind = &anomaly_kinds[report->anomaly];
    FILE *to = fmemopen(text, size - 1, "w");
    char begin[40], end[40];
    text[size - 1] = '\0'; /* also if there is no space for all */
    format_seconds(trace, report->begin, begin);
    format_seconds(trace, report->end, end);
    fprintf(to, "%s: ", kind->name);
    if (report->file != NULL)
        add_file(to, report, kind->meaning);
    else if (report->anomaly == ANOMALY_UNFINISHED)
        fprintf(to, "the pull of %s ended early: losses after [%s] are unknown", trace->directory, begin);
    else if (report->anomaly == ANOMALY_CLOCK)
        add_clock(to, trace, report, begin, end);
    else
        add_place(to, trace, report, begin, end);
    fclose(to);
}

static void format_wall(const struct trace *trace, uint64_t ticks, char text[64])
{
    int64_t ns = schema_ns(&trace->schema, ticks);
    time_t seconds = ns / 1000000000;
    struct tm tm;
    localtime_r(&seconds, &tm);
    snprintf(text, 64, "%02d:%02d:%02d.%09" PRId64, tm.tm_hour, tm.tm_min, tm.tm_sec, ns % 1000000000);
}

/* Prints babeltrace2's warning word for word, so that stderr can be compared. */
static void warn_as_babeltrace(const struct losses *losses, const struct report *report)
{
    const char *what = report->anomaly == ANOMALY_LOST_EVENTS ? "event" : "packet";
    const char *name = schema_env(&losses->trace->schema, "hostname", true); /* of the trace */
    char begin[64], end[64], uuid[37], count[64];
    format_wall(losses->trace, report->begin, begin);
    format_wall(losses->trace, report->end, end);
    format_uuid(losses->trace->schema.uuid, uuid);
    if (report->count == UINT64_MAX)
        snprintf(count, sizeof(count), "may have discarded %ss", what);
    else
        snprintf(count, sizeof(count), "discarded %" PRIu64 " %s%s", report->count, what,
                 report->count == 1 ? "" : "s");
    fprintf(stderr,
            "WARNING: Tracer %s between [%s] and [%s] in trace \"%s\" (UUID: %s) within stream \"%s\" "
            "(stream class ID: "
            "0, stream ID: %u).\n",
            count, begin, end, name != NULL ? name : "", uuid, report->stream->path, report->stream->rank);
}

void missing_add(struct missing *missing, const struct report *report)
{
    if (report->events == TRACE_EVENTS_UNKNOWN)
        missing->is_least = true;
    else
        missing->events += report->events;
}

static void on_report(struct reporter *reporter, const struct report *report)
{
    struct losses *losses = (struct losses *)reporter;
    bool is_before = report->begin < report->end ? report->end <= losses->from : report->end < losses->from;
    char text[1024];
    if (anomaly_kinds[report->anomaly].is_loss && (is_before || report->begin >= losses->to))
        return;
    switch (report->anomaly) {
    case ANOMALY_LOST_EVENTS:
        if (report->count == UINT64_MAX)
            losses->lost_unknown = true;
        else
            losses->lost_events += report->count;
        break;
    case ANOMALY_LOST_PACKETS:
        losses->lost_packets += report->count;
        missing_add(&losses->missing, report);
        break;
    case ANOMALY_CUT:
        losses->cut_packets++;
        break;
    case ANOMALY_UNFINISHED:
        losses->is_unfinished = true;
        break;
    default:
        losses->damaged++;
    }
    if (losses->quiet || losses->damaged > DAMAGE_SHOWN)
        return;
    if (losses->as_babeltrace &&
        (report->anomaly == ANOMALY_LOST_EVENTS || report->anomaly == ANOMALY_LOST_PACKETS)) {
        warn_as_babeltrace(losses, report);
        return;
    }
    format_report(losses->trace, report, text, sizeof(text));
    complain("%s", text);
    if (losses->damaged == DAMAGE_SHOWN)
        complain("more damage follows; tarn check lists all of it");
}

void losses_open(struct losses *losses, const struct trace *trace)
{
    memset(losses, 0, sizeof(*losses));
    losses->reporter.report = on_report;
    losses->trace = trace;
    losses->to = UINT64_MAX;
}

void losses_judge(struct losses *losses)
{
    bool quiet = losses->quiet;
    losses->quiet = false;
    trace_judge(losses->trace, JUDGE_BYTES, &losses->reporter);
    losses->quiet = quiet;
}

void losses_begin(struct losses *losses, const struct trace *trace, const struct filter *filter)
{
    losses_open(losses, trace);
    losses->from = filter->from_ticks;
    losses->to = filter->to_ticks;
    losses->quiet = true;
    losses_judge(losses);
}

void losses_add(struct losses *sum, const struct losses *part)
{
    sum->damaged += part->damaged;
    sum->lost_events += part->lost_events;
    sum->lost_packets += part->lost_packets;
    sum->missing.events += part->missing.events;
    sum->missing.is_least |= part->missing.is_least;
    sum->cut_packets += part->cut_packets;
    sum->lost_unknown |= part->lost_unknown;
    sum->is_unfinished |= part->is_unfinished;
}

bool losses_facts(const struct losses *losses, struct loss_fact facts[LOSS_FACTS])
{
    const struct loss_fact all[LOSS_FACTS] = {{"lost_events", losses->lost_events, false},
                                              {"lost_before", losses->lost_unknown, true},
                                              {"unfinished", losses->is_unfinished, true},
                                              {"lost_packets", losses->lost_packets, false},
                                              {"missing_events", losses->missing.events, false},
                                              {"missing_is_least", losses->missing.is_least, true},
                                              {"cut_packets", losses->cut_packets, false},
                                              {"damaged", losses->damaged, false}};
    uint64_t any = 0;
    for (unsigned i = 0; i < LOSS_FACTS; i++)
        any |= (facts[i] = all[i]).value;
    return any != 0;
}

void losses_print_json(FILE *to, const struct losses *losses)
{
    struct loss_fact facts[LOSS_FACTS];
    losses_facts(losses, facts);
    for (unsigned i = 0; i < LOSS_FACTS; i++) {
        fprintf(to, "%s\"%s\":", i ? "," : "", facts[i].name);
        if (facts[i].is_bool)
            fputs(facts[i].value ? "true" : "false", to);
        else
            fprintf(to, "%" PRIu64, facts[i].value);
    }
}

void losses_print_csv(FILE *to, const struct losses *losses, const char *name)
{
    struct loss_fact facts[LOSS_FACTS];
    if (!losses_facts(losses, facts))
        return;
    fprintf(to, "\n%s,value\n", name);
    for (unsigned i = 0; i < LOSS_FACTS; i++)
        fprintf(to, "%s,%" PRIu64 "\n", facts[i].name, facts[i].value);
}

void losses_durations(const struct losses *losses)
{
    if (losses->trace != NULL && trace_shares_clock(losses->trace))
        complain("clock: it counts the instructions of all %" PRIu64
                 " CPUs together: while N of them are busy, "
                 "each seems to run N times as long as it executes",
                 schema_cpu_count(&losses->trace->schema));
}

void losses_summary(const struct losses *losses)
{
    struct clock_trust trust;
    if (losses->lost_events || losses->lost_packets || losses->lost_unknown || losses->cut_packets ||
        losses->is_unfinished)
        complain("lost: %" PRIu64 " events%s%s, %" PRIu64 " packets with %s%" PRIu64 " events, %" PRIu64
                 " packets cut",
                 losses->lost_events, losses->lost_unknown ? " and some before the start of the trace" : "",
                 losses->is_unfinished ? " and an unknown number after its end" : "", losses->lost_packets,
                 losses->missing.is_least ? "at least " : "", losses->missing.events, losses->cut_packets);
    if (losses->damaged)
        complain("damaged: %" PRIu64 " anomal%s; see tarn check", losses->damaged,
                 losses->damaged == 1 ? "y" : "ies");
    if (losses->lacks[0] != '\0')
        complain("%s", losses->lacks);
    /* if the trace was opened */
    if (losses->trace != NULL && schema_clock_trust(&losses->trace->schema, &trust) && !trust.is_certain)
        complain("clock: no two sources agree on the guest's clock rate; durations may be wrong by %g %% "
                 "(sources: %s)",
                 (double)trust.error_ppm / 1e4, trust.sources);
}

int losses_status(const struct losses *losses)
{
    return losses->damaged != 0 || losses->lacks[0] != '\0' ? EXIT_DAMAGE : EXIT_OK;
}
