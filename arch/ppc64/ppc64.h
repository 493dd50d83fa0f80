/* arch/ppc64/ppc64.h - registers and instructions that C cannot express (Power ISA 3.0B). Private to the
 * port; also included by assembly. */
#pragma once

/* Special-purpose registers, by number. */
#define SPR_DSISR 18
#define SPR_DAR   19
#define SPR_DEC   22
#define SPR_SRR0  26
#define SPR_SRR1  27
#define SPR_AMR   29 /* the kernel's view; 13 is the user's */
#define SPR_PIDR  48
#define SPR_IAMR  61
#define SPR_FSCR  153
#define SPR_UAMOR 157
#define SPR_SPRG0 272 /* struct cpu, for entries into the kernel */
#define SPR_SPRG1 273 /* r13 of the interrupted code, during the first instructions of an entry */
/* r13 likewise, for system reset and machine check: they may interrupt the first instructions of an entry */
#define SPR_SPRG2 274
#define SPR_SPRG3 275 /* this CPU's trace ring at its user address; programs read it as SPR 259 */
#define SPR_MMCR0 795
#define SPR_TAR   815 /* user address of the thread's block */

/* Machine state register. LOAD_CONSTANT loads bits that do not fit in 16 bits. */
#define MSR_RI 0x0000000000000002
#define MSR_DR 0x0000000000000010
#define MSR_IR 0x0000000000000020
#define MSR_ME 0x0000000000001000
#define MSR_FP 0x0000000000002000
#define MSR_PR 0x0000000000004000
#define MSR_EE 0x0000000000008000
#define MSR_SF 0x8000000000000000

#define MSR_KERNEL (MSR_SF | MSR_ME | MSR_IR | MSR_DR | MSR_RI)
#define MSR_USER   (MSR_KERNEL | MSR_EE | MSR_PR)

/* Exception vectors, relative to VECTORS_REAL or VECTORS. */
#define VECTOR_SYSTEM_RESET         0x100
#define VECTOR_MACHINE_CHECK        0x200
#define VECTOR_DATA_STORAGE         0x300
#define VECTOR_DATA_SEGMENT         0x380
#define VECTOR_INSTRUCTION_STORAGE  0x400
#define VECTOR_INSTRUCTION_SEGMENT  0x480
#define VECTOR_EXTERNAL             0x500
#define VECTOR_ALIGNMENT            0x600
#define VECTOR_PROGRAM              0x700
#define VECTOR_FP_UNAVAILABLE       0x800
#define VECTOR_DECREMENTER          0x900
#define VECTOR_SYSCALL              0xc00
#define VECTOR_TRACE                0xd00
#define VECTOR_PERFORMANCE_MONITOR  0xf00
#define VECTOR_VMX_UNAVAILABLE      0xf20
#define VECTOR_VSX_UNAVAILABLE      0xf40
#define VECTOR_FACILITY_UNAVAILABLE 0xf60

/* Exceptions with translation off, where the CPU ignores the top four bits, and with translation on. */
#define VECTORS_REAL  0xc000000000000000
#define VECTORS       0xc000000000004000
#define VECTORS_BYTES 0x2000 /* of each */

/* programs may use the target address register, which has the address of their thread block */
#define FSCR_TAR 0x100

/* The kernel's access to user pages, radix key 0: AMR denies it except in user_copy.S; IAMR always denies
 * execution. */
#define AMR_USER_DENIED  0xc000000000000000
#define IAMR_USER_DENIED 0x4000000000000000

#define KERNEL_STACK_BYTES  0x4000
#define SPECIAL_STACK_BYTES 0x2000 /* system reset, machine check */
#define CPU_STACKS_ORDER    3      /* all stacks of a CPU, in pages, as a power of two */
#define CPU_STACKS_BYTES    (0x1000 << CPU_STACKS_ORDER)

#define STACK_FRAME_BYTES    32  /* ELFv2: back chain, CR, LR, TOC */
#define STACK_RETURN_ADDRESS 16  /* its place there */
#define STACK_RED_ZONE       288 /* bytes below the stack pointer that an interrupt must not overwrite */

#ifdef __ASSEMBLER__
/* clang-format off */
/* Loads any 64-bit number or address, without the table of contents. */
.macro LOAD_CONSTANT register, value
        lis     \register, (\value)@highest
        ori     \register, \register, (\value)@higher
        sldi    \register, \register, 32
        oris    \register, \register, (\value)@high
        ori     \register, \register, (\value)@l
.endm
/* clang-format on */
#else
#include <stdint.h>

#define read_spr(number)                                               \
    ({                                                                 \
        uint64_t value_;                                               \
        __asm__ volatile("mfspr %0, %1" : "=r"(value_) : "i"(number)); \
        value_;                                                        \
    })
#define write_spr(number, value) \
    __asm__ volatile("mtspr %0, %1" ::"i"(number), "r"((uint64_t)(value)) : "memory")

static inline uint64_t read_msr(void)
{
    uint64_t value;
    __asm__ volatile("mfmsr %0" : "=r"(value));
    return value;
}
#endif
