/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/checkpoint.h - copies of the emulator at instants of a run, for later journeys to start
 * from.
 *
 * A checkpoint is a copy (clone.h) of an emulator that was on its way: a stopped process that outlives tarn.
 * A journey copies the last checkpoint before its event, and lets that copy run. The checkpoints of a recipe
 * belong to a directory in TMPDIR, which has the list of them (checkpoint_list.h). They end
 *
 *   - with the directory: when anything in it is deleted, the system kills them (checkpoint_process.h);
 *   - when no journey has used them for CHECKPOINT_MINUTES;
 *   - every second one, when there are too many or they take too much memory.
 *
 * If the host runs out of memory, it kills them before other processes.
 */
#ifndef TARN_GOTO_CHECKPOINT_H
#define TARN_GOTO_CHECKPOINT_H

#include <limits.h>
#include <tools/tarn/command/recipe.h>
#include <tools/tarn/goto/freezer.h>

#define CHECKPOINT_MINUTES 30u
#define CHECKPOINTS_MAX    64u
#define CHECKPOINT_CPUS    64u /* a guest with more has no checkpoints */

struct checkpoint {
    pid_t pid;
    uint64_t born;  /* when, since the host's boot: another process with this number has another */
    int timer;      /* that ends it */
    double seconds; /* processor time that the emulator took to get there */
    uint64_t base;  /* where it has the guest's memory */
    uint64_t bytes; /* of that */
    unsigned cpus;  /* with an entry in index */
    uint64_t index[CHECKPOINT_CPUS]; /* how far their rings are filled; trace_control */
};

struct checkpoints {
    char path[PATH_MAX]; /* of the directory */
    uint64_t recipe;     /* its hash */
    uint64_t bytes_most; /* of memory that they may take; 0: there are none */
    double spacing;      /* of seconds */
    double next_look;    /* when to look next at what they take; now_seconds() */
    struct checkpoint all[CHECKPOINTS_MAX];
    unsigned count;
};

/* Reads the list; processes that have ended are left out. False: it cannot be used, and what it had is ended;
 * FAIL says why. */
bool checkpoints_open(struct checkpoints *set, const struct recipe *recipe, uint64_t bytes_most,
                      struct fail *fail);
/* Does a ring's index say that more than WORDS words are reserved? */
bool checkpoint_passed(uint64_t index, uint64_t words);
/* The last one at which that is not so in the ring of CPU; NULL: none. */
const struct checkpoint *checkpoints_find(const struct checkpoints *set, unsigned cpu, uint64_t words);
/* Copies it; the copy is stopped. */
bool checkpoint_visit(const struct checkpoint *checkpoint, struct freezer *copy, struct fail *fail);
/* Is a checkpoint due where the emulator has taken SECONDS? */
bool checkpoints_are_due(const struct checkpoints *set, double seconds);
/* Makes one, if the emulator can be copied now. HERE: all but pid, born and timer. The emulator's threads are
 * stopped. If the system does not allow it, that is told, and this journey makes no more. */
void checkpoints_add(struct checkpoints *set, struct freezer *emulator, const struct checkpoint *here);
/* Ends all, and removes the directory. */
void checkpoints_forget(struct checkpoints *set);
/* What they take of the host's memory, shared parts counted once. */
uint64_t checkpoints_bytes(const struct checkpoints *set);

#endif
