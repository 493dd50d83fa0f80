/* losses.h - a reporter that prints and counts damage and losses, and determines the exit status. */
#pragma once

#include <stdio.h>
#include <tools/tarn/read/decode.h>

struct filter;

/* The events in packets that are missing. */
struct missing {
    uint64_t events;
    bool is_least; /* of some packets it is unknown how many they held */
};

/* Adds those of REPORT, of ANOMALY_LOST_PACKETS. */
void missing_add(struct missing *missing, const struct report *report);

struct losses {
    struct reporter reporter; /* first: passed to cursors */
    const struct trace *trace;
    bool as_babeltrace; /* word losses as babeltrace2 does */
    bool quiet;         /* count, print nothing */
    uint64_t from, to;  /* ticks: count only losses that overlap [from, to); unset: all */
    uint64_t damaged;   /* number of reports */
    uint64_t lost_events, lost_packets, cut_packets;
    struct missing missing; /* in the lost packets */
    bool lost_unknown;      /* something was lost before the first packet of a stream */
    bool is_unfinished;     /* the pull ended early: later losses are unknown */
    /* what the schema lacks for this analysis, in words (model_lacks); "": nothing */
    char lacks[800];
};

void losses_open(struct losses *losses, const struct trace *trace);
/* For tables of the time that FILTER selects: counts quietly, and judges the trace. */
void losses_begin(struct losses *losses, const struct trace *trace, const struct filter *filter);
/* Reports what is wrong with the trace as a whole (judge.h), even if QUIET. Call it once per trace. */
void losses_judge(struct losses *losses);
/* One of the numbers of a trace's losses, for JSON, CSV and other formats. */
struct loss_fact {
    const char *name;
    uint64_t value;
    bool is_bool;
};
#define LOSS_FACTS 8u
/* Whether any is not 0. */
bool losses_facts(const struct losses *losses, struct loss_fact facts[LOSS_FACTS]);
void losses_print_json(FILE *to, const struct losses *losses); /* members of an object */
/* A table NAME in CSV after others; nothing if the trace is whole. */
void losses_print_csv(FILE *to, const struct losses *losses, const char *name);
void losses_add(struct losses *sum, const struct losses *part);
void losses_summary(const struct losses *losses); /* to stderr */
/* For answers that say how long something took: complains of a clock that several CPUs share. */
void losses_durations(const struct losses *losses);
/* Returns the exit status of a subcommand that produced output: EXIT_DAMAGE if it read damage or the schema
 * lacks something, else EXIT_OK. */
int losses_status(const struct losses *losses);
void format_report(const struct trace *trace, const struct report *report, char *text, size_t size);
