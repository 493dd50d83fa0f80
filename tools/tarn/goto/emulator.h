/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/emulator.h - the guest of a recipe with a gdb server, from its start or from a checkpoint.
 */
#ifndef TARN_GOTO_EMULATOR_H
#define TARN_GOTO_EMULATOR_H

#include <tools/tarn/command/recipe.h>
#include <tools/tarn/goto/checkpoint.h>
#include <tools/tarn/source/gdb_client.h>
#include <tools/tarn/source/memory.h>

#define EMULATOR_PATH_MAX 108u /* size of a socket's path, with its NUL */

struct emulator {
    char directory[EMULATOR_PATH_MAX - sizeof("/wish") + 1]; /* of the files below; removed at the end */
    char socket_path[EMULATOR_PATH_MAX], log_path[EMULATOR_PATH_MAX];
    char wish_path[EMULATOR_PATH_MAX]; /* file that gdb creates to go to another event (tools/gdb/tarn.py) */
    pid_t pid;                         /* 0: it does not run */
    pid_t kept;                        /* a thread of it that tarn still traces; 0: none */
    double seconds;                    /* CPU time that it had used when it was copied */
    struct gdb_client client;
    uint64_t base, bytes; /* the guest's memory in the emulator */
    struct memory *memory;
};

/* Creates a directory for its files. Close it in either case. */
bool emulator_open(struct emulator *emulator, struct fail *fail);
/* Starts it, stopped before its first instruction. Ends an earlier one. */
bool emulator_start(struct emulator *emulator, const struct recipe *recipe, struct fail *fail);
/* Starts one from a checkpoint; FREEZER gets its threads, all stopped. Ends an earlier one. */
bool emulator_start_at(struct emulator *emulator, const struct checkpoint *checkpoint,
                       struct freezer *freezer, struct fail *fail);
/* Returns the 8 bytes at an offset in the guest's memory, as they are there. 0 if they cannot be read: the
 * emulator has ended. */
uint64_t emulator_word(const struct emulator *emulator, uint64_t place);
/* Returns the CPU time that it has used since the start of the run. */
double emulator_seconds(const struct emulator *emulator);
/* Ends it, and closes its memory. */
void emulator_stop(struct emulator *emulator);
void emulator_close(struct emulator *emulator);

#endif
