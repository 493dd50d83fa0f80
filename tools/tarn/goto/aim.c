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
        .packet_at = packet->offset,
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

bool aim_find(struct aim *aim, const struct trace *trace, const char *text, struct fail *fail)
{
    bool by_number = is_number(text), found = false;
    uint64_t wanted = 0, from = 0, number, next = 0;
    struct cursor *cursor;
    struct losses losses;
    struct merge merge;

    if (by_number ? !option_count(text, &wanted, fail) : !filter_time(trace, text, &from, fail))
        return by_number || fail_set(fail, "'%s' is neither an event's number nor a time: %s", text,
                                     "use seconds, or @seconds on the trace's clock");
    fail_set(fail,
             by_number ? "the trace has no event %s; `tarn list --numbers` shows them"
                       : "no event of the trace is at %s or later",
             text);
    losses_open(&losses, trace);
    losses.quiet = true;
    merge_open(&merge, trace, NULL, 0, &losses.reporter);
    while (!found && (cursor = merge_next(&merge)) != NULL) {
        number = next++;
        if (by_number ? number != wanted : cursor->ticks < from || ends_packet(cursor))
            continue;
        take_aim(aim, cursor, number);
        found = true;
        if (ends_packet(cursor)) {
            fail_set(fail, "event %s ends a packet: choose the one before or after it", text);
            break;
        }
    }
    found = found && !ends_packet(cursor);
    merge_close(&merge);
    return found;
}

/* All idle threads have number 0; each belongs to its CPU. */
static bool is_of_thread(const struct cursor *cursor, const struct aim *aim)
{
    return cursor_running(cursor)->tid == aim->tid && (aim->tid != 0 || cursor->stream == aim->stream);
}

/* Aims at the last event before number END, of the thread of another aim if it is not NULL. False: there is
 * none. */
static bool aim_latest(struct aim *aim, const struct trace *trace, uint64_t end, const struct aim *of_thread)
{
    struct cursor *cursor;
    struct losses losses;
    struct merge merge;
    bool found = false;

    losses_open(&losses, trace);
    losses.quiet = true;
    merge_open(&merge, trace, NULL, 0, &losses.reporter);
    for (uint64_t number = 0; number < end && (cursor = merge_next(&merge)) != NULL; number++)
        if (!ends_packet(cursor) && (of_thread == NULL || is_of_thread(cursor, of_thread))) {
            take_aim(aim, cursor, number);
            found = true;
        }
    merge_close(&merge);
    return found;
}

bool aim_before(struct aim *aim, const struct trace *trace, struct fail *fail)
{
    const struct aim here = *aim;

    return aim_latest(aim, trace, here.number, &here) ||
           fail_set(fail, "the trace has no event of thread %u before event %llu", here.tid,
                    (unsigned long long)here.number);
}

bool aim_last(struct aim *aim, const struct trace *trace, struct fail *fail)
{
    return aim_latest(aim, trace, UINT64_MAX, NULL) || fail_set(fail, "the trace has no events");
}

static int compare_times(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

    return (one > other) - (one < other);
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
    qsort(times, AIM_COPIES, sizeof(times[0]), compare_times);
}
