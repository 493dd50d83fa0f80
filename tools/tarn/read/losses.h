/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/read/losses.h - a reporter that tells people about damage and losses, and counts both.
 *
 * For all subcommands that go on after damage, and for what they end with then; `tarn check` has its own,
 * complete reporter.
 */
#ifndef TARN_LOSSES_H
#define TARN_LOSSES_H

#include <tools/tarn/read/decode.h>

struct losses {
    struct reporter reporter; /* first: handed to cursors */
    const struct trace *trace;
    bool as_babeltrace; /* word losses as babeltrace2 does */
    bool quiet;         /* count only */
    uint64_t from, to;  /* ticks: of losses, only those that reach into from <= t < to; all unless set */
    uint64_t damaged;   /* reports of damage */
    uint64_t lost_events, lost_packets, cut_packets;
    bool lost_unknown;  /* something was lost before the first packet of a stream */
    bool is_unfinished; /* nobody knows what was lost after the last ones */
    char lacks[800];    /* what the schema lacks of what was asked for, in words (model_lacks); "": nothing */
};

void losses_open(struct losses *losses, const struct trace *trace);
/* What is wrong with the trace as a whole (judge.h), told even if QUIET; by who reads a trace, once. */
void losses_judge(struct losses *losses);
void losses_add(struct losses *sum, const struct losses *part); /* what was counted */
void losses_summary(const struct losses *losses);               /* to stderr */
/* What a subcommand ends with that could answer: EXIT_FINE; EXIT_DAMAGE when something read was damaged, or
 * the schema lacks something. */
int losses_status(const struct losses *losses);
void format_report(const struct trace *trace, const struct report *report, char *text, size_t size);

#endif
