/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/read/judge.c - what is wrong with a trace as a whole; see judge.h. */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/read/judge.h>

/* Of so many ends of calls at most: if there are more, those of fewer calls, chosen by their ids, so that all
 * ends of a call are kept or none. */
#define ENDS_MOST 65536u

/* In the order in which they happen. */
static const char *const end_names[] = {"ipc_call", "ipc_receive", "ipc_reply", "ipc_return"};
#define END_KINDS (sizeof(end_names) / sizeof(end_names[0]))

struct end {
    uint64_t id, ticks;
    uint32_t rank;
    uint32_t kind;
};

struct lead {
    uint64_t ticks;    /* so much is this clock ahead of another, at least; 0: it is not */
    struct end cause;  /* of the clock that is ahead */
    struct end effect; /* of that other clock */
};

struct judge {
    const struct trace *trace;
    const struct event_type *types[END_KINDS];
    const struct field *ids[END_KINDS];
    struct end *ends;
    size_t count, room;
    uint64_t mask; /* of the hash of an id: kept are those for which all of these bits are 0 */
};

/* ---- ends of calls ------------------------------------------------------------------------------- */

static uint64_t hash_of(uint64_t id)
{
    return id * 0x9e3779b97f4a7c15ull >> 32;
}

static void keep_fewer(struct judge *judge)
{
    size_t kept = 0;

    judge->mask = 2 * judge->mask + 1;
    for (size_t i = 0; i < judge->count; i++)
        if ((hash_of(judge->ends[i].id) & judge->mask) == 0)
            judge->ends[kept++] = judge->ends[i];
    judge->count = kept;
}

static void take_event(struct judge *judge, const struct cursor *cursor)
{
    uint64_t id;
    uint32_t kind = 0;

    while (kind < END_KINDS && cursor->event.type != judge->types[kind])
        kind++;
    if (kind == END_KINDS)
        return;
    id = field_integer(judge->ids[kind], cursor->event.bytes);
    if (id == 0 || (hash_of(id) & judge->mask) != 0) /* 0: wants no reply */
        return;
    while (judge->count == ENDS_MOST && judge->mask != UINT32_MAX)
        keep_fewer(judge);
    if (judge->count == ENDS_MOST || (hash_of(id) & judge->mask) != 0)
        return;
    if (judge->count == judge->room) {
        judge->room = judge->room ? 2 * judge->room : 256;
        judge->ends = alloc_more(judge->ends, judge->room, sizeof(judge->ends[0]));
    }
    judge->ends[judge->count++] = (struct end){id, cursor->ticks, cursor->rank, kind};
}

/* The packets that begin at FROM <= offset < TO. */
static void take_packets(struct judge *judge, const struct stream *stream, uint64_t from, uint64_t to)
{
    struct cursor cursor;

    cursor_open(&cursor, judge->trace, stream, 0, NULL);
    cursor.next_packet = from;
    while (cursor_next(&cursor) && cursor.packet.offset < to)
        take_event(judge, &cursor);
    cursor_close(&cursor);
}

static void take_stream(struct judge *judge, const struct stream *stream, uint64_t bytes)
{
    uint64_t packet = stream->first_packet_bytes != 0 ? stream->first_packet_bytes : 1;
    uint64_t half = bytes / 2 < packet ? packet : bytes / 2;

    if (stream->size <= 2 * half) {
        take_packets(judge, stream, 0, stream->size);
        return;
    }
    take_packets(judge, stream, 0, half);
    take_packets(judge, stream, (stream->size - half) / packet * packet, stream->size);
}

static bool find_types(struct judge *judge)
{
    for (uint32_t kind = 0; kind < END_KINDS; kind++) {
        const struct event_type *type = schema_find_event(&judge->trace->schema, end_names[kind]);

        judge->types[kind] = type;
        judge->ids[kind] = type != NULL ? schema_find_field(type, "call_id") : NULL;
        if (judge->ids[kind] == NULL || judge->ids[kind]->kind != FIELD_INTEGER)
            return false;
    }
    return true;
}

/* ---- causes and effects -------------------------------------------------------------------------- */

static int by_call(const void *left, const void *right)
{
    const struct end *a = left, *b = right;

    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : 0;
}

/* A call that is given up returns without an answer, or while one is made. */
static bool is_cause(const struct end *cause, const struct end *effect)
{
    return cause->id == effect->id && cause->kind < effect->kind && cause->rank != effect->rank;
}

static void compare_ends(const struct judge *judge, struct lead *leads)
{
    for (size_t i = 0; i < judge->count; i++)
        for (size_t j = i + 1; j < judge->count && judge->ends[j].id == judge->ends[i].id; j++) {
            const struct end *cause = &judge->ends[i], *effect = &judge->ends[j];
            struct lead *lead = &leads[cause->rank];

            if (is_cause(cause, effect) && cause->ticks > effect->ticks &&
                cause->ticks - effect->ticks > lead->ticks)
                *lead = (struct lead){cause->ticks - effect->ticks, *cause, *effect};
        }
}

static void judge_clocks(const struct trace *trace, uint64_t bytes, struct reporter *reporter)
{
    struct judge judge = {.trace = trace};
    struct lead *leads;

    if (trace->stream_count < 2 || !find_types(&judge))
        return;
    leads = alloc_zero(trace->stream_count, sizeof(leads[0]));
    for (unsigned i = 0; i < trace->stream_count; i++)
        take_stream(&judge, &trace->streams[i], bytes / trace->stream_count);
    if (judge.count > 1)
        qsort(judge.ends, judge.count, sizeof(judge.ends[0]), by_call);
    compare_ends(&judge, leads);
    for (unsigned i = 0; i < trace->stream_count; i++)
        if (leads[i].ticks != 0)
            reporter->report(reporter, &(struct report){.anomaly = ANOMALY_CLOCK,
                                                        .stream = &trace->streams[i],
                                                        .other = &trace->streams[leads[i].effect.rank],
                                                        .count = leads[i].ticks,
                                                        .begin = leads[i].cause.ticks,
                                                        .end = leads[i].effect.ticks,
                                                        .event_id = judge.types[leads[i].effect.kind]->id});
    free(leads);
    free(judge.ends);
}

void trace_judge(const struct trace *trace, uint64_t bytes, struct reporter *reporter)
{
    for (unsigned i = 0; i < trace->oddity_count; i++)
        reporter->report(
            reporter, &(struct report){.anomaly = trace->oddities[i].anomaly, .oddity = &trace->oddities[i]});
    judge_clocks(trace, bytes, reporter);
}
