/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/delays.h - who delays whom: which threads ran on a processor while another was ready
 * there.
 *
 * Part of answers: they pass on what their observer is told. It remembers the last stretches that threads ran
 * on each processor, and in which processor's queue each thread is. When a thread stops being ready, or moves
 * to another queue, the time that it was ready goes to those who ran there meanwhile.
 */
#ifndef TARN_DELAYS_H
#define TARN_DELAYS_H

#include <tools/tarn/answer/answer.h>
#include <tools/tarn/answer/map.h>

struct delays {
    /* THREAD was ready on processor CPU (a rank) while BY ran there; BY NULL: not known any more. BY may be
     * an idle thread: the processor slept, or was just being woken. Called for a stretch of BY at a time. */
    void (*delayed)(struct delays *delays, const struct model_thread *thread, const struct model_thread *by,
                    uint32_t cpu, uint64_t from, uint64_t to);
    void *owner;
    const struct model *model;
    struct run_ring *rings; /* by rank */
    struct slots places;    /* struct place by thread number */
    /* events that tell in which queue a thread is, and what they say */
    struct queue_event {
        const struct event_type *type;
        const struct field *tid, *cpu;
    } events[3];
};

void delays_open(struct delays *delays, const struct answer *answer);
void delays_close(struct delays *delays);
/* From the functions of the observer of the same names. */
void delays_segment(struct delays *delays, const struct model_thread *thread, uint64_t from, uint64_t to);
void delays_take(struct delays *delays, const struct cursor *cursor, unsigned which);
static inline void delays_event(struct delays *delays, const struct cursor *cursor)
{
    for (unsigned i = 0; i < 3; i++)
        if (__builtin_expect(cursor->event.type == delays->events[i].type, 0))
            delays_take(delays, cursor, i);
}

#endif
