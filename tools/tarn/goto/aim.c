/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/aim.c - finds an event of a trace by its number or by a time; see aim.h. */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/goto/aim.h>
#include <tools/tarn/options.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/read/losses.h>
#include <tools/tarn/read/order.h>

static bool is_number(const char *text)
{
    return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* The clock's frequency is measured, so this is not exact. */
static uint64_t guest_ns(const struct trace *trace, uint64_t ticks)
{
    return (uint64_t)(1e9 * (double)ticks / (double)trace->schema.clock_freq);
}

static void take_aim(struct aim *aim, const struct cursor *cursor, uint64_t number)
{
    const struct packet *packet = &cursor->packet;

    *aim = (struct aim){
        .stream = cursor->stream,
        .number = number,
        .tid = cursor_running(cursor)->tid,
        .ns = guest_ns(cursor->trace, cursor->ticks),
        .packet = packet->header.packet_seq_num,
        .buffer_bytes = packet->packet_bytes,
        .offset = (uint64_t)(cursor->event.bytes - packet->bytes),
    };
    memcpy(aim->header, cursor->event.bytes, sizeof(aim->header));
}

/* `tarn pull` writes such an event where it found an open packet, so the guest may not have logged it. */
static bool ends_packet(const struct cursor *cursor)
{
    return cursor->event.type->id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END);
}

/* All idle threads have number 0; each belongs to its CPU. */
static bool is_of_thread(const struct cursor *cursor, const struct aim *aim)
{
    return cursor_running(cursor)->tid == aim->tid && (aim->tid != 0 || cursor->stream == aim->stream);
}

struct wish {
    uint64_t from;               /* ticks */
    uint64_t begin, end;         /* numbers: from `begin` up to `end` */
    const struct aim *of_thread; /* NULL: of any */
    bool is_first;               /* of all such events; otherwise the last */
};

static bool find(struct aim *aim, const struct trace *trace, struct wish wish)
{
    struct cursor *cursor;
    struct losses losses;
    struct merge merge;
    bool found = false;

    losses_open(&losses, trace);
    losses.quiet = true;
    merge_open(&merge, trace, NULL, 0, &losses.reporter);
    for (uint64_t number = 0; number < wish.end && (cursor = merge_next(&merge)) != NULL; number++) {
        if (number < wish.begin || cursor->ticks < wish.from || ends_packet(cursor) ||
            (wish.of_thread != NULL && !is_of_thread(cursor, wish.of_thread)))
            continue;
        take_aim(aim, cursor, number);
        found = true;
        if (wish.is_first)
            break;
    }
    merge_close(&merge);
    return found;
}

bool aim_find(struct aim *aim, const struct trace *trace, const char *text, struct fail *fail)
{
    struct wish wish = {.end = UINT64_MAX, .is_first = true};

    if (is_number(text)) {
        if (!option_count(text, &wish.begin, fail))
            return false;
        wish.end = wish.begin + 1;
        return find(aim, trace, wish) ||
               fail_set(fail,
                        "the trace has no event %s, or it ends a packet; choose another one that `tarn list "
                        "--numbers` shows",
                        text);
    }
    if (!filter_time(trace, text, &wish.from, fail))
        return fail_set(
            fail,
            "'%s' is neither an event's number nor a time: use seconds, or @seconds on the trace's "
            "clock",
            text);
    return find(aim, trace, wish) || fail_set(fail, "no event of the trace is at %s or later", text);
}

bool aim_before(struct aim *aim, const struct trace *trace, struct fail *fail)
{
    const struct aim here = *aim;

    return find(aim, trace, (struct wish){.end = here.number, .of_thread = &here}) ||
           fail_set(fail, "the trace has no event of thread %u before event %llu", here.tid,
                    (unsigned long long)here.number);
}

bool aim_last(struct aim *aim, const struct trace *trace, struct fail *fail)
{
    return find(aim, trace, (struct wish){.end = UINT64_MAX}) || fail_set(fail, "the trace has no events");
}

/* By packets of all streams in turn: rings that have wrapped contain different times. */
void aim_parts(const struct trace *trace, uint64_t times[AIM_COPIES])
{
    struct packet_buffer buffer = {0};
    struct packet packet;

    for (unsigned i = 0; i < AIM_COPIES; i++) {
        const struct stream *stream = &trace->streams[i % trace->stream_count];
        uint64_t at = stream_resync(trace, stream, stream->size / AIM_COPIES * i);
        bool is_read =
            at < stream->size && !anomaly_is_fatal(stream_packet(trace, stream, at, &buffer, &packet));
        times[i] = is_read ? guest_ns(trace, packet.header.timestamp_begin) : 0;
    }
    free(buffer.bytes);
    qsort(times, AIM_COPIES, sizeof(times[0]), compare_numbers);
}
