/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/journey.h - runs a guest again up to an event.
 *
 * The guest runs twice. The first time only until its rings lie in memory: a deterministic run has them at
 * the same place again. That is left out if a journey before this one has shown it. The second time the host
 * watches the word that says how far the event's ring is filled (freezer.h), and stops the machine when the
 * event's words are reserved, some instructions before it is there. The rest of the way only its processor
 * steps, instruction by instruction and without time passing, until the event's header is stored and its
 * words are counted. So what the other processors do is not touched at all.
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

/* The recipe's emulator runs, stopped there, or its memory is left. */
enum journey_end journey(struct emulator *emulator, const struct recipe *recipe, const struct aim *aim,
                         bool big_endian, struct fail *fail);

#endif
