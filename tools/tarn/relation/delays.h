/*
 * delays.h - who delays whom: which threads ran on a CPU while another was ready there.
 *
 * A helper of analyses, which forward their observer's calls. It remembers the last runs on each CPU, and in
 * which CPU's queue each thread is. When a thread stops being ready, or moves to another queue, its ready
 * time is attributed to the threads that ran there meanwhile.
 */
#pragma once

#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/map.h>

struct delays {
    /* THREAD was ready on CPU (a rank) while BY ran there. BY is NULL if it is unknown; an idle thread if
     * the CPU slept or was just waking up. Called once for each run of BY, in order of time. */
    void (*delayed)(struct delays *delays, const struct model_thread *thread, const struct model_thread *by,
                    uint32_t cpu, uint64_t from, uint64_t to);
    const struct model *model;
    struct run_ring *rings; /* by rank */
    struct slots places;    /* struct place, by thread number */
    /* the events that name a thread's queue, and their fields */
    struct queue_event {
        const struct event_type *type;
        const struct field *fields[2]; /* the thread, the CPU */
    } events[3];
};

void delays_open(struct delays *delays, struct analysis *analysis);
/* Call these from the observer's functions of the same names. */
void delays_segment(struct delays *delays, const struct model_thread *thread, uint64_t from, uint64_t to);
void delays_event(struct delays *delays, const struct cursor *cursor);
