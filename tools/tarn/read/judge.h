/*
 * judge.h - finds what is wrong with a trace as a whole: what trace_open noted, a pull that ended early, and
 * clocks that disagree, which show as violated causality. A call is made before it is received, and so on to
 * its return; a new thread is woken before it runs; a thread leaves one CPU before it runs on another.
 */
#pragma once

#include <tools/tarn/read/decode.h>

/* for callers that must not read it all: half from the start, half from the end */
#define JUDGE_BYTES (8ull << 20)

/* Reports to REPORTER. Reads at most BYTES to compare clocks. */
void trace_judge(const struct trace *trace, uint64_t bytes, struct reporter *reporter);

/* The same for a caller that walks all events anyway; streams may be walked in parallel. judge_close reports,
 * and frees JUDGE. */
struct judge_stream {
    const struct fixed_types *skipped; /* types without a sign that do not say which thread runs */
    uint64_t last, before;             /* ticks: of the last event, and of the one before */
    const uint8_t *signs; /* by event index: 0, or what the event says about causes and effects */
};
struct judge *judge_open(const struct trace *trace);
struct judge_stream *judge_stream(struct judge *judge, unsigned rank);
void judge_take_slow(struct judge_stream *stream, const struct cursor *cursor);
void judge_end(struct judge_stream *stream,
               const struct cursor *cursor); /* CURSOR is behind its last event */
/* When all streams have ended: whether, somewhere between BEGIN and END (ticks), events are missing or a
 * change decided which ones are logged. */
bool judge_changed(const struct judge *judge, uint64_t begin, uint64_t end);
void judge_close(struct judge *judge, struct reporter *reporter);

/* Takes CURSOR's current event, and those without a sign that follow in its packet; returns their number.
 * CURSOR has moved over them. */
static inline uint64_t judge_take(struct judge_stream *stream, struct cursor *cursor)
{
    uint64_t count;
    if (cursor->events == 1 || stream->signs[cursor->event.type->index] != 0)
        judge_take_slow(stream, cursor);
    stream->before = stream->last;
    count = 1 + cursor_skip(cursor, stream->skipped, &stream->before);
    stream->last = cursor->ticks;
    return count;
}

/* Whether the clock counts the instructions of several CPUs together, as that of a deterministic machine
 * does: it advances for a CPU that is busy while others execute, too. */
bool trace_shares_clock(const struct trace *trace);

/* Returns the earliest end of a stream (ticks). Up to it, every stream has reported its losses, even if the
 * pull ended early. */
uint64_t trace_known_end(const struct trace *trace);

/* check.c: verifies every packet and event of a trace, and keeps what is wrong or lost. */
struct findings {
    struct report *reports; /* stream by stream, then those of the whole trace */
    size_t count, size;
    uint64_t packets, events; /* that were read */
};

void trace_check(const struct trace *trace, struct findings *findings);
void findings_free(struct findings *findings);
