/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/checkpoint_process.h - the stopped process that is a checkpoint; see checkpoint.h. */
#ifndef TARN_GOTO_CHECKPOINT_PROCESS_H
#define TARN_GOTO_CHECKPOINT_PROCESS_H

#include <tools/tarn/goto/freezer.h>

/* When a process was started; 0: there is none, or it has ended. */
uint64_t process_born(pid_t pid);
/* Kills PID if it is still the process that was started then. */
void process_kill(pid_t pid, uint64_t born);
/* Its share of the host's memory. */
uint64_t process_bytes(pid_t pid);

/* From now on the stopped process ends when a file of DIRECTORY, which is open here, is deleted, or when
 * TIMER, which this makes, expires; and it has a session of its own. */
bool process_set_free(const struct freezer *process, int directory, int *timer, struct fail *fail);
/* Sets its timer again. */
bool process_wind_up(const struct freezer *process, int timer, struct fail *fail);
/* Ends tarn's hold. The process stays stopped: none of its threads executes anything of its own meanwhile. */
void process_leave(struct freezer *process);
/* If the host runs out of memory, it kills the process before all others; or no sooner than those. */
void process_offer_memory(pid_t pid, bool offers);

#endif
