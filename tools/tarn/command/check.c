/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check.c - `tarn check`: verifies every packet and event.
 *
 * Streams are independent. Each worker takes the next stream from an atomic counter and stores its findings
 * in that stream's result; the results are printed in stream order at the end. A stream has one worker, so no
 * lock is needed.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/read/judge.h>
#include <tools/tarn/read/losses.h>
#include <unistd.h>

#define WORKERS_MAX  16u
#define REPORTS_KEPT 1000u /* per stream; further ones are only counted, by type */

/* Contexts between two switches of a CPU. */
struct contexts {
    bool has_switch;         /* there was a switch, and all events since then are here */
    uint32_t tid;            /* the thread that it switched to */
    uint64_t since;          /* ticks: of the switch */
    bool has_wrong;          /* a context since then names another one: */
    uint64_t packet, offset; /* its packet, the first such one */
};

/* The findings for one stream. */
struct result {
    struct reporter reporter; /* first */
    struct report *reports;
    unsigned report_count;
    uint64_t kinds[ANOMALY_COUNT];
    uint64_t packets, events, bytes, lost_events, lost_packets;
    struct missing missing;
    struct report *wrong_contexts; /* each from the switch before it to the one after it */
    size_t wrong_count, wrong_capacity;
};

struct check {
    const struct trace *trace;
    struct judge *judge;
    struct result *results; /* one per stream, and one for the whole trace */
    atomic_uint next_stream;
};

static void on_report(struct reporter *reporter, const struct report *report)
{
    struct result *result = (struct result *)reporter;

    result->kinds[report->anomaly]++;
    if (report->anomaly == ANOMALY_LOST_EVENTS && report->count != UINT64_MAX)
        result->lost_events += report->count;
    if (report->anomaly == ANOMALY_LOST_PACKETS) {
        result->lost_packets += report->count;
        missing_add(&result->missing, report);
    }
    if (result->report_count == REPORTS_KEPT)
        return;
    if ((result->report_count & (result->report_count - 1)) == 0)
        result->reports = alloc_more(result->reports, result->report_count ? 2 * result->report_count : 1,
                                     sizeof(result->reports[0]));
    result->reports[result->report_count++] = *report;
}

/* If the switch before a context and the one after it agree on a thread, it ran in between, unless switches
 * were off meanwhile. */
static void check_context(const struct cursor *cursor, struct contexts *contexts, struct result *result)
{
    const struct known_events *known = &cursor->trace->schema.known;
    const struct event *event = &cursor->event;

    if (event->type == known->switched) {
        if (contexts->has_wrong && field_integer(known->prev_tid, event->bytes) == contexts->tid) {
            result->wrong_contexts = array_grow(result->wrong_contexts, result->wrong_count,
                                                &result->wrong_capacity, sizeof(struct report));
            result->wrong_contexts[result->wrong_count++] = (struct report){.anomaly = ANOMALY_WRONG_THREAD,
                                                                            .stream = cursor->stream,
                                                                            .offset = contexts->offset,
                                                                            .packet_seq = contexts->packet,
                                                                            .begin = contexts->since,
                                                                            .end = cursor->ticks};
        }
        *contexts = (struct contexts){.has_switch = true,
                                      .tid = (uint32_t)field_integer(known->next_tid, event->bytes),
                                      .since = cursor->ticks};
    } else if (cursor->has_gap) {
        contexts->has_switch = contexts->has_wrong = false;
    } else if (contexts->has_switch && !contexts->has_wrong &&
               field_integer(known->context_tid, event->bytes) != contexts->tid) {
        contexts->has_wrong = true;
        contexts->packet = cursor->packet.header.packet_seq_num;
        contexts->offset = cursor->packet.offset;
    }
}

static void check_stream(const struct check *check, const struct stream *stream, struct result *result)
{
    struct judge_stream *judged = judge_stream(check->judge, stream->rank);
    struct contexts contexts = {.has_switch = false};
    struct cursor cursor;

    result->reporter.report = on_report;
    result->bytes = stream->size;
    cursor_open(&cursor, check->trace, stream, 0, &result->reporter);
    while (cursor_next(&cursor)) {
        if (cursor.event.type->role > EVENT_CHANGE)
            check_context(&cursor, &contexts, result);
        judge_take(judged, &cursor);
        result->events++;
    }
    judge_end(judged, &cursor);
    result->packets = cursor.packets;
    cursor_close(&cursor);
}

static void *work(void *argument)
{
    struct check *check = argument;
    unsigned number;

    /* Relaxed: the counter only hands out numbers; joining the threads publishes the results. */
    while ((number = atomic_fetch_add_explicit(&check->next_stream, 1, memory_order_relaxed)) <
           check->trace->stream_count)
        check_stream(check, &check->trace->streams[number], &check->results[number]);
    return NULL;
}

static void run_workers(struct check *check)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned count = processors < 1 ? 1 : (unsigned)processors, started = 0;
    pthread_t threads[WORKERS_MAX];

    count = count < WORKERS_MAX ? count : WORKERS_MAX;
    count = count < check->trace->stream_count ? count : check->trace->stream_count;
    while (started + 1 < count && pthread_create(&threads[started], NULL, work, check) == 0)
        started++;
    work(check);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

/* Reports the wrong contexts between whose switches nothing changed: switches may be off on all CPUs after a
 * change, or be missing. */
static void judge_contexts(const struct check *check)
{
    for (unsigned s = 0; s < check->trace->stream_count; s++) {
        struct result *result = &check->results[s];

        for (size_t i = 0; i < result->wrong_count; i++)
            if (!judge_changed(check->judge, result->wrong_contexts[i].begin, result->wrong_contexts[i].end))
                on_report(&result->reporter, &result->wrong_contexts[i]);
    }
}

/* Prints the damage, or the LOSSES; returns their number. */
static uint64_t print_reports(const struct check *check, bool losses, bool quiet)
{
    uint64_t count = 0;
    char text[1024];

    for (unsigned s = 0; s <= check->trace->stream_count; s++) {
        const struct result *result = &check->results[s];
        uint64_t here = 0, shown = 0;

        for (int kind = 0; kind < ANOMALY_COUNT; kind++)
            here += anomaly_kinds[kind].is_loss == losses ? result->kinds[kind] : 0;
        for (unsigned i = 0; i < result->report_count && !quiet; i++) {
            if (anomaly_kinds[result->reports[i].anomaly].is_loss != losses)
                continue;
            format_report(check->trace, &result->reports[i], text, sizeof(text));
            printf("%s %s\n", losses ? "loss  " : "damage", text);
            shown++;
        }
        if (shown < here && !quiet)
            printf("%s file %s: %" PRIu64 " more\n", losses ? "loss  " : "damage",
                   check->trace->streams[s].name, here - shown);
        count += here;
    }
    return count;
}

static int print_results(const struct check *check, bool quiet)
{
    struct result total = {.packets = 0};
    uint64_t damage = print_reports(check, false, quiet);

    print_reports(check, true, quiet);
    for (unsigned s = 0; s <= check->trace->stream_count; s++) {
        const struct result *result = &check->results[s];

        total.packets += result->packets;
        total.events += result->events;
        total.bytes += result->bytes;
        total.lost_events += result->lost_events;
        total.lost_packets += result->lost_packets;
        total.missing.events += result->missing.events;
        total.missing.is_least |= result->missing.is_least;
        for (int kind = 0; kind < ANOMALY_COUNT; kind++)
            total.kinds[kind] += result->kinds[kind];
    }
    for (int kind = 1; kind < ANOMALY_COUNT; kind++)
        if (total.kinds[kind] != 0)
            printf("%-14s %10" PRIu64 "  %s\n", anomaly_kinds[kind].name, total.kinds[kind],
                   anomaly_kinds[kind].meaning);
    printf("%" PRIu64 " packets, %" PRIu64 " events, %" PRIu64 " bytes of %u CPUs checked\n", total.packets,
           total.events, total.bytes, check->trace->stream_count);
    if (total.lost_events == 0 && total.lost_packets == 0)
        puts("lost: nothing");
    else
        printf("lost: %" PRIu64 " events, %" PRIu64 " packets with %s%" PRIu64 " events\n", total.lost_events,
               total.lost_packets, total.missing.is_least ? "at least " : "", total.missing.events);
    if (total.kinds[ANOMALY_UNFINISHED] != 0)
        printf("UNFINISHED: the pull ended early, so losses after the last packets are not counted here. "
               "They are\n"
               "known only if a pull ends by itself or by a single Ctrl-C\n");
    if (damage != 0)
        printf("DAMAGED: %" PRIu64 " anomal%s\n", damage, damage == 1 ? "y" : "ies");
    else
        printf("no damage%s\n", total.kinds[ANOMALY_UNFINISHED] != 0 ? ", but the end is not known" : "");
    return damage != 0 || total.kinds[ANOMALY_UNFINISHED] != 0 ? EXIT_DAMAGE : EXIT_OK;
}

static int check_trace(const char *directory, bool quiet)
{
    struct trace trace;
    struct check check = {.trace = &trace};
    struct fail fail;
    int status;

    if (!trace_open(&trace, directory, &fail))
        return fail_report(&fail, EXIT_DAMAGE);
    check.results = alloc_zero(trace.stream_count + 1ul, sizeof(check.results[0]));
    check.judge = judge_open(&trace);
    run_workers(&check);
    judge_contexts(&check);
    check.results[trace.stream_count].reporter.report = on_report;
    judge_close(check.judge, &check.results[trace.stream_count].reporter);
    status = print_results(&check, quiet);
    for (unsigned i = 0; i <= trace.stream_count; i++) {
        free(check.results[i].reports);
        free(check.results[i].wrong_contexts);
    }
    free(check.results);
    trace_close(&trace);
    return status;
}

struct options {
    bool quiet;
};

static const struct command_option known[] = {
    {FLAG("quiet", struct options, quiet, "print only the summary"), .letter = 'q'}, {.name = NULL}};

static int run_check(int argc, char **argv)
{
    struct options options = {false};
    int status = command_parse(&check_command, (void *[]){&options}, argc, argv);

    if (status >= 0)
        return status;
    return check_trace(argv[optind], options.quiet);
}

const struct command check_command = COMMAND("check", "verify every packet and event of a trace",
                                             "[--quiet] DIRECTORY", 1, 1, run_check, NULL, {NULL, known});
