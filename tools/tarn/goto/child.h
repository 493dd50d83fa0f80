/*
 * tools/tarn/goto/child.h - a child process of tarn, one at a time, which does not outlive it, however it
 * ends: the handler of a signal that should end tarn (SIGINT, SIGTERM, SIGHUP) ends the child.
 */
#pragma once

#include <sys/types.h>
#include <tools/tarn/tarn.h>

/* From now on such a signal ends the child, but not tarn. */
void child_catch_signals(void);
/* Whether such a signal has come. */
bool child_is_interrupted(void);

/* Starts WORDS[0], found through PATH. OUTPUT: descriptor for its output, without input; -1: it has tarn's
 * terminal. ENDING: the signal passed on to it when tarn gets one; a second time it is SIGKILL. Returns -1 if
 * it cannot be started. It blocks no signals, and is killed when the thread that started it ends. */
pid_t child_start(char *const *words, int output, int ending);
#define CHILD_NOT_STARTED 127 /* exit status if the program does not exist */
/* Waits. Returns its exit status, or -1 if a signal ended it. */
int child_wait(pid_t pid);
/* Whether it has ended; if so, it has been reaped. For children without child_catch_signals. */
bool child_has_ended(pid_t pid);
/* Such a signal also ends the writing side of SOCKET, with which a process ends that is no child; -1: of
 * none. */
void child_ends_with(int socket);
/* Starts a program and waits for it, as above. LINE gets the first line that it printed, or is empty. */
int child_run(char *const *words, char *line, size_t size);
