/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/checkpoint.h - machines that stand at instants of a run, for later journeys to start from.
 *
 * Each is a twin (twin.h) of an emulator that was on its way: a stopped process, which belongs to nobody and
 * outlives tarn. A journey makes a twin of the last one before its event, and lets that run. The machines of
 * a recipe are listed in a file of TMPDIR, which is locked while it is changed. The list is told and not used
 * if it is damaged, or of another recipe. A machine ends by itself when no journey has used it for
 * CHECKPOINT_MINUTES; if there are too many, or they take too much memory, every second one goes.
 */
#ifndef TARN_GOTO_CHECKPOINT_H
#define TARN_GOTO_CHECKPOINT_H

#include <limits.h>
#include <tools/tarn/command/recipe.h>
#include <tools/tarn/goto/freezer.h>

#define CHECKPOINT_MINUTES    30u
#define CHECKPOINTS_MOST      64u
#define CHECKPOINT_PROCESSORS 64u /* a guest with more has no checkpoints */

struct checkpoint {
    pid_t pid;
    uint64_t born;  /* when, since the host's boot: another process with this number has another */
    int timer;      /* that ends it */
    double seconds; /* processor time that the emulator took to get there */
    uint64_t base;  /* where it has the guest's memory */
    uint64_t bytes; /* of that */
    unsigned cpus;  /* with an entry in index */
    uint64_t index[CHECKPOINT_PROCESSORS]; /* how far their rings are filled; trace_control */
};

struct checkpoints {
    char path[PATH_MAX]; /* of the list */
    uint64_t recipe;     /* its hash */
    uint64_t bytes_most; /* of memory that they may take; 0: there are none */
    double spacing;      /* of seconds */
    struct checkpoint all[CHECKPOINTS_MOST];
    unsigned count;
};

/* Reads the list; of machines that have ended nothing is kept. False: it is not used, fail says why. */
bool checkpoints_open(struct checkpoints *set, const struct recipe *recipe, uint64_t bytes_most,
                      struct fail *fail);
/* Does a ring's index say that more than WORDS words are reserved? */
bool checkpoint_passed(uint64_t index, uint64_t words);
/* The last one at which that is not so in processor CPU's ring; NULL: none. */
const struct checkpoint *checkpoints_find(const struct checkpoints *set, unsigned cpu, uint64_t words);
/* A twin of it, stopped. */
bool checkpoint_visit(const struct checkpoint *checkpoint, struct freezer *twin, struct fail *fail);
/* Is a machine to be left where the emulator has taken SECONDS? */
bool checkpoints_are_due(const struct checkpoints *set, double seconds);
/* Leaves one, if it can be now. HERE: all but pid, born and timer. The emulator's threads are stopped. */
void checkpoints_add(struct checkpoints *set, struct freezer *emulator, const struct checkpoint *here);
/* Ends all, and removes the list. */
void checkpoints_forget(struct checkpoints *set);
/* What they take of the host's memory, shared parts counted once. */
uint64_t checkpoints_bytes(const struct checkpoints *set);

#endif
