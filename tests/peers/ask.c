/*
 * tests/peers/ask.c - the part of restartable logging that Tarn's kernel has, for a process of Linux.
 *
 * restart.c expects to be on the ring's CPU with interrupts off. Here signals are blocked, but other threads
 * may run, and the thread may migrate. So who changes a ring holds its lock, and has stored the bound 0,
 * while it was on the ring's CPU and by a restartable sequence: no block on that CPU is behind its comparison
 * with the bound, and each that begins asks, again and again until the lock is released. A block that reads a
 * bound other than 0 sees what was stored before it, because the machine keeps the order of stores.
 *
 * Signals that come of an instruction cannot be blocked. If the handler of one logs, it is what an NMI is to
 * the kernel: an event that finds the ring being changed is discarded.
 */
#include <port/ask.h>
#include <sched.h>
#include <stddef.h>
#include <trace/ring/ring.h>

__thread char *host_ring;
static __thread volatile enum { OUTSIDE, TAKING, OWNER } place; /* of the thread, for handlers of signals */
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

/* In the handler of a signal that came while this thread took a ring: nothing can be changed. */
static bool discard(void)
{
    struct trace_control *control = trace_control_of(host_rings[port_host_cpu()] - TRACE_BUFFERS_OFFSET);
    __atomic_fetch_add(&control->discarded, 1, __ATOMIC_RELAXED);
    return false;
}

/* True: the block may begin again. */
static bool make_space(void)
{
    uint32_t cpu;
    bool again = true;
    if (place != OUTSIDE)
        return place == OWNER ? trace_ring_make_space() : discard();
    place = TAKING;
    if (take_ring(&cpu)) {
        place = OWNER;
        again = trace_ring_make_space();
        place = TAKING;
        return_ring(cpu);
    } else {
        sched_yield();
    }
    place = OUTSIDE;
    return again;
}

static void fill_signals(sigset_t *signals)
{
    static const int of_instructions[] = {SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    sigfillset(signals);
    for (unsigned i = 0; i < sizeof(of_instructions) / sizeof(*of_instructions); i++)
        sigdelset(signals, of_instructions[i]);
}

uint64_t host_ask(uint64_t ip)
{
    const uint64_t cell = ip & ~(uint64_t)(TRACE_CELL_BYTES - 1);
    sigset_t signals, before;
    fill_signals(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    const bool again = make_space();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return again ? cell : cell + TRACE_CELL_BYTES - ARCH_TRACE_EXIT_BYTES;
}
