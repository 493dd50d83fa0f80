/* arch/x86_64/x86.h - instructions and registers that C cannot express. Private to the port. */
#pragma once

/* Selectors. SYSRET requires user data right before user code. */
#define SELECTOR_KERNEL_CODE 0x08
#define SELECTOR_KERNEL_DATA 0x10
#define SELECTOR_USER_DATA   0x1b
#define SELECTOR_USER_CODE   0x23
#define SELECTOR_TSS         0x28

#define CR0_PE (1 << 0)
#define CR0_MP (1 << 1)
#define CR0_NE (1 << 5)
#define CR0_WP (1 << 16)
#define CR0_AM (1 << 18)
#define CR0_PG 0x80000000

#define CR4_PAE        (1 << 5)
#define CR4_MCE        (1 << 6)
#define CR4_PGE        (1 << 7)
#define CR4_OSFXSR     (1 << 9)
#define CR4_OSXMMEXCPT (1 << 10)
#define CR4_UMIP       (1 << 11)
#define CR4_FSGSBASE   (1 << 16)
#define CR4_SMEP       (1 << 20)
#define CR4_SMAP       (1 << 21)

#define MSR_APIC_BASE      0x1b
#define MSR_EFER           0xc0000080
#define MSR_STAR           0xc0000081
#define MSR_LSTAR          0xc0000082
#define MSR_SFMASK         0xc0000084
#define MSR_GS_BASE        0xc0000101
#define MSR_KERNEL_GS_BASE 0xc0000102

#define EFER_SCE (1 << 0)
#define EFER_LME (1 << 8)
#define EFER_NXE (1 << 11)

/* Cleared at SYSCALL: trap, interrupt, direction, I/O privilege, nested task, resume, alignment/access. */
#define RFLAGS_INTERRUPTS 0x200u
#define RFLAGS_CLEARED    0x57700

#define KERNEL_STACK_BYTES 0x4000
#define NMI_STACK_BYTES    0x2000 /* large enough for a debugger session */
#define IST_STACK_BYTES    0x1000 /* of each other special trap */
#define CPU_STACKS_ORDER   3      /* all stacks of a CPU, in pages, as a power of two */
#define CPU_STACKS_BYTES   (0x1000 << CPU_STACKS_ORDER)

/* Interrupt vectors. */
#define VECTOR_NMI           2
#define VECTOR_BREAKPOINT    3
#define VECTOR_DOUBLE_FAULT  8
#define VECTOR_PAGE_FAULT    14
#define VECTOR_MACHINE_CHECK 18

#define VECTOR_IRQ_FIRST 32  /* + irq number: lines, then messages; ARCH_IRQ_COUNT of them */
#define VECTOR_IPI_FIRST 224 /* + enum ipi_kind */
#define VECTOR_TIMER     240 /* local timer; highest, so arch_window_open can let it alone pass */
#define VECTOR_SPURIOUS  255

#ifndef __ASSEMBLER__
#include <stdint.h>

#define PORT_IO(letter, bits)                                                           \
    static inline void out##letter(uint16_t port, uint##bits##_t value)                 \
    {                                                                                   \
        __asm__ volatile("out" #letter " %0, %1" ::"a"(value), "Nd"(port) : "memory");  \
    }                                                                                   \
    static inline uint##bits##_t in##letter(uint16_t port)                              \
    {                                                                                   \
        uint##bits##_t value;                                                           \
        __asm__ volatile("in" #letter " %1, %0" : "=a"(value) : "Nd"(port) : "memory"); \
        return value;                                                                   \
    }
PORT_IO(b, 8) /* outb, inb */
PORT_IO(w, 16)
PORT_IO(l, 32)

static inline void write_msr(uint32_t msr, uint64_t value)
{
    __asm__ volatile("wrmsr" ::"c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory");
}

static inline uint64_t read_msr(uint32_t msr)
{
    uint32_t low, high;
    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
    return (uint64_t)high << 32 | low;
}

static inline uint64_t read_cr2(void)
{
    uint64_t value;
    __asm__ volatile("movq %%cr2, %0" : "=r"(value));
    return value;
}

struct cpuid {
    uint32_t a, b, c, d;
};

static inline struct cpuid read_cpuid(uint32_t leaf)
{
    struct cpuid r;
    __asm__ volatile("cpuid" : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d) : "a"(leaf), "c"(0));
    return r;
}
#endif
