/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/clone.h - copies a stopped process with all its threads; the copy continues exactly as the
 * original does.
 *
 * QEMU's own snapshots do not serve: it must stop the machine to save it, and that changes what the machine
 * does afterwards. So tarn makes the stopped emulator fork, and creates the other threads in the child, each
 * with its registers. Both share the memory that neither changes.
 */
#ifndef TARN_GOTO_CLONE_H
#define TARN_GOTO_CLONE_H

#include <tools/tarn/goto/freezer.h>

/* All threads of FROM are stopped, and stay so; so are those of the copy, TO. False: there is no copy, and no
 * process is left. NOT_NOW: the emulator's threads are busy here; later it can be copied. Else FAIL says
 * why. FROM may be killed meanwhile. */
bool clone_make(struct freezer *from, struct freezer *to, bool *not_now, struct fail *fail);
/* Gives a stopped copy sockets and event descriptors of its own, in place of those that it shares with the
 * original. Its gdb server listens at PATH, and has accepted tarn's connection: *CONNECTION. */
bool clone_reconnect(struct freezer *clone, const char *path, int *connection, struct fail *fail);

#endif
