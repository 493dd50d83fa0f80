/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/tracee.h - waits for threads that tarn traces (ptrace), whatever happens to them.
 *
 * The process may be killed at any moment. Then each of its threads that has PTRACE_O_TRACEEXIT stops once
 * more, at its end, and the main thread has not ended as long as another one stands there. So a plain wait
 * for one thread can last forever. All waits here end.
 */
#ifndef TARN_GOTO_TRACEE_H
#define TARN_GOTO_TRACEE_H

#include <stdio.h>
#include <sys/types.h>
#include <tools/tarn/tarn.h>

/* The options of threads that tarn traces: they end with tarn, and their end is reported. */
#define TRACEE_OPTIONS (PTRACE_O_EXITKILL | PTRACE_O_TRACEEXIT)
#define TRACEE_SECONDS 60.0

/* Opens /proc/PROCESS/NAME. */
FILE *process_file(pid_t process, const char *name, const char *mode);
/* Returns the CPU time that a process has used. */
double process_seconds(pid_t process);

/* Waits until THREAD stops; STATUS is waitpid's. False: it has ended. One that does neither in
 * TRACEE_SECONDS is killed with its process. */
bool tracee_wait(pid_t thread, int *status);
/* The state of a thread in /proc: 'R' runs, 'Z' has ended, ...; 0: there is none. */
char tracee_state(pid_t process, pid_t thread);
/* Has the main thread ended, or does it stand at its end because of a signal? */
bool tracee_is_killed(pid_t process);
/* Detaches from a stopped thread, or from one that is about to end; NUMBER: the signal that it gets, or 0. */
void tracee_detach(pid_t thread, int number);
/* Kills PROCESS, lets all of its threads end, also those that tarn traces without knowing it, and waits. */
void tracee_end(pid_t process);

/* Calls VISIT for each thread that PROCESS has now, the main one first. False: VISIT returned false. */
bool tracee_threads(pid_t process, bool (*visit)(void *context, pid_t thread), void *context);

#endif
