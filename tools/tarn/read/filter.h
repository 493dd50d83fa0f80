/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter.h - selects events: the options that `list` and the analyses share.
 *
 * Process names come from the trace as it is read (statedump, exec, rename), so a process has its name from
 * that event on. Before, the running thread's name is compared.
 */
#ifndef TARN_FILTER_H
#define TARN_FILTER_H

#include <getopt.h>
#include <tools/tarn/read/decode.h>
#include <tools/tarn/read/names.h>

#define FILTER_RUNNING_HELP                                                                             \
    "  --from TIME         only from this time on: seconds since the start, or @SECONDS on the clock\n" \
    "  --to TIME           only before this time\n"                                                     \
    "  --cpu LIST          only these CPUs: 0,2,4-7\n"                                                  \
    "  --pid LIST          only while these processes run\n"                                            \
    "  --process PATTERN   only while a process or thread with this name runs\n"                        \
    "  --tid LIST          only while these threads run\n"
#define FILTER_HELP                                                           \
    FILTER_RUNNING_HELP                                                       \
    "  --class LIST        only events of these classes, by name or number\n" \
    "  --event PATTERNS    only events with these names: sched_*,irq_entry\n"

/* The option values as given. filter_resolve needs an open trace. */
struct filter {
    const char *from, *to, *cpus, *pids, *process, *tids, *classes, *events;
    /* set by filter_resolve */
    uint64_t from_ticks, to_ticks; /* from <= t < to */
    bool *streams;                 /* by rank; NULL: all */
    bool *types;                   /* by event index; NULL: all */
    bool by_running;               /* pid, tid or process is given */
};

enum {
    OPTION_FROM = 256,
    OPTION_TO,
    OPTION_CPU,
    OPTION_PID,
    OPTION_PROCESS,
    OPTION_TID,
    OPTION_CLASS,
    OPTION_EVENT,
    OPTION_OWN
};
#define FILTER_OPTIONS                                                                                      \
    {"from", required_argument, NULL, OPTION_FROM}, {"to", required_argument, NULL, OPTION_TO},             \
        {"cpu", required_argument, NULL, OPTION_CPU}, {"pid", required_argument, NULL, OPTION_PID},         \
        {"process", required_argument, NULL, OPTION_PROCESS}, {"tid", required_argument, NULL, OPTION_TID}, \
        {"class", required_argument, NULL, OPTION_CLASS},                                                   \
    {                                                                                                       \
        "event", required_argument, NULL, OPTION_EVENT                                                      \
    }

/* Parses a time as --from takes it. */
bool filter_time(const struct trace *trace, const char *text, uint64_t *ticks, struct fail *fail);
bool filter_option(struct filter *filter, int option, const char *value); /* false: not a filter option */
bool filter_resolve(struct filter *filter, const struct trace *trace, struct fail *fail);
void filter_free(struct filter *filter);
bool filter_running(const struct filter *filter, const struct running *running, const struct names *names);

static inline bool filter_wants(const struct filter *filter, const struct cursor *cursor,
                                const struct names *names)
{
    if (filter->types != NULL && !filter->types[cursor->event.type->index])
        return false;
    return !filter->by_running || filter_running(filter, cursor_running(cursor), names);
}

/* Whether LIST, such as 1,3-5, contains NUMBER. A malformed list contains nothing. */
bool list_has(const char *list, uint64_t number);
bool list_is_valid(const char *list);
/* Whether one of the comma-separated patterns matches the whole name. */
bool list_matches(const char *patterns, const char *name);

#endif
