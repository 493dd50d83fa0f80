/*
 * arch/ppc64/start.S - from the firmware to C.
 *
 * Real mode ignores the top four bits of an address, so the kernel runs at its link addresses before
 * translation is on. It is entered at `start`, the kernel's first byte, on the boot CPU, and at
 * `secondary_start` on the others, from RTAS (arch_start_cpu). Both use r3 and up as 32-bit values: firmware
 * may enter in 32-bit mode.
 */
#include "offsets.h"
#include "ppc64.h"

/* Switches to 64-bit mode, translation and interrupts off. Changes r11, r12. */
.macro ENTER_64_BIT_MODE
        li      %r12, 1
        sldi    %r12, %r12, 63          /* MSR_SF */
        ori     %r12, %r12, MSR_ME
        mtmsrd  %r12
        isync
.endm

        .machine power9
        .section .text.start, "ax"

/* Direct start (boot/ppc64/stub.S): r3 = device tree, r5 = 0. Open Firmware: r3, r4 = archive and its size,
 * r5 = entry of the client interface. Any MSR without translation. */
        .global start
start:
        ENTER_64_BIT_MODE
        LOAD_CONSTANT %r13, cpus         /* this_cpu() */
        mtspr   SPR_SPRG0, %r13
        LOAD_CONSTANT %r1, boot_stack + KERNEL_STACK_BYTES - STACK_FRAME_BYTES
        li      %r0, 0
        std     %r0, 0(%r1)             /* call chains end here */
        clrldi  %r3, %r3, 32
        clrldi  %r4, %r4, 32
        clrldi  %r5, %r5, 32
        mr      %r6, %r4                /* boot_start(tree, firmware, archive, archive_size) */
        mr      %r4, %r5
        li      %r7, 0
        cmpdi   %r5, 0
        beq     1f
        mr      %r7, %r3
        li      %r3, 0
1:      mr      %r5, %r7
        LOAD_CONSTANT %r12, boot_start   /* which computes its r2 from r12 */
        mtctr   %r12
        bctrl
        trap

/* r3: physical address of this CPU's struct cpu, which cpu_prepare() filled. */
        .global secondary_start
secondary_start:
        ENTER_64_BIT_MODE
        clrldi  %r3, %r3, 32
        LOAD_CONSTANT %r13, 0xc000000000000000
        or      %r13, %r13, %r3
        mtspr   SPR_SPRG0, %r13
        ld      %r1, CPU_KERNEL_STACK(%r13)
        /* continues there with translation, which this CPU has not used yet */
        LOAD_CONSTANT %r12, 1f
        mtspr   SPR_SRR0, %r12
        LOAD_CONSTANT %r12, MSR_KERNEL
        mtspr   SPR_SRR1, %r12
        rfid
1:      li      %r0, 0
        std     %r0, 0(%r1)
        LOAD_CONSTANT %r12, boot_secondary
        mtctr   %r12
        bctrl
        trap

/* int64_t prom_enter(uint32_t arguments, uint32_t entry): calls Open Firmware in 32-bit mode, at 32-bit
 * addresses. The firmware keeps only the low halves of registers. Real mode. */
#define PROM_SAVED 18                   /* r14 to r31 */
#define PROM_FRAME (STACK_FRAME_BYTES + 8 * PROM_SAVED)

        .global prom_enter
prom_enter:
        mflr    %r0
        std     %r0, 16(%r1)
        mfcr    %r0
        stw     %r0, 8(%r1)
        std     %r2, 24(%r1)
        stdu    %r1, -PROM_FRAME(%r1)
        .irp    n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        std     \n, STACK_FRAME_BYTES + 8 * (\n - 14)(%r1)
        .endr
        clrldi  %r1, %r1, 32
        lis     %r0, (1f)@high          /* 32-bit mode uses the low half of the address only */
        ori     %r0, %r0, (1f)@l
        mtlr    %r0
        mtspr   SPR_SRR0, %r4
        mfmsr   %r5
        clrldi  %r5, %r5, 1             /* without MSR_SF */
        mtspr   SPR_SRR1, %r5
        rfid
1:      ENTER_64_BIT_MODE
        clrldi  %r1, %r1, 32
        LOAD_CONSTANT %r4, 0xc000000000000000
        or      %r1, %r1, %r4
        .irp    n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        ld      \n, STACK_FRAME_BYTES + 8 * (\n - 14)(%r1)
        .endr
        addi    %r1, %r1, PROM_FRAME
        LOAD_CONSTANT %r13, cpus
        ld      %r2, 24(%r1)
        lwz     %r0, 8(%r1)
        mtcr    %r0
        ld      %r0, 16(%r1)
        extsw   %r3, %r3
        mtlr    %r0
        blr

        .section .bss.start, "aw", @nobits
        .balign 4096
        .global boot_stack_guard, boot_stack
boot_stack_guard:       /* boot_mmu_init does not map it */
        .skip   4096
boot_stack:
        .skip   CPU_STACKS_BYTES

        .section .note.GNU-stack, "", @progbits
