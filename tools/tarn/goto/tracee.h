/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/tracee.h - waits for threads that tarn traces with ptrace, whatever happens to them.
 *
 * The process may be killed at any moment. Then each thread with PTRACE_O_TRACEEXIT stops once more, at its
 * end, and the main thread does not end while another one is stopped there. So a plain wait for one thread
 * may never return. All waits here return.
 */
#ifndef TARN_GOTO_TRACEE_H
#define TARN_GOTO_TRACEE_H

#include <stdio.h>
#include <sys/types.h>
#include <tools/tarn/tarn.h>

/* Options of traced threads: they end with tarn, and stop at their end. */
#define TRACEE_OPTIONS (PTRACE_O_EXITKILL | PTRACE_O_TRACEEXIT)
#define TRACEE_SECONDS 60.0

/* Opens /proc/PROCESS/NAME. */
FILE *process_file(pid_t process, const char *name, const char *mode);
/* Returns the CPU time that a process has used. */
double process_seconds(pid_t process);

/* Waits until THREAD stops; STATUS is that of waitpid. False: it has ended. If it does neither within
 * TRACEE_SECONDS, it is killed with its process. */
bool tracee_wait(pid_t thread, int *status);
/* Returns the state of a thread as in /proc: 'R' runs, 'Z' has ended, ...; 0: it does not exist. */
char tracee_state(pid_t process, pid_t thread);
/* Whether the main thread has ended, or is stopped at its end because of a signal. */
bool tracee_is_killed(pid_t process);
/* Detaches from a thread that is stopped or about to end, and sends it signal NUMBER if that is not 0. */
void tracee_detach(pid_t thread, int number);
/* Kills PROCESS, resumes all its threads, including those that tarn traces without knowing it, and waits. */
void tracee_end(pid_t process);

/* Calls VISIT for each current thread of PROCESS, the main one first. False: VISIT returned false. */
bool tracee_threads(pid_t process, bool (*visit)(void *context, pid_t thread), void *context);

#endif
