/*
 * trigger.h - decides when a pull saves a part of the trace: around an event, or a latency beyond a bound.
 *
 * A trigger is a text, in the languages of the other subcommands:
 *
 *     user_mark                          names of events: `tarn list --event`
 *     sched_process_exit process=market  and any other option of `tarn list` that selects events
 *     syscall > 5ms                      an interval of `tarn intervals`, by its preset, that took longer
 *     begin=a end=b match=id > 1s        or by its options
 *
 * A latency triggers when the interval ends. Where events were lost, intervals in progress are forgotten,
 * because their ends may be among them. Triggers outlive a schema: programs register events while the guest
 * runs.
 */
#pragma once

#include <tools/tarn/map.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/relation/pairs.h>

#define TRIGGERS_MAX 32u

struct trigger {
    const char *text; /* as given */
    char *words;      /* a copy, into which `filter` and `parts` point */
    struct filter filter;
    const char *parts[PAIR_PARTS]; /* of an interval */
    bool is_latency;
    double seconds; /* the bound */
    /* for the current schema: */
    bool is_resolved;
    struct pair pair;
    uint64_t ticks;  /* the bound */
    struct map open; /* of uint64_t: when the interval began; keys do not depend on the schema */
};

struct triggers {
    struct trigger items[TRIGGERS_MAX];
    unsigned count;
    /* by event index: a bit for each trigger that needs the event */
    uint32_t *wanted;
};

bool triggers_add(struct triggers *triggers, const char *text, struct fail *fail);
/* For another schema of the same guest. Triggers whose events it does not declare wait for them; MISSING gets
 * their number, and FAIL the reason of the last one. */
void triggers_resolve(struct triggers *triggers, const struct schema *schema, unsigned *missing,
                      struct fail *fail);
void triggers_close(struct triggers *triggers);

/* Forgets the intervals in progress. */
void triggers_forget(struct triggers *triggers);
/* Returns whether TRIGGER fires at CURSOR's event, which it wants. BEGIN: when what triggers began (ticks).
 */
bool trigger_fires(struct trigger *trigger, const struct cursor *cursor, const struct names *names,
                   uint64_t *begin);
