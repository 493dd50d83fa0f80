/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scarce.h - which program ends when memory runs out.
 *
 * The system is the first program (init) and the spaces that it creates itself: the servers. All other
 * spaces are ordinary.
 *
 *   - The last 1/64 of page frames (frame.c) is reserved for the system. An ordinary program gets
 *     -E_NO_MEMORY when nothing else is left, so that a server can always be notified of a death, reply to
 *     a request, or start a small program.
 *   - If a page fault in any space finds no page frame, the ordinary program that holds the most memory
 *     ends (of small ones: the youngest), and the faulting thread waits until it is gone. The same holds
 *     for a system call whose user copy needs such a page. The log names both programs.
 *   - Only if there is no ordinary program does the thread's own space end (fault.c).
 */
#ifndef KERNEL_SCARCE_H
#define KERNEL_SCARCE_H

#include <stdbool.h>

struct thread;
struct space;

/* Called for the current thread when its fault or user copy found no page frame; no locks held. Returns
 * true if a program is being ended: the thread now waits for a moment and then tries again (or it belongs
 * to that program). False: there is no program to end. */
bool scarce_wait(struct thread *self);

#endif
