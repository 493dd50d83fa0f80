/*
 * scarce.h - which program ends when memory runs out.
 *
 * The system is the first program (init) and the spaces that it creates itself: the servers. All other
 * spaces are ordinary.
 *
 *   - The last 1/64 of page frames (frame.c) is for the system: ordinary programs get -E_NO_MEMORY. So a
 *     server can always be notified of a death, reply, or start a small program.
 *   - If a page fault in any space finds no frame, the ordinary program with the most memory ends (of small
 *     ones: the youngest); the faulting thread waits until it is gone. So does a system call whose user
 *     copy needs such a page. The log names both. So a program that was refused memory can still end when
 *     it first touches a page.
 *   - Only without an ordinary program does the thread's own space end (fault.c).
 */
#pragma once

#include <stdbool.h>

struct thread;
struct space;

/* The current thread's fault or user copy found no frame; no locks held. True: a program is ending; the
 * thread waits for a moment and retries (or belongs to it). False: there is no program to end. */
bool scarce_wait(struct thread *self);
