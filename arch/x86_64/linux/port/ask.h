/* SPDX-License-Identifier: BSD-2-Clause */
/* port/ask.h (x86_64 Linux) - a thread that was stopped by a signal: what tests/unit/trace/linux needs of the
 * machine. */
#ifndef PORT_ASK_H
#define PORT_ASK_H

#include <arch/trace.h>
#include <signal.h>
#include <trace/ring/restart.h>
#include <ucontext.h>

/* Where the thread goes on, from the third argument of a signal's handler. */
static inline uint64_t port_host_ip(const void *context)
{
    return (uint64_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

static inline void port_host_set_ip(void *context, uint64_t ip)
{
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] = (greg_t)ip;
}

#endif
