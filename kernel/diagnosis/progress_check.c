/* SPDX-License-Identifier: BSD-2-Clause */
/* progress_check.c - progress checks: interrupt the target, see that it executes, wait, repeat. Interface:
 * progress_check.h. */
#include <arch/debug.h>
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/progress_check.h>

static void request(struct progress_check *check, struct cpu *target, uint64_t now)
{
    check->requested_at = now;
    check->noted_at = 0;
    arch_request_progress(target);
}

bool progress_check_step(struct progress_check *check, struct cpu *target, uint64_t now, uint64_t grace)
{
    if (check->count == ARCH_PROGRESS_CHECKS)
        return true;
    if (!check->requested_at)
        request(check, target, now);
    else if (!check->noted_at)
        check->noted_at = arch_has_run(target) ? now : 0;
    else if (now - check->noted_at > grace && ++check->count < ARCH_PROGRESS_CHECKS)
        request(check, target, now);
    return check->count == ARCH_PROGRESS_CHECKS;
}
