/*
 * quiescent.c - epochs: each ends when every CPU has reported once in it. Interface: quiescent.h.
 *
 * Why three epochs? A stamp s may be one epoch old when it is taken: its CPU does not report before it
 * leaves the kernel, so the next epoch may have begun, but cannot end. The end of s + 1 needs that CPU's
 * report, after the memory became unreachable. The end of s + 2 needs a later report of every CPU. So in s
 * + 3 every CPU has been outside the kernel since.
 */
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/quiescent.h>
#include <stdatomic.h>

#define EPOCHS_TO_WAIT 3u

static _Atomic uint64_t epoch = 1;

uint64_t quiescent_stamp(void)
{
    return atomic_load_explicit(&epoch, memory_order_relaxed);
}

bool quiescent_since(uint64_t stamp)
{
    /* Acquire: pairs with quiescent_report; what CPUs did before they reported is done. */
    return atomic_load_explicit(&epoch, memory_order_acquire) >= stamp + EPOCHS_TO_WAIT;
}

void quiescent_report(void)
{
    struct cpu *self = this_cpu();
    /* Acquire: pointers found from now on are found after the reports that ended the last epoch. */
    uint64_t now = atomic_load_explicit(&epoch, memory_order_acquire);
    /* Release: this CPU no longer uses pointers from before. Pairs with the loads below. */
    atomic_store_explicit(&self->quiescent_epoch, now, memory_order_release);
    for (uint32_t i = 0; i < cpu_count; i++) {
        if (cpus[i].online && atomic_load_explicit(&cpus[i].quiescent_epoch, memory_order_acquire) != now)
            return;
    }
    /* Release: passes on the acquires from all CPUs. Fails if another CPU was faster. */
    atomic_compare_exchange_strong_explicit(&epoch, &now, now + 1, memory_order_acq_rel,
                                            memory_order_relaxed);
}
