/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/child.h - programs that run for tarn: none outlives it, however it ends.
 */
#ifndef TARN_GOTO_CHILD_H
#define TARN_GOTO_CHILD_H

#include <sys/types.h>
#include <tools/tarn/tarn.h>

/* Starts WORDS[0], looked for in PATH. OUTPUT: where it prints; -1: it has tarn's terminal. -1: it cannot be
 * started. The program is killed when tarn dies. */
pid_t child_start(char *const *words, int output);
#define CHILD_NOT_STARTED 127 /* the status of one whose program is not there */
/* Waits; its exit status, or -1 if a signal ended it. */
int child_wait(pid_t pid);
/* The first line that a program prints; false: it failed, or printed none. */
bool child_first_line(char *const *words, char *line, size_t size);

#endif
