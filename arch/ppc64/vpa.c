/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/ppc64/vpa.c - does the hypervisor run a processor at all? (LoPAPR 14.11.3.2)
 *
 * It counts in a processor's virtual processor area how often it began and ceased to run it: even while it
 * runs. H_PROD makes it take notice of the processor once more, which takes the host's thread that runs it;
 * for the kernel's idle loop that is a wake-up for nothing, for anything else it is nothing.
 */
#include "hcall.h"
#include "port.h"
#include <arch/clock.h>
#include <arch/debug.h>
#include <kernel/cpu.h>

#define REGISTER_VPA  (1ull << 45)
#define PROD_AGAIN_MS 50u

/* Aligned so that none crosses a page. */
static struct vpa {
    uint32_t descriptor;
    uint16_t size; /* bytes */
    uint8_t others[250];
    _Atomic uint32_t dispatches;
    uint8_t more[380];
} __attribute__((aligned(1024))) areas[CPUS_MAX];
_Static_assert(offsetof(struct vpa, dispatches) == 0x100 && offsetof(struct vpa, more) + 380 == 640,
               "LoPAPR");

void vpa_register(struct cpu *cpu)
{
    struct vpa *area = &areas[cpu->index];
    area->size = sizeof *area;
    cpu->arch.counts_runs =
        !hcall(H_REGISTER_VPA, REGISTER_VPA, cpu->arch.hardware_id, virt_to_phys(area), 0, NULL);
}

static uint32_t dispatches(const struct cpu *cpu)
{
    return atomic_load(&areas[cpu->index].dispatches);
}

static void prod(struct cpu *target)
{
    target->arch.prodded_at = arch_clock();
    hcall(H_PROD, target->arch.hardware_id, 0, 0, 0, NULL);
}

void arch_nudge(struct cpu *target)
{
    target->arch.nudged_at = dispatches(target);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* counted before the nudge can count */
    prod(target);
}

/* It has begun to run, and not in order to take notice of the nudge. A prod that comes between two runs is
 * forgotten with the next one's beginning: who then runs without an end has to be prodded once more. */
bool arch_has_run(struct cpu *target)
{
    uint32_t ran_until = (target->arch.nudged_at + 1) & ~1u;
    if (!target->arch.counts_runs || (int32_t)(dispatches(target) - ran_until) >= 2)
        return true;
    if (arch_clock() - target->arch.prodded_at > clock_hz / 1000 * PROD_AGAIN_MS)
        prod(target);
    return false;
}
