/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/process.h - death of spaces.
 *
 * space_kill marks the space and tells every thread of it to end. A thread ends on the processor where it is
 * current, when it next passes the scheduler (thread.h); the last one to end calls space_finish, which closes
 * the capabilities, releases the memory, kills the spaces that this one made, and signals the watcher.
 */
#ifndef KERNEL_PROCESS_H
#define KERNEL_PROCESS_H

#include <stdint.h>

struct space;
/* The last capability that others had to it is gone: killed too, for nobody could do it later. Not init,
 * which nobody made. */
void space_abandon(struct space *space);
/* Any number of times, from anywhere; no locks held. True the first time: that is why it dies. */
bool space_kill(struct space *space, int32_t status);
void space_finish(struct space *space); /* the last thread is gone; once */

#endif
