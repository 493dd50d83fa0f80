/* port/machine.h (ppc64) - interrupt numbers: 0 is the console, 1..4 are INTA..INTD of the PCI host bridge,
 * 16..143 messages. xics.c maps them to sources. */
#pragma once

#define ARCH_NAME        "ppc64" /* as in uname and the trace */
#define ARCH_ELF_MACHINE 21
#define ARCH_ELF_FLAGS   2 /* ELFv2 */
#define ARCH_IRQ_LINES   16u
#define ARCH_IRQ_COUNT   144u
