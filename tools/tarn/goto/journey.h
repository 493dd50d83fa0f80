/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/journey.h - runs a guest again up to an event.
 *
 * It makes checkpoints on its way (checkpoint.h), and starts at the last one before the event. If there is
 * none, it has to know where the rings will be (places.h): a later checkpoint has them at the same place.
 * Without any checkpoint the guest runs until its rings lie in memory, and if the event has
 * passed by then, once more from its start. From then on the host watches the word that says how far the
 * event's ring is filled (freezer.h), and stops the machine when the event's words are reserved, some
 * instructions before it is there. The rest of the way only its processor steps, instruction by instruction
 * and without time passing, until the event's header is stored and its words are counted. So what the other
 * processors do is not touched at all.
 */
#ifndef TARN_GOTO_JOURNEY_H
#define TARN_GOTO_JOURNEY_H

#include <tools/tarn/goto/aim.h>
#include <tools/tarn/goto/emulator.h>

enum journey_end {
    JOURNEY_THERE,  /* the machine stands where the event is committed */
    JOURNEY_MISSED, /* something else was committed in its place, or the run ended before: another run */
    JOURNEY_FAILED, /* fail says why */
};

struct journey {
    struct emulator *emulator;
    const struct recipe *recipe;
    struct checkpoints *checkpoints;
    const struct aim *aim;
    bool big_endian;
    double began, took; /* the emulator's processor time: up to the checkpoint, and from there */
    double worked;      /* its processor time when it was last seen to work */
    unsigned idle;      /* how often in a row it was not */
};

/* The recipe's emulator runs, stopped there, or its memory is left. */
enum journey_end journey(struct journey *journey, struct fail *fail);

#endif
