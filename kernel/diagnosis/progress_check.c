/* SPDX-License-Identifier: BSD-2-Clause */
/* progress_check.c - progress checks: interrupt the target, see that it executes, wait, repeat. Interface:
 * progress_check.h. */
#include <arch/debug.h>
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/progress_check.h>

static void request(struct proof *proof, struct cpu *target, uint64_t now)
{
    proof->requested_at = now;
    proof->noted_at = 0;
    arch_request_progress(target);
}

bool progress_check_step(struct proof *proof, struct cpu *target, uint64_t now, uint64_t grace)
{
    if (proof->count == ARCH_PROOFS)
        return true;
    if (!proof->requested_at)
        request(proof, target, now);
    else if (!proof->noted_at)
        proof->noted_at = arch_has_run(target) ? now : 0;
    else if (now - proof->noted_at > grace && ++proof->count < ARCH_PROOFS)
        request(proof, target, now);
    return proof->count == ARCH_PROOFS;
}
