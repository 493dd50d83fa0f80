/* SPDX-License-Identifier: BSD-2-Clause */
/* port/step.h (x86_64 Linux) - executing instructions one by one. */
#ifndef PORT_STEP_H
#define PORT_STEP_H

#include <port/ask.h>

#define PORT_FLAG_TRAP 0x100

/* Whether a SIGTRAP follows each instruction when the handler with this context has returned. */
static inline void port_host_step(void *context, bool on)
{
    greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
    *flags = on ? *flags | PORT_FLAG_TRAP : *flags & ~(greg_t)PORT_FLAG_TRAP;
}

#endif
