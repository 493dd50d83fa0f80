/* check.c - verifies a trace, several streams at a time; see judge.h. Findings are joined in stream order. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <tools/tarn/read/judge.h>
#include <unistd.h>

#define WORKERS_MAX 16u

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
    struct findings findings;
    struct findings wrong_contexts; /* each from the switch before it to the one after it */
};

struct check {
    const struct trace *trace;
    struct judge *judge;
    struct result *results; /* one per stream, and one for the whole trace */
    atomic_uint next_stream;
};

static void keep_report(struct findings *findings, const struct report *report)
{
    findings->reports =
        array_grow(findings->reports, findings->count, &findings->size, sizeof(findings->reports[0]));
    findings->reports[findings->count++] = *report;
}

static void on_report(struct reporter *reporter, const struct report *report)
{
    keep_report(&((struct result *)reporter)->findings, report);
}

/* If the switch before a context and the one after it agree on a thread, it ran in between, unless switches
 * were off meanwhile. */
static void check_context(const struct cursor *cursor, struct contexts *contexts, struct result *result)
{
    const struct known_events *known = &cursor->trace->schema.known;
    const struct event *event = &cursor->event;
    if (event->type == known->switched) {
        if (contexts->has_wrong && field_integer(known->prev_tid, event->bytes) == contexts->tid) {
            const struct report wrong = {.anomaly = ANOMALY_WRONG_THREAD,
                                         .stream = cursor->stream,
                                         .offset = contexts->offset,
                                         .packet_seq = contexts->packet,
                                         .begin = contexts->since,
                                         .end = cursor->ticks};
            keep_report(&result->wrong_contexts, &wrong);
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
    cursor_open(&cursor, check->trace, stream, 0, &result->reporter);
    while (cursor_next(&cursor)) {
        if (cursor.event.type->role > EVENT_CHANGE)
            check_context(&cursor, &contexts, result);
        result->findings.events += judge_take(judged, &cursor);
    }
    judge_end(judged, &cursor);
    result->findings.packets = cursor.packets;
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
        for (size_t i = 0; i < result->wrong_contexts.count; i++) {
            const struct report *wrong = &result->wrong_contexts.reports[i];
            if (!judge_changed(check->judge, wrong->begin, wrong->end))
                on_report(&result->reporter, wrong);
        }
        findings_free(&result->wrong_contexts);
    }
}

void trace_check(const struct trace *trace, struct findings *findings)
{
    struct check check = {.trace = trace,
                          .judge = judge_open(trace),
                          .results = alloc_zero(trace->stream_count + 1ul, sizeof(struct result))};
    *findings = (struct findings){.count = 0};
    for (unsigned s = 0; s <= trace->stream_count; s++)
        check.results[s].reporter.report = on_report;
    run_workers(&check);
    judge_contexts(&check);
    judge_close(check.judge, &check.results[trace->stream_count].reporter);
    for (unsigned s = 0; s <= trace->stream_count; s++) {
        struct findings *part = &check.results[s].findings;
        for (size_t i = 0; i < part->count; i++)
            keep_report(findings, &part->reports[i]);
        findings->packets += part->packets;
        findings->events += part->events;
        findings_free(part);
    }
    free(check.results);
}

void findings_free(struct findings *findings)
{
    free(findings->reports);
}
