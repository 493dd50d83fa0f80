/* SPDX-License-Identifier: BSD-2-Clause */
/* told.h - what reading a trace reports: events, losses and damage. */
#ifndef TESTS_UNIT_TARN_TOLD_H
#define TESTS_UNIT_TARN_TOLD_H

#include <tests/unit/scratch.h>
#include <tools/tarn/read/decode.h>

struct told {
    struct reporter reporter;
    uint64_t kinds[ANOMALY_COUNT];           /* reports of each kind */
    uint64_t lost_events, unknown;           /* unknown: reports of an unknown number of lost events */
    uint64_t lost_packets, events, oddities; /* of the directory */
};

static inline void told_report(struct reporter *reporter, const struct report *report)
{
    struct told *told = (struct told *)reporter;

    told->kinds[report->anomaly]++;
    if (report->anomaly == ANOMALY_LOST_EVENTS && report->count == UINT64_MAX)
        told->unknown++;
    else if (report->anomaly == ANOMALY_LOST_EVENTS)
        told->lost_events += report->count;
    else if (report->anomaly == ANOMALY_LOST_PACKETS)
        told->lost_packets += report->count;
}

/* Reads all streams, one after another. */
static inline struct told read_trace(const char *directory)
{
    struct told told = {.reporter.report = told_report};
    struct trace trace;
    struct fail fail;

    if (!trace_open(&trace, directory, &fail))
        bail_out(fail.text);
    for (unsigned i = 0; i < trace.stream_count; i++) {
        struct cursor cursor;

        cursor_open(&cursor, &trace, &trace.streams[i], 0, &told.reporter);
        while (cursor_next(&cursor))
            told.events++;
        cursor_close(&cursor);
    }
    told.oddities = trace.oddity_count;
    trace_close(&trace);
    return told;
}

/* Reports that are of neither kind. */
static inline uint64_t told_others(const struct told *told, int one, int other)
{
    uint64_t count = 0;

    for (int kind = 0; kind < ANOMALY_COUNT; kind++)
        count += kind == one || kind == other ? 0 : told->kinds[kind];
    return count;
}

#endif
