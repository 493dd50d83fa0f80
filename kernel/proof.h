/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/proof.h - does a processor that does not answer execute anything?
 *
 * One that its host does not run is no hang and no target for a break-in (arch_nudge says why). It is one if
 * it executes, several times, with time behind each to take the interrupt that it owes, and takes none.
 */
#ifndef KERNEL_PROOF_H
#define KERNEL_PROOF_H

#include <stdbool.h>
#include <stdint.h>

struct cpu;

/* All zero: nothing yet. Whoever looks into the processor has one, and nobody else looks into it. */
struct proof {
    uint32_t count;               /* how often it has executed; ARCH_PROOFS are enough */
    uint64_t nudged_at, noted_at; /* ticks; 0: not yet. noted_at: it was seen to have executed since */
};

/* Goes on with it, without waiting: to be called again and again until true, which says that the processor
 * takes no interrupts. `grace`: ticks that it is given behind each time. */
bool proof_go_on(struct proof *proof, struct cpu *target, uint64_t now, uint64_t grace);

#endif
