/* port/debug.h - the host enters no debugger. */
#pragma once

static inline void arch_breakpoint(void)
{
}
