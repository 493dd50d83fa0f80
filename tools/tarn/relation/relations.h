/* SPDX-License-Identifier: BSD-2-Clause */
/* relations.h - gives the rows of relations (relation.h) to sinks, during a walk that the caller makes. */
#ifndef TARN_RELATIONS_H
#define TARN_RELATIONS_H

#include <tools/tarn/relation/functions.h>
#include <tools/tarn/relation/relation.h>

struct relation_sink {
    const struct relation *relation;
    void (*take)(struct relation_sink *self, const struct relation_row *row);
    struct relation_sink *next;                  /* of the same source */
    const char *parameters[RELATION_PARAMETERS]; /* NULL: not given */
    bool is_without_idle; /* it ignores rows of idle threads, which may then be wrong */
};

struct relations {
    struct model_observer observer;
    struct analysis *analysis;
    struct relation_sink *sinks[SOURCE_STREAMS]; /* of all events, then by source */
    struct relation_sink **of_type;              /* by event index */
    struct thread_states states;
    /* for what a thread waits for, when an idle one is awake, and whether an interrupt woke a thread */
    bool needs_activities;
    struct functions functions;                    /* names of calls */
    const struct field *details[ACTIVITIES];       /* whose labels name activities */
    const struct event_type *ipi_send, *ipi_entry; /* NULL: the trace lacks them */
    const struct field *ipi_send_fields[2], *ipi_entry_fields[1];
    uint32_t statedump_class; /* UINT32_MAX: the trace lacks it */
    struct map ipis;          /* of struct pending_ipi by target and kind: sent and not yet taken */
    struct making *makings;   /* those that are wanted */
    struct fail fail;
    char *list_text;
    char text[1024];             /* of the value that was asked for last */
    const struct losses *losses; /* for SOURCE_TRACE; NULL: unknown */
    struct report *reports;      /* for SOURCE_ANOMALY, once one is asked for; in the order of time */
    size_t report_count;
};

/* ANALYSIS is open. Add sinks, then observe its model; after the walk, finish. The memory is the analysis's.
 */
void relations_open(struct relations *relations, struct analysis *analysis);
/* SINK's relation is of a source before SOURCE_STREAMS. */
void relations_add(struct relations *relations, struct relation_sink *sink);
bool relations_observe(struct relations *relations); /* false: `fail` says which parameters are wrong */
/* Gives the rows that have not ended, with a valid model. */
void relations_finish(struct relations *relations);
/* Fills row number NUMBER of a relation of a later source, from the finished model; false: there are no more.
 * *IS_ONE: it exists, and the filter selects it. */
bool relations_final(struct relations *relations, enum relation_source source, uint64_t number,
                     struct relation_row *row, bool *is_one);

#endif
