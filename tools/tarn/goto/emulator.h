/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/emulator.h - the guest of a recipe, started again with a gdb server, or gone on with from a
 * checkpoint.
 */
#ifndef TARN_GOTO_EMULATOR_H
#define TARN_GOTO_EMULATOR_H

#include <tools/tarn/command/recipe.h>
#include <tools/tarn/goto/checkpoint.h>
#include <tools/tarn/source/gdb_client.h>
#include <tools/tarn/source/memory.h>

#define EMULATOR_PATH_MAX 108u /* what a socket's path may have, with its NUL */

struct emulator {
    char directory[EMULATOR_PATH_MAX - sizeof("/wish") + 1]; /* of the files below; removed at the end */
    char socket_path[EMULATOR_PATH_MAX], log_path[EMULATOR_PATH_MAX];
    char wish_path[EMULATOR_PATH_MAX]; /* made by a debugger that wants to go to another event
                                          (tools/gdb/tarn.py) */
    pid_t pid;                         /* 0: it does not run */
    pid_t kept;                        /* a thread of it that tarn traces; 0: none */
    double seconds;                    /* processor time that it had taken where it was copied */
    struct gdb_client client;
    uint64_t base, bytes; /* of the guest's memory, in the emulator */
    struct memory *memory;
};

/* False: there is no room for its files. To be closed in either case. */
bool emulator_open(struct emulator *emulator, struct fail *fail);
/* Starts it, stopped before its first instruction. Closes what was started before. */
bool emulator_start(struct emulator *emulator, const struct recipe *recipe, struct fail *fail);
/* Starts one at a checkpoint; FREEZER has its threads, all stopped. Closes what was started before. */
bool emulator_start_at(struct emulator *emulator, const struct checkpoint *checkpoint,
                       struct freezer *freezer, struct fail *fail);
/* Processor time that it has taken from the run's start. */
double emulator_seconds(const struct emulator *emulator);
/* Ends it, and forgets its memory. */
void emulator_stop(struct emulator *emulator);
void emulator_close(struct emulator *emulator);

#endif
