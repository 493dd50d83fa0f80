/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/usage.h - an analysis: what made events and used processors, and how much.
 *
 * usage_count walks the chosen events once and counts per event type, thread and processor; usage_tables adds
 * that up to one table for each of enum usage_table. Rates and shares are over the time that was looked at.
 */
#ifndef TARN_USAGE_H
#define TARN_USAGE_H

#include <tools/tarn/model/model.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/table.h>

/* In the order in which they are shown. */
enum usage_table { BY_CPU, BY_CLASS, BY_EVENT, BY_PROGRAM, BY_PROCESS, BY_THREAD, USAGE_TABLES };

struct usage_count {
    uint64_t events, bytes;
};

struct usage {
    const struct trace *trace;
    const struct filter *filter;
    struct model model;
    struct usage_count total;
    struct usage_count *types, *cpus; /* by event index, by the stream's rank */
    struct usage_count *threads;      /* by number in the model */
    uint32_t threads_size;
    double seconds; /* looked at */
    struct table tables[USAGE_TABLES];
};

void usage_open(struct usage *usage, const struct trace *trace, const struct filter *filter);
void usage_count(struct usage *usage, struct reporter *reporter);
void usage_tables(struct usage *usage); /* in the order that fits each */
void usage_close(struct usage *usage);

#endif
