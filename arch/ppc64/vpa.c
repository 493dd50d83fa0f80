/*
 * arch/ppc64/vpa.c - whether the hypervisor runs a vCPU (LoPAPR 14.11.3.2).
 *
 * The hypervisor counts in a vCPU's virtual processor area how often it began and ceased to run it; the count
 * is even while it runs. H_PROD makes the hypervisor stop and restart the vCPU, which takes the host's thread
 * for it. The kernel's idle loop sees a spurious wake-up, other code sees nothing. A vCPU that did so several
 * times, and still took no interrupt, has interrupts off: a hang.
 */
#include "hcall.h"
#include "port.h"
#include <arch/clock.h>
#include <arch/debug.h>
#include <kernel/cpu/cpu.h>
#include <kernel/sched/timer.h>

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

void arch_request_progress(struct cpu *target)
{
    target->arch.requested_at = dispatches(target);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* read the count before the prod can change it */
    prod(target);
}

/* Whether the vCPU has begun to run, other than because of the prod. A prod between two runs is lost when the
 * next one begins: a vCPU that then runs for ever must be prodded again. */
bool arch_has_run(struct cpu *target)
{
    uint32_t ran_until = (target->arch.requested_at + 1) & ~1u;
    if (!target->arch.counts_runs || (int32_t)(dispatches(target) - ran_until) >= 2)
        return true;
    if (arch_clock() - target->arch.prodded_at > timer_ticks_ms(PROD_AGAIN_MS))
        prod(target);
    return false;
}
