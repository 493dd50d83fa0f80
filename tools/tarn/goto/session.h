/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/session.h - what is done where a journey has led. */
#ifndef TARN_GOTO_SESSION_H
#define TARN_GOTO_SESSION_H

#include <limits.h>
#include <tools/tarn/goto/emulator.h>

#define SESSION_COMMANDS_MAX 64u

/* A file of the tree in which tarn lies, as build/host/tarn. */
bool session_find(const char *name, char path[PATH_MAX], struct fail *fail);

#define SESSION_BEFORE "tarn before" /* the command of tools/gdb that asks for the event before */

/* gdb-multiarch on the stopped machine, at processor CPU, with tools/gdb and the symbols of kernel and
 * program. COMMANDS: runs them, and ends; none: on the terminal. Takes the emulator's connection.
 * WANTS_BEFORE: gdb ended to go to the event before. */
bool session_gdb(struct emulator *emulator, const struct recipe *recipe, uint32_t cpu, char *const commands[],
                 unsigned count, bool *wants_before, struct fail *fail);
/* Writes a dump of the machine's memory, which `tarn pull core:` reads. */
bool session_dump(struct emulator *emulator, const char *path, struct fail *fail);

#endif
