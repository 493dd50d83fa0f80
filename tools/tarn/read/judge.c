/* SPDX-License-Identifier: BSD-2-Clause */
/* judge.c - what is wrong with a trace as a whole; see judge.h. */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/read/judge.h>

/* The maximum of signs in memory. Beyond it, calls and threads are sampled by a hash of their id, so that
 * either all or none of the signs of one are kept. */
#define SIGNS_MAX 65536u

/* In the order in which they happen: of one call, and of a thread from its creation to its first run. */
enum sign_kind {
    SIGN_CALL,
    SIGN_RECEIVE,
    SIGN_REPLY,
    SIGN_RETURN,
    SIGN_BIRTH,
    SIGN_WAKE,
    SIGN_RUN,
    SIGN_KINDS
};
static const char *const sign_events[SIGN_KINDS][2] = {[SIGN_CALL] = {"ipc_call", "call_id"},
                                                       [SIGN_RECEIVE] = {"ipc_receive", "call_id"},
                                                       [SIGN_REPLY] = {"ipc_reply", "call_id"},
                                                       [SIGN_RETURN] = {"ipc_return", "call_id"},
                                                       [SIGN_BIRTH] = {"sched_process_fork", "child_tid"},
                                                       [SIGN_WAKE] = {"sched_wakeup", "tid"},
                                                       [SIGN_RUN] = {"sched_switch", "next_tid"}};

struct sign {
    uint64_t id; /* of the call or the thread */
    uint64_t ticks;
    uint64_t until; /* runs: when the thread left the CPU; `ticks`: unknown */
    uint32_t rank;
    uint32_t kind;
};

struct lead {
    uint64_t ticks;     /* minimum by which this clock is ahead of another; 0: it is not */
    struct sign cause;  /* on the clock that is ahead */
    struct sign effect; /* on the other clock */
};

struct judge {
    const struct trace *trace;
    const struct field *ids[SIGN_KINDS];
    uint8_t *kinds;               /* enum sign_kind by event index */
    const struct field *previous; /* of a switch: the thread that leaves */
    struct sign *signs;
    size_t count, capacity;
    uint64_t mask;         /* only ids whose hash has none of these bits are kept */
    struct sign run;       /* of the current CPU; id 0: unknown, or idle */
    uint64_t from, to;     /* ticks: nothing is lost in between */
    struct lead *leads;    /* by the rank of the clock that is ahead */
    struct lead *overlaps; /* runs that overlap one on another CPU: either clock may be ahead */
};

/* ---- signs ----------------------------------------------------------------------------------------- */

static uint64_t hash_of(uint64_t id)
{
    return id * 0x9e3779b97f4a7c15ull >> 32;
}

static void keep_fewer(struct judge *judge)
{
    size_t kept = 0;

    judge->mask = 2 * judge->mask + 1;
    for (size_t i = 0; i < judge->count; i++)
        if ((hash_of(judge->signs[i].id) & judge->mask) == 0)
            judge->signs[kept++] = judge->signs[i];
    judge->count = kept;
}

static void add_sign(struct judge *judge, const struct sign *sign)
{
    if (sign->id == 0 || (hash_of(sign->id) & judge->mask) != 0) /* 0: a message without a reply */
        return;
    while (judge->count == SIGNS_MAX && judge->mask != UINT32_MAX)
        keep_fewer(judge);
    if (judge->count == SIGNS_MAX || (hash_of(sign->id) & judge->mask) != 0)
        return;
    judge->signs = array_grow(judge->signs, judge->count, &judge->capacity, sizeof(judge->signs[0]));
    judge->signs[judge->count++] = *sign;
}

/* Ends the current run: at this switch, or at an unknown time. */
static void end_run(struct judge *judge, const struct cursor *cursor, bool is_known)
{
    if (is_known && field_integer(judge->previous, cursor->event.bytes) == judge->run.id)
        judge->run.until = cursor->ticks;
    add_sign(judge, &judge->run);
    judge->run = (struct sign){.id = 0};
}

static void on_event(struct judge *judge, const struct cursor *cursor)
{
    struct sign sign = {.ticks = cursor->ticks, .until = cursor->ticks, .rank = cursor->rank};

    if (cursor->event.type->role == EVENT_CONTEXT && cursor->has_gap)
        end_run(judge, cursor, false);
    sign.kind = judge->kinds[cursor->event.type->index];
    if (sign.kind == SIGN_KINDS)
        return;
    sign.id = field_integer(judge->ids[sign.kind], cursor->event.bytes);
    if (sign.kind != SIGN_RUN) {
        add_sign(judge, &sign);
        return;
    }
    end_run(judge, cursor, true);
    judge->run = sign;
}

/* Reads the packets with FROM <= offset < TO. Returns the time up to which
 * nothing is lost. Before a gap, that is the last event but one: in traces
 * of older systems, the last packet of a full ring ends with the gap. */
static uint64_t take_packets(struct judge *judge, const struct stream *stream, uint64_t from, uint64_t to)
{
    struct cursor cursor;
    uint64_t complete = 0, before = 0; /* times of the last event and of the one before */
    bool has_lost = false;

    cursor_open(&cursor, judge->trace, stream, 0, NULL);
    cursor.next_packet = from;
    while (cursor_next(&cursor) && cursor.packet.offset < to) {
        bool has_gap = cursor.has_gap && cursor.event.type->role == EVENT_CONTEXT;

        if (has_gap && from == 0 && complete == 0 && cursor.ticks > judge->from)
            judge->from = cursor.ticks; /* earlier events are lost */
        if (has_gap && complete != 0 && !has_lost)
            complete = before;
        has_lost |= (has_gap && complete != 0) || cursor.is_broken;
        before = has_lost ? before : complete;
        complete = has_lost ? complete : cursor.ticks;
        on_event(judge, &cursor);
    }
    if (cursor.has_gap && !has_lost) /* the last packet is empty and reports a loss */
        complete = before;
    end_run(judge, &cursor, false);
    cursor_close(&cursor);
    return complete;
}

static void take_stream(struct judge *judge, const struct stream *stream, uint64_t bytes)
{
    uint64_t packet = stream->first_packet_bytes != 0 ? stream->first_packet_bytes : 1;
    uint64_t half = bytes / 2 < packet ? packet : bytes / 2;
    bool is_small = stream->size <= 2 * half;
    uint64_t complete = take_packets(judge, stream, 0, is_small ? stream->size : half);

    judge->to = complete < judge->to ? complete : judge->to;
    if (!is_small)
        take_packets(judge, stream, (stream->size - half) / packet * packet, stream->size);
}

static void find_types(struct judge *judge)
{
    judge->kinds = alloc_zero(judge->trace->schema.event_count + 1, sizeof(judge->kinds[0]));
    memset(judge->kinds, SIGN_KINDS, judge->trace->schema.event_count);
    for (uint32_t kind = 0; kind < SIGN_KINDS; kind++) {
        const struct event_type *type = schema_find_event(&judge->trace->schema, sign_events[kind][0]);

        judge->ids[kind] = type != NULL ? schema_find_field(type, sign_events[kind][1]) : NULL;
        if (kind == SIGN_RUN && type != NULL)
            judge->previous = schema_find_field(type, "prev_tid");
        if (judge->ids[kind] != NULL && judge->ids[kind]->kind == FIELD_INTEGER &&
            (kind != SIGN_RUN || (judge->previous != NULL && judge->previous->kind == FIELD_INTEGER)))
            judge->kinds[type->index] = (uint8_t)kind;
    }
}

/* ---- causes and effects ---------------------------------------------------------------------------- */

static bool is_of_thread(const struct sign *sign)
{
    return sign->kind >= SIGN_BIRTH;
}

/* By call or thread, then in the order of the steps. */
static int by_course(const void *left, const void *right)
{
    const struct sign *a = left, *b = right;

    if (is_of_thread(a) != is_of_thread(b))
        return is_of_thread(a) ? 1 : -1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->ticks != b->ticks ? (a->ticks < b->ticks ? -1 : 1) : 0;
}

static void note_lead(struct lead *leads, const struct sign *cause, const struct sign *effect, uint64_t ticks)
{
    if (cause->rank != effect->rank && ticks > leads[cause->rank].ticks)
        leads[cause->rank] = (struct lead){ticks, *cause, *effect};
}

static void compare(struct judge *judge, const struct sign *cause, const struct sign *effect)
{
    if (cause->ticks > effect->ticks)
        note_lead(judge->leads, cause, effect, cause->ticks - effect->ticks);
}

/* Checks the ends of one call. A cancelled call returns without a reply, or while the reply is made. */
static void compare_ends(struct judge *judge, const struct sign *signs, size_t count)
{
    const struct sign *latest = NULL; /* of earlier steps */

    for (size_t i = 1; i < count; i++) {
        const struct sign *last = &signs[i - 1];

        if (last->kind != signs[i].kind && (latest == NULL || last->ticks > latest->ticks))
            latest = last;
        if (latest != NULL)
            compare(judge, latest, &signs[i]);
    }
}

/* A thread leaves a CPU before it runs on another. Overlapping runs do not show which was first, so the
 * clocks differ by at least the smaller of the two errors. */
static void compare_runs(struct judge *judge, const struct sign *runs, size_t count)
{
    const struct sign *last = runs;

    for (size_t i = 1; i < count; i++) {
        const struct sign *run = &runs[i];

        if (last->until > run->ticks) {
            uint64_t one = last->until - run->ticks, other = run->until - last->ticks;

            note_lead(judge->overlaps, last, run, one < other ? one : other);
        }
        last = run->until > last->until ? run : last;
    }
}

/* A new thread is woken before it runs. If several CPUs woke it, their clocks do not show which was first. */
static void compare_wakes(struct judge *judge, const struct sign *birth, const struct sign *wakes,
                          size_t count)
{
    const struct sign *run = &wakes[count];

    for (size_t i = 1; i < count; i++)
        if (wakes[i].rank != wakes[0].rank)
            return;
    if (birth->ticks >= judge->from && run->ticks <= judge->to)
        compare(judge, &wakes[0], run);
}

static size_t count_kind(const struct sign *signs, size_t count, enum sign_kind kind)
{
    size_t found = 0;

    while (found < count && signs[found].kind == kind)
        found++;
    return found;
}

static void compare_thread(struct judge *judge, const struct sign *signs, size_t count)
{
    size_t births = count_kind(signs, count, SIGN_BIRTH);
    size_t wakes = count_kind(signs + births, count - births, SIGN_WAKE), runs = count - births - wakes;

    if (births != 0 && wakes != 0 && runs != 0)
        compare_wakes(judge, signs, signs + births, wakes);
    if (runs != 0)
        compare_runs(judge, signs + births + wakes, runs);
}

static void compare_signs(struct judge *judge)
{
    size_t next = 0;

    if (judge->count > 1)
        qsort(judge->signs, judge->count, sizeof(judge->signs[0]), by_course);
    for (size_t i = 0; i < judge->count; i = next) {
        const struct sign *signs = &judge->signs[i];

        while (next < judge->count && judge->signs[next].id == signs->id &&
               is_of_thread(&judge->signs[next]) == is_of_thread(signs))
            next++;
        (is_of_thread(signs) ? compare_thread : compare_ends)(judge, signs, next - i);
    }
}

/* Returns whether it reported any. */
static bool report_leads(const struct judge *judge, const struct lead *leads, struct reporter *reporter)
{
    const struct stream *streams = judge->trace->streams;
    bool has_any = false;

    for (unsigned i = 0; i < judge->trace->stream_count; i++) {
        const struct lead *lead = &leads[i];
        bool is_overlap = leads == judge->overlaps;

        if (lead->ticks == 0)
            continue;
        has_any = true;
        reporter->report(
            reporter,
            &(struct report){
                .anomaly = ANOMALY_CLOCK,
                .stream = &streams[i],
                .other = &streams[lead->effect.rank],
                .count = lead->ticks,
                .begin = is_overlap ? lead->cause.until : lead->cause.ticks,
                .end = lead->effect.ticks,
                .is_either = is_overlap,
                .event_id = schema_find_event(&judge->trace->schema, sign_events[lead->effect.kind][0])->id});
    }
    return has_any;
}

static void judge_clocks(const struct trace *trace, uint64_t bytes, struct reporter *reporter)
{
    struct judge judge = {.trace = trace, .to = UINT64_MAX};

    if (trace->stream_count < 2)
        return;
    find_types(&judge);
    judge.leads = alloc_zero(trace->stream_count, sizeof(judge.leads[0]));
    judge.overlaps = alloc_zero(trace->stream_count, sizeof(judge.overlaps[0]));
    for (unsigned i = 0; i < trace->stream_count; i++)
        take_stream(&judge, &trace->streams[i], bytes / trace->stream_count);
    compare_signs(&judge);
    if (!report_leads(&judge, judge.leads, reporter))
        report_leads(&judge, judge.overlaps, reporter);
    free(judge.leads);
    free(judge.overlaps);
    free(judge.signs);
    free(judge.kinds);
}

bool trace_shares_clock(const struct trace *trace)
{
    return schema_env(&trace->schema, "recipe", true) != NULL && schema_cpu_count(&trace->schema) > 1;
}

uint64_t trace_known_end(const struct trace *trace)
{
    uint64_t end = trace->end;

    for (unsigned i = 0; i < trace->stream_count; i++) {
        const struct stream *stream = &trace->streams[i];
        struct trace_packet header;

        if (!anomaly_is_fatal(
                stream_header(trace, stream, stream_seek(trace, stream, UINT64_MAX), &header)) &&
            header.timestamp_end < end)
            end = header.timestamp_end;
    }
    return end;
}

void trace_judge(const struct trace *trace, uint64_t bytes, struct reporter *reporter)
{
    if (trace_is_unfinished(trace))
        reporter->report(reporter, &(struct report){.anomaly = ANOMALY_UNFINISHED,
                                                    .begin = trace_known_end(trace),
                                                    .end = UINT64_MAX,
                                                    .count = UINT64_MAX});
    for (unsigned i = 0; i < trace->oddity_count; i++)
        reporter->report(
            reporter, &(struct report){.anomaly = trace->oddities[i].anomaly, .oddity = &trace->oddities[i]});
    judge_clocks(trace, bytes, reporter);
}
