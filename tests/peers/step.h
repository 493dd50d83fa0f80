/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/peers/step.h - executes a function instruction by instruction.
 *
 * Each step raises a signal, which would make Linux restart a block for ever. So Linux does not restart this
 * thread's blocks meanwhile; the thread must stay on its CPU.
 */
#ifndef TESTS_PEERS_STEP_H
#define TESTS_PEERS_STEP_H

#include <stdint.h>

/* In a signal's handler before the instruction at `ip`; `context` is the handler's third argument. */
typedef void host_visit_step(uint64_t ip, void *context);

/* Visits the instructions of function() and a few of the caller's, before and behind. */
void host_step(void (*function)(void), host_visit_step *visit);

#endif
