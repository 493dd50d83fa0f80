/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/checkpoint.h - copies of the emulator during a run, from which later journeys start.
 *
 * A checkpoint is a copy (clone.h) of a running emulator: a stopped process that outlives tarn. A journey
 * copies the last checkpoint before its event, and runs that copy. The checkpoints of a recipe belong to a
 * directory in TMPDIR, which contains their list (checkpoint_list.h). They end in these cases:
 *
 *   - A file of the directory is deleted: the system kills them all (checkpoint_process.h).
 *   - No journey has used one for CHECKPOINT_MINUTES.
 *   - There are too many, or they use too much memory: every second one ends.
 *   - The host runs out of memory: it kills them before other processes.
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
    uint64_t born;  /* its start, since the host's boot; distinguishes processes with the same pid */
    int timer;      /* that ends it */
    double seconds; /* CPU time that the emulator had used by then */
    uint64_t base;  /* address of the guest's memory in it */
    uint64_t bytes; /* of the guest's memory */
    unsigned cpus;  /* with an entry in index */
    uint64_t index[CHECKPOINT_CPUS]; /* how far their rings are filled; trace_control */
};

struct checkpoints {
    char path[PATH_MAX]; /* of the directory */
    uint64_t recipe;     /* its hash */
    uint64_t bytes_most; /* memory that they may use; 0: use none */
    double spacing;      /* CPU seconds between them */
    double next_look;    /* when to measure their memory again; now_seconds() */
    struct checkpoint all[CHECKPOINTS_MAX];
    unsigned count;
};

/* Reads the list; leaves out processes that have ended. False: the list is unusable, and its checkpoints have
 * been ended; FAIL. */
bool checkpoints_open(struct checkpoints *set, const struct recipe *recipe, uint64_t bytes_most,
                      struct fail *fail);
/* Whether a ring's index means that more than WORDS words are reserved. */
bool checkpoint_passed(uint64_t index, uint64_t words);
/* Returns the last one before that in the ring of CPU; NULL: none. */
const struct checkpoint *checkpoints_find(const struct checkpoints *set, unsigned cpu, uint64_t words);
/* Makes a stopped copy of it. */
bool checkpoint_visit(const struct checkpoint *checkpoint, struct freezer *copy, struct fail *fail);
/* Whether a checkpoint is due when the emulator has used SECONDS of CPU time. */
bool checkpoints_are_due(const struct checkpoints *set, double seconds);
/* Makes one, if the emulator can be copied now. HERE: everything except pid, born and timer. The emulator's
 * threads are stopped. If the system does not allow it, reports that, and makes no more. */
void checkpoints_add(struct checkpoints *set, struct freezer *emulator, const struct checkpoint *here);
/* Ends all, and removes the directory. */
void checkpoints_forget(struct checkpoints *set);
/* Returns the host memory that they use; shared parts count once. */
uint64_t checkpoints_bytes(const struct checkpoints *set);

#endif
