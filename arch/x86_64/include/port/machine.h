/* port/machine.h (x86_64) - interrupt numbers: 0..63 are lines (ISA numbers below 16, otherwise the pin of
 * the I/O APIC), 64..191 messages. Vector = number + VECTOR_IRQ_FIRST (x86.h). */
#pragma once

#define ARCH_NAME        "x86_64" /* as in uname and the trace */
#define ARCH_ELF_MACHINE 62
#define ARCH_ELF_FLAGS   0
#define ARCH_IRQ_LINES   64u
#define ARCH_IRQ_COUNT   192u
