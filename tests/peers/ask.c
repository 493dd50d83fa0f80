/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/peers/ask.c - the part of restartable logging that Tarn's kernel has, for a process of Linux.
 *
 * A block that asks raises SIGILL. The handler, with all signals blocked, takes the ring of its CPU and calls
 * restart.c, which expects to be on that CPU with interrupts off. Here other threads may run, and the handler
 * may migrate, so:
 *
 * - who changes a ring holds its lock;
 * - it has stored the bound 0, while it was on the ring's CPU and by a restartable sequence. So no block on
 * that CPU is behind its comparison with the bound, and each that begins asks, again and again until the lock
 * is released.
 *
 * What restart.c stores afterwards may come from any CPU. x86_64 keeps the order of stores, and another
 * machine would need the stores that restart.c calls releases, which it has, in leave() too.
 */
#include "rings.h"
#include <port/ask.h>
#include <sched.h>
#include <stddef.h>
#include <trace/ring/ring.h>

__thread char *host_ring;
static bool locks[TRACE_CPUS_MAX];

static void return_ring(uint32_t cpu)
{
    __atomic_store_n(&locks[cpu], false, __ATOMIC_RELEASE); /* the changes of the ring before */
}

/* The ring of this CPU. False: another thread changes it, so the block may find space when it tries again. */
static bool take_ring(uint32_t *cpu)
{
    for (;;) {
        *cpu = port_host_cpu();
        /* acquire: pairs with the release in return_ring() */
        if (__atomic_exchange_n(&locks[*cpu], true, __ATOMIC_ACQUIRE))
            return false;
        host_ring = host_rings[*cpu] - TRACE_BUFFERS_OFFSET;
        if (port_host_clear_on(*cpu, &trace_control_of(host_ring)->bound))
            return true;
        return_ring(*cpu); /* migrated: the ring is as it was */
    }
}

static void on_ask(int number, siginfo_t *info, void *context)
{
    const uint64_t ip = port_host_ip(context), cell = ip & ~(uint64_t)(TRACE_CELL_BYTES - 1);
    if (!port_host_asks(ip)) {
        signal(SIGILL, SIG_DFL);
        return;
    }
    uint32_t cpu;
    bool again = true;
    if (take_ring(&cpu)) {
        again = trace_ring_make_space();
        return_ring(cpu);
    } else {
        sched_yield();
    }
    port_host_set_ip(context, again ? cell : cell + TRACE_CELL_BYTES - ARCH_TRACE_EXIT_BYTES);
}

const char *host_ask_open(void)
{
    struct sigaction action = {.sa_sigaction = on_ask, .sa_flags = SA_SIGINFO};
    sigfillset(&action.sa_mask);
    return sigaction(SIGILL, &action, NULL) ? "SIGILL cannot be caught" : NULL;
}
