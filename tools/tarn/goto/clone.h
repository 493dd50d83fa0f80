/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/clone.h - copies a stopped process with all its threads. The copy continues exactly like
 * the original.
 *
 * QEMU's own snapshots are unsuitable: QEMU stops the machine to save it, which changes the run. So tarn
 * makes the stopped emulator fork, and creates the other threads in the child with their registers. Both
 * processes share memory until one of them writes to it.
 */
#ifndef TARN_GOTO_CLONE_H
#define TARN_GOTO_CLONE_H

#include <tools/tarn/goto/freezer.h>

/* All threads of FROM are stopped, and stay stopped, as do those of the copy, TO. False: there is no copy,
 * and no process is left. NOT_NOW: the emulator's threads are busy; try again later. Otherwise FAIL is set.
 * FROM may be killed meanwhile. */
bool clone_make(struct freezer *from, struct freezer *to, bool *not_now, struct fail *fail);
/* Replaces the sockets and event descriptors that a stopped copy shares with the original by its own. Its gdb
 * server listens at PATH, and has accepted *CONNECTION. */
bool clone_reconnect(struct freezer *clone, const char *path, int *connection, struct fail *fail);

#endif
