/*
 * filter.h - selects events: the options that `list` and the analyses share.
 *
 * Process names come from the trace as it is read (statedump, exec, rename), so a process has its name from
 * that event on. Before, the running thread's name is compared.
 */
#pragma once

#include <tools/tarn/options.h>
#include <tools/tarn/read/decode.h>
#include <tools/tarn/read/names.h>

/* The option values as given. filter_resolve needs an open trace. */
struct filter {
    const char *from, *to, *cpus, *pids, *process, *tids, *classes, *events;
    bool without_drain; /* leave out what the drain causes: model_leave_out_drain */
    bool subtract_cost; /* what logging costs: model_subtract_costs; an option of the analyses */
    /* set by filter_resolve */
    uint64_t from_ticks, to_ticks; /* from <= t < to */
    bool *streams;                 /* by rank; NULL: all */
    bool *types;                   /* by event index; NULL: all */
    bool by_running;               /* pid, tid or process is given */
};

/* The options that set them; and those that select by the running thread, without --class and --event. */
#define FILTER_OPTIONS 9u
extern const struct command_option filter_options[FILTER_OPTIONS + 1];
#define filter_running_options (filter_options + 2)

/* Parses a time as --from takes it. */
bool filter_time(const struct trace *trace, const char *text, uint64_t *ticks, struct fail *fail);
bool filter_check_lists(const struct filter *filter, struct fail *fail);
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

/* Parses the next element of a list such as 1,3-5, LOW or LOW-HIGH. Returns the rest; NULL: malformed. */
const char *list_next(const char *list, uint64_t *low, uint64_t *high);
/* Whether LIST contains NUMBER. A malformed list contains nothing. */
bool list_has(const char *list, uint64_t number);
bool list_is_valid(const char *list);
/* Whether one of the comma-separated patterns matches the whole name. */
bool list_matches(const char *patterns, const char *name);
