/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/emulator.h - the guest of a recipe, started again: stopped, with a gdb server and its
 * memory shared with tarn.
 */
#ifndef TARN_GOTO_EMULATOR_H
#define TARN_GOTO_EMULATOR_H

#include <tools/tarn/command/recipe.h>
#include <tools/tarn/source/gdb_client.h>
#include <tools/tarn/source/memory.h>

#define EMULATOR_PATH_MAX 108u /* what a socket's path may have, with its NUL */

struct emulator {
    char directory[EMULATOR_PATH_MAX - sizeof("/wish") + 1]; /* of the files below; removed at the end */
    char socket_path[EMULATOR_PATH_MAX], log_path[EMULATOR_PATH_MAX];
    char wish_path[EMULATOR_PATH_MAX]; /* made by a debugger that wants to go to another event
                                          (tools/gdb/tarn.py) */
    pid_t pid;                         /* 0: it does not run */
    struct gdb_client client;
    int memory_fd; /* a file without a name, and in no file system: nothing of it is ever written to a disk */
    struct memory *memory;
};

/* What the memory is called in the emulator's /proc/PID/maps. */
#define EMULATOR_MEMORY_NAME "tarn-goto-guest"

/* False: there is no room for its files. To be closed in either case. */
bool emulator_open(struct emulator *emulator, struct fail *fail);
/* Starts it, stopped before its first instruction. Closes what was started before. */
bool emulator_start(struct emulator *emulator, const struct recipe *recipe, struct fail *fail);
/* Has it ended? */
bool emulator_has_ended(struct emulator *emulator);
/* Ends it, and forgets its memory. */
void emulator_stop(struct emulator *emulator);
void emulator_close(struct emulator *emulator);

#endif
