/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/session.h - starts gdb on the stopped machine. */
#ifndef TARN_GOTO_SESSION_H
#define TARN_GOTO_SESSION_H

#include <limits.h>
#include <tools/tarn/goto/emulator.h>

#define SESSION_COMMANDS_MAX 64u

/* Finds a file of the source tree in which tarn was built (as build/host/tarn). */
bool session_find(const char *name, char path[PATH_MAX], struct fail *fail);

#define SESSION_BEFORE "tarn before" /* command of tools/gdb: go to the previous event */

/* Runs gdb-multiarch on the stopped machine, at CPU, with tools/gdb and the symbols of kernel and program.
 * With COMMANDS, it executes them and ends; without, it uses the terminal.
 * WANTS_BEFORE: gdb ended to go to the previous event. */
bool session_gdb(struct emulator *emulator, const struct recipe *recipe, uint32_t cpu, char *const commands[],
                 unsigned count, bool *wants_before, struct fail *fail);

#endif
