/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/child.h - programs that run for tarn: none outlives it, however it ends.
 *
 * A signal that asks tarn to end (SIGINT, SIGTERM, SIGHUP) ends them at once, in its handler. So a wait
 * for one of them, or for its reply, ends whenever the signal came.
 */
#ifndef TARN_GOTO_CHILD_H
#define TARN_GOTO_CHILD_H

#include <sys/types.h>
#include <tools/tarn/tarn.h>

/* From now on such a signal ends the programs, and no longer tarn. */
void child_catch_signals(void);
/* Has one come? */
bool child_is_interrupted(void);

/* Starts WORDS[0], looked for in PATH. OUTPUT: where it prints, and it reads nothing; -1: it has tarn's
 * terminal. ENDING: the signal that ends it when tarn is asked to end; at the second time SIGKILL. -1: it
 * cannot be started. No signal is blocked in the program; it is killed when the thread that started it ends.
 */
pid_t child_start(char *const *words, int output, int ending);
#define CHILD_NOT_STARTED 127 /* the status of one whose program is not there */
/* Waits; its exit status, or -1 if a signal ended it. */
int child_wait(pid_t pid);
/* Kills it, if it runs, and waits; not for ever. */
void child_end(pid_t pid);
/* Has it ended? Then it must not be waited for any more. */
bool child_has_ended(pid_t pid);
/* One that this program has not started itself: from now on it is as if it had been. */
bool child_adopt(pid_t pid, int ending);
/* Somebody else has waited for it. */
void child_forget(pid_t pid);
/* The first line that a program prints; false: it failed, or printed none. */
bool child_first_line(char *const *words, char *line, size_t size);

#endif
