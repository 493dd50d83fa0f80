/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/checkpoint_process.h - the stopped process that is a checkpoint; see checkpoint.h. */
#ifndef TARN_GOTO_CHECKPOINT_PROCESS_H
#define TARN_GOTO_CHECKPOINT_PROCESS_H

#include <tools/tarn/goto/freezer.h>

/* Returns when a process was started; 0: it does not exist, or has ended. */
uint64_t process_born(pid_t pid);
/* Kills PID if it is still the process that was started at that time. */
void process_kill(pid_t pid, uint64_t born);
/* Returns its share of the host's memory. */
uint64_t process_bytes(pid_t pid);

/* Makes the stopped process independent: it gets its own session, and ends when a file of the open DIRECTORY
 * is deleted or when TIMER expires, which this creates. */
bool process_set_free(const struct freezer *process, int directory, int *timer, struct fail *fail);
/* Restarts its timer. */
bool process_wind_up(const struct freezer *process, int timer, struct fail *fail);
/* Stops tracing it. The process stays stopped: none of its threads executes any code of its own. */
void process_leave(struct freezer *process);
/* OFFERS: if the host runs out of memory, it kills this process first; otherwise as any other. */
void process_offer_memory(pid_t pid, bool offers);

#endif
