/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/journey.h - runs a guest again up to an event.
 *
 *   1. It starts from the last checkpoint before the event (checkpoint.h), and makes more on the way. Without
 *      one, it must know where the rings will be (places.h): they have the same addresses in a later
 * checkpoint. Without any checkpoint, the guest runs until its rings are in memory, and, if the event has
 * passed by then, once more from its start.
 *   2. The host watches the index of the event's ring (freezer.h), and stops the machine when the event's
 * words are reserved, some instructions before the event is stored.
 *   3. Then only the event's CPU steps, instruction by instruction, while no time passes, until the event's
 *      header is stored and its words are counted. So other CPUs are not disturbed at all. If that CPU halts
 *      instead, the run is another one (step.h). A run whose rings differ from the trace already is not
 *      stepped at all: it could take hundreds of thousands of steps.
 */
#ifndef TARN_GOTO_JOURNEY_H
#define TARN_GOTO_JOURNEY_H

#include <tools/tarn/goto/aim.h>
#include <tools/tarn/goto/emulator.h>

enum journey_end {
    JOURNEY_THERE,  /* the machine is stopped where the event is committed */
    JOURNEY_MISSED, /* another event was committed instead, or the run ended earlier: it is another run */
    JOURNEY_FAILED, /* FAIL */
};

struct journey {
    struct emulator *emulator;
    const struct recipe *recipe;
    struct checkpoints *checkpoints;
    const struct aim *aim;
    const struct trace *trace;
    double began, took; /* the emulator's CPU time: up to the checkpoint, and from there */
    double worked;      /* its CPU time when it was last seen working */
    unsigned idle;      /* consecutive checks without work since */
};

/* Afterwards the recipe's emulator is stopped at the event, or at least its memory is readable. */
enum journey_end journey(struct journey *journey, struct fail *fail);

#endif
