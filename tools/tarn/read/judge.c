/* judge.c - defects of a trace as a whole; see judge.h. */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/read/judge.h>

/* The maximum of signs in memory, of all streams together. Beyond it, calls and threads are sampled by a hash
 * of their id, so that either all or none of the signs of one are kept. */
#define SIGNS_MAX 16384u
#define SIGNS_MIN 64u /* of a stream */

/* Signs of a call, and of a thread up to its first run, in the order in which they must happen. */
enum sign_kind {
    SIGN_NONE,
    SIGN_CALL,
    SIGN_RECEIVE,
    SIGN_REPLY,
    SIGN_RETURN,
    SIGN_BIRTH,
    SIGN_WAKE,
    SIGN_RUN,
    SIGN_KINDS,
    SIGN_CHANGE = SIGN_KINDS /* other events are logged from now on */
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

/* Other events may be logged after it, or events are missing. */
struct change {
    uint64_t from, to; /* ticks */
};

struct judged {
    struct judge_stream stream; /* first */
    const struct judge *judge;
    struct sign *signs;
    size_t count, capacity;
    uint64_t mask;   /* only ids whose hash has none of these bits are kept */
    struct sign run; /* id 0: unknown, or idle */
    struct change *changes;
    size_t change_count, change_capacity;
};

struct judge {
    const struct trace *trace;
    const struct field *ids[SIGN_KINDS];
    uint8_t *kinds; /* enum sign_kind by event index */
    struct fixed_types skipped;
    const struct field *previous; /* of a switch: the thread that leaves */
    struct judged *streams;       /* by rank */
    size_t signs_max;             /* of a stream */
    uint64_t end;                 /* ticks: the first end of a stream */
    struct lead *leads;           /* by the rank of the clock that is ahead */
    struct lead *overlaps;        /* runs that overlap one on another CPU: either clock may be ahead */
};

/* ---- signs ----------------------------------------------------------------------------------------- */

static uint64_t hash_of(uint64_t id)
{
    return id * 0x9e3779b97f4a7c15ull >> 32;
}

static void keep_fewer(struct judged *judged, uint64_t mask)
{
    size_t kept = 0;
    judged->mask = mask;
    for (size_t i = 0; i < judged->count; i++)
        if ((hash_of(judged->signs[i].id) & mask) == 0)
            judged->signs[kept++] = judged->signs[i];
    judged->count = kept;
}

/* An id of 0 is that of a message without a reply. */
static bool keeps(const struct judged *judged, uint64_t id)
{
    return id != 0 && (hash_of(id) & judged->mask) == 0;
}

static void add_sign(struct judged *judged, const struct sign *sign)
{
    while (judged->count >= judged->judge->signs_max && judged->mask != UINT32_MAX)
        keep_fewer(judged, 2 * judged->mask + 1);
    if (judged->count >= judged->judge->signs_max || !keeps(judged, sign->id))
        return;
    judged->signs = array_grow(judged->signs, judged->count, &judged->capacity, sizeof(judged->signs[0]));
    judged->signs[judged->count++] = *sign;
}

/* Ends the current run: at this switch, or at an unknown time. */
static void end_run(struct judged *judged, const struct cursor *cursor)
{
    if (!keeps(judged, judged->run.id))
        return;
    if (cursor != NULL && field_integer(judged->judge->previous, cursor->event.bytes) == judged->run.id)
        judged->run.until = cursor->ticks;
    add_sign(judged, &judged->run);
    judged->run.id = 0;
}

static void take_sign(struct judged *judged, const struct cursor *cursor, enum sign_kind kind)
{
    const uint64_t id = field_integer(judged->judge->ids[kind], cursor->event.bytes);
    const struct sign sign = {id, cursor->ticks, cursor->ticks, cursor->rank, kind};
    if (kind == SIGN_RUN) {
        end_run(judged, cursor);
        judged->run = sign;
    } else if (keeps(judged, id)) {
        add_sign(judged, &sign);
    }
}

static void add_change(struct judged *judged, uint64_t from, uint64_t to)
{
    judged->changes = array_grow(judged->changes, judged->change_count, &judged->change_capacity,
                                 sizeof(judged->changes[0]));
    judged->changes[judged->change_count++] = (struct change){from, to};
}

/* Before a gap, nothing is lost up to the last event but one: in traces of older systems, the last packet of
 * a full ring ends with the gap. */
void judge_take_slow(struct judge_stream *stream, const struct cursor *cursor)
{
    struct judged *judged = (struct judged *)stream;
    const enum sign_kind kind = stream->signs[cursor->event.type->index];
    if (cursor->events == 1 && cursor->has_gap) {
        end_run(judged, NULL);
        add_change(judged, stream->before, cursor->ticks);
    }
    if (kind == SIGN_CHANGE)
        add_change(judged, cursor->ticks, cursor->ticks);
    else if (kind != SIGN_NONE)
        take_sign(judged, cursor, kind);
}

void judge_end(struct judge_stream *stream, const struct cursor *cursor)
{
    struct judged *judged = (struct judged *)stream;
    end_run(judged, NULL);
    if (cursor->has_gap || cursor->is_broken || judged->judge->trace->ends_early)
        add_change(judged, stream->before, UINT64_MAX);
}

struct judge_stream *judge_stream(struct judge *judge, unsigned rank)
{
    return &judge->streams[rank].stream;
}

/* Reads the packets with FROM <= offset < TO. */
static void take_packets(struct judge *judge, const struct stream *stream, uint64_t from, uint64_t to)
{
    struct judge_stream *judged = judge_stream(judge, stream->rank);
    struct cursor cursor;
    cursor_open(&cursor, judge->trace, stream, 0, NULL);
    cursor.next_packet = from;
    while (cursor_next(&cursor) && cursor.packet.offset < to)
        judge_take(judged, &cursor);
    judge_end(judged, &cursor);
    cursor_close(&cursor);
}

static void take_stream(struct judge *judge, const struct stream *stream, uint64_t bytes)
{
    uint64_t packet = stream->first_packet_bytes != 0 ? stream->first_packet_bytes : 1;
    uint64_t half = bytes / 2 < packet ? packet : bytes / 2;
    bool is_small = stream->size <= 2 * half;
    take_packets(judge, stream, 0, is_small ? stream->size : half);
    if (!is_small)
        take_packets(judge, stream, (stream->size - half) / packet * packet, stream->size);
}

static void find_types(struct judge *judge)
{
    const struct schema *schema = &judge->trace->schema;
    judge->kinds = alloc_zero(schema->event_count + 1, sizeof(judge->kinds[0]));
    for (uint32_t i = 0; i < schema->event_count; i++)
        if (schema->events[i]->role == EVENT_CHANGE)
            judge->kinds[i] = SIGN_CHANGE;
    for (uint32_t kind = SIGN_NONE + 1; kind < SIGN_KINDS; kind++) {
        const struct event_type *type = schema_find_event(schema, sign_events[kind][0]);
        judge->ids[kind] = schema_find_field(type, sign_events[kind][1]);
        if (kind == SIGN_RUN)
            judge->previous = schema_find_field(type, "prev_tid");
        if (judge->ids[kind] != NULL && judge->ids[kind]->kind == FIELD_INTEGER &&
            (kind != SIGN_RUN || (judge->previous != NULL && judge->previous->kind == FIELD_INTEGER)))
            judge->kinds[type->index] = (uint8_t)kind;
    }
    fixed_types_open(&judge->skipped);
    for (uint32_t i = 0; i < schema->event_count; i++)
        if (judge->kinds[i] == SIGN_NONE && schema->events[i]->role == EVENT_PLAIN)
            fixed_types_add(&judge->skipped, schema->events[i]);
}

bool judge_changed(const struct judge *judge, uint64_t begin, uint64_t end)
{
    for (unsigned i = 0; i < judge->trace->stream_count; i++)
        for (size_t k = 0; k < judge->streams[i].change_count; k++)
            if (judge->streams[i].changes[k].from <= end && judge->streams[i].changes[k].to >= begin)
                return true;
    return false;
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

/* A new thread is woken before it runs. If several CPUs woke it, their clocks do not show which was first.
 * The first wake-up may not have been logged if other events were switched on in between. */
static void compare_wakes(struct judge *judge, const struct sign *birth, const struct sign *wakes,
                          size_t count)
{
    const struct sign *run = &wakes[count];
    for (size_t i = 1; i < count; i++)
        if (wakes[i].rank != wakes[0].rank)
            return;
    if (run->ticks <= judge->end && !judge_changed(judge, birth->ticks, run->ticks))
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

/* Gathers the signs of calls and threads that all streams kept. */
static struct sign *gather_signs(struct judge *judge, size_t *count)
{
    const unsigned streams = judge->trace->stream_count;
    struct sign *signs;
    uint64_t mask = 0;
    size_t most = 0;
    for (unsigned i = 0; i < streams; i++)
        mask |= judge->streams[i].mask;
    for (unsigned i = 0; i < streams; i++) {
        keep_fewer(&judge->streams[i], mask);
        most += judge->streams[i].count;
    }
    signs = alloc_zero(most + 1, sizeof(signs[0]));
    *count = 0;
    for (unsigned i = 0; i < streams; i++)
        for (size_t k = 0; k < judge->streams[i].count; k++)
            signs[(*count)++] = judge->streams[i].signs[k];
    qsort(signs, *count, sizeof(signs[0]), by_course);
    return signs;
}

static void compare_signs(struct judge *judge)
{
    size_t count, next = 0;
    struct sign *all = gather_signs(judge, &count);
    for (size_t i = 0; i < count; i = next) {
        const struct sign *signs = &all[i];
        while (next < count && all[next].id == signs->id && is_of_thread(&all[next]) == is_of_thread(signs))
            next++;
        (is_of_thread(signs) ? compare_thread : compare_ends)(judge, signs, next - i);
    }
    free(all);
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

static void judge_clocks(struct judge *judge, struct reporter *reporter)
{
    const unsigned count = judge->trace->stream_count;
    if (count < 2)
        return;
    judge->end = UINT64_MAX;
    for (unsigned i = 0; i < count; i++)
        judge->end = sooner(judge->end, judge->streams[i].stream.last);
    judge->leads = alloc_zero(count, sizeof(judge->leads[0]));
    judge->overlaps = alloc_zero(count, sizeof(judge->overlaps[0]));
    compare_signs(judge);
    if (!report_leads(judge, judge->leads, reporter))
        report_leads(judge, judge->overlaps, reporter);
    free(judge->leads);
    free(judge->overlaps);
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

struct judge *judge_open(const struct trace *trace)
{
    struct judge *judge = alloc_zero(1, sizeof(*judge));
    size_t share = SIGNS_MAX / (trace->stream_count + 1);
    judge->trace = trace;
    judge->streams = alloc_zero(trace->stream_count + 1ul, sizeof(judge->streams[0]));
    judge->signs_max = share < SIGNS_MIN ? SIGNS_MIN : share;
    find_types(judge);
    for (unsigned i = 0; i < trace->stream_count; i++)
        judge->streams[i] =
            (struct judged){.stream = {.skipped = &judge->skipped, .signs = judge->kinds}, .judge = judge};
    return judge;
}

void judge_close(struct judge *judge, struct reporter *reporter)
{
    const struct trace *trace = judge->trace;
    if (trace_is_unfinished(trace))
        reporter->report(reporter, &(struct report){.anomaly = ANOMALY_UNFINISHED,
                                                    .begin = trace_known_end(trace),
                                                    .end = UINT64_MAX,
                                                    .count = UINT64_MAX});
    for (size_t i = 0; i < trace->report_count; i++)
        reporter->report(reporter, &trace->reports[i]);
    judge_clocks(judge, reporter);
    for (unsigned i = 0; i < trace->stream_count; i++) {
        free(judge->streams[i].signs);
        free(judge->streams[i].changes);
    }
    free(judge->streams);
    free(judge->kinds);
    free(judge);
}

void trace_judge(const struct trace *trace, uint64_t bytes, struct reporter *reporter)
{
    struct judge *judge = judge_open(trace);
    for (unsigned i = 0; trace->stream_count >= 2 && i < trace->stream_count; i++)
        take_stream(judge, &trace->streams[i], bytes / trace->stream_count);
    judge_close(judge, reporter);
}
