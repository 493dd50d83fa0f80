/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress_check.h - progress checks: does a CPU that does not respond still execute instructions?
 *
 * A CPU that its host does not run is not hung, and must not be broken into (arch_request_progress says why).
 * A CPU is hung if it executes several times and takes no interrupt, with time for a pending one after each.
 */
#ifndef KERNEL_PROGRESS_CHECK_H
#define KERNEL_PROGRESS_CHECK_H

#include <stdbool.h>
#include <stdint.h>

struct cpu;

/* All zero: nothing checked yet. Used by the CPU that checks; no other checks the same target. */
struct progress_check {
    uint32_t count; /* times that it has executed; ARCH_PROGRESS_CHECKS are enough */
    /* Ticks; 0: not yet. noted_at: when progress since the request was seen. */
    uint64_t requested_at, noted_at;
};

/* Continues the check without waiting. Call it until it returns true: the target takes no interrupts.
 * `grace`: ticks for the target after each sign of progress. */
bool progress_check_step(struct progress_check *check, struct cpu *target, uint64_t now, uint64_t grace);

#endif
