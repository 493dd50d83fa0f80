/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/scarce.h - which program is ended when memory runs out.
 *
 * The system is the first program (init) and the spaces that it creates itself: the servers. All other spaces
 * are ordinary. The rule:
 *
 *   - The last 1/64 of frames (frame.c) are the system's: an ordinary program gets -E_NO_MEMORY while they
 * are all that is left, so a server can always be told of a death, answer a request, start a small program.
 *   - A page fault that finds no frame, in whatever space, ends the ordinary program that holds the most
 *     memory (of small ones: the youngest), and the thread that faulted waits until that is gone. So does a
 *     system call whose user copy meets such a page. The log names both.
 *   - Only where no ordinary program is left does the thread's own space end (fault.c).
 */
#ifndef KERNEL_SCARCE_H
#define KERNEL_SCARCE_H

#include <stdbool.h>

struct thread;
struct space;

/* For the current thread, whose fault or user copy found no frame, no locks held. True: a program is being
 * ended, and the thread now waits for a moment, to try again (or it is that program's). False: there is none
 * to be ended. */
bool scarce_wait(struct thread *self);

#endif
