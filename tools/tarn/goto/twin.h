/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/twin.h - a second process that goes on from where a first one stands, to the bit.
 *
 * QEMU's own snapshots do not serve: they are taken of a machine that was stopped, and to stop it changes
 * what it does afterwards. So tarn makes the stopped emulator fork, and gives the child the other threads,
 * each with its registers. The two share what memory neither changes.
 */
#ifndef TARN_GOTO_TWIN_H
#define TARN_GOTO_TWIN_H

#include <tools/tarn/goto/freezer.h>

/* FROM: all of its threads are stopped, and stay so. TO: the same of the twin. FALSE, and NOT_NOW: its main
 * thread does not stand where it waits for something to do. */
bool twin_make(struct freezer *from, struct freezer *to, bool *not_now, struct fail *fail);
/* Has a stopped process own sockets and event descriptors, in place of those that it shares with its twin.
 * Its gdb server listens at PATH, and has taken tarn's connection: *CONNECTION. */
bool twin_part(struct freezer *twin, const char *path, int *connection, struct fail *fail);

#endif
