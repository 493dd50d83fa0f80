/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/trace/linux/ask.c - the part of restartable logging that Tarn's kernel has, for a thread of
 * Linux that stays on its CPU.
 *
 * restart.c expects to be on the ring's CPU with interrupts off. Here signals are blocked meanwhile. Those
 * that come of an instruction cannot be blocked: if the handler of one logs, it is what an NMI is to the
 * kernel, and an event that finds the ring being changed is discarded.
 */
#include <port/ask.h>
#include <stddef.h>
#include <trace/ring/ring.h>

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
    const bool again = trace_ring_make_space();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return again ? cell : cell + TRACE_CELL_BYTES - ARCH_TRACE_EXIT_BYTES;
}
