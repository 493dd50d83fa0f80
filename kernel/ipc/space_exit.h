/*
 * space_exit.h - death of spaces.
 *
 * space_kill marks the space and kills its threads. A thread ends on the CPU where it is current, when it
 * next passes the scheduler (thread.h). The last one calls space_finish, which closes capabilities,
 * releases memory, kills the spaces that this one created, and signals the watcher.
 */
#pragma once

#include <stdint.h>

struct space;
/* The last capability in another space was closed: kills the space, because no program could do so later.
 * Has no effect on init, which no space created. */
void space_abandon(struct space *space);
/* From anywhere, any number of times, no locks held. True the first time: this call's status counts. */
bool space_kill(struct space *space, int32_t status);
void space_finish(struct space *space); /* after the last thread has ended; once */
