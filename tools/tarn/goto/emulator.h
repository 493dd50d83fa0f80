/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/emulator.h - the guest of a recipe, started again: stopped, with a gdb server and its
 * memory in a file.
 */
#ifndef TARN_GOTO_EMULATOR_H
#define TARN_GOTO_EMULATOR_H

#include <tools/tarn/command/recipe.h>
#include <tools/tarn/source/gdb_client.h>
#include <tools/tarn/source/memory.h>

struct emulator {
    char directory[64]; /* of the files below; removed at the end */
    char memory_path[80], socket_path[80], log_path[80];
    char wish_path[80]; /* made by a debugger that wants to go to another event (tools/gdb/tarn.py) */
    pid_t pid;          /* 0: it does not run */
    struct gdb_client client;
    struct memory *memory;
};

/* Has somebody asked tarn to end (Ctrl-C, SIGTERM, SIGHUP)? */
bool emulator_is_interrupted(void);
bool emulator_open(struct emulator *emulator, struct fail *fail);
/* Starts it, stopped before its first instruction. Closes what was started before. */
bool emulator_start(struct emulator *emulator, const struct recipe *recipe, struct fail *fail);
/* Ends it; the file of its memory stays. */
void emulator_stop(struct emulator *emulator);
void emulator_close(struct emulator *emulator);

#endif
