/*
 * arch/ppc64/entry.S - entries into the kernel and the exit to user mode.
 *
 * There is one kernel stack per CPU, empty whenever user mode runs. Entries store the user's registers in
 * cpu->current's frame and call C; exits load those of the thread that is then cpu->current.
 *
 *   vectors              copied to where exceptions are delivered: a few instructions each, then
 *                        syscall_entry or trap_common
 *   syscall_entry        `sc`: as few instructions as possible, see the comment there
 *   trap_common          other exceptions and interrupts; from kernel mode (the idle loop's wait, user copies)
 *                        the registers go to the stack
 *   real_vectors         copied to where exceptions are delivered that find translation off, or switch it off:
 *                        system reset and machine check, which may hit between any two instructions. They have
 *                        a stack and a save area of their own
 *   restore              the exit; system calls that do not switch threads have their own, syscall_return
 *
 * In the kernel r13 is struct cpu, which entries load from SPRG0, and r2 the table of contents. Interrupts
 * are off.
 */
#include "offsets.h"
#include "ppc64.h"
#include <arch/list_site.S>
#include <tarn/error.h>
#include <tarn/syscall.h>

        .machine power9
        .text

/* Stores or loads registers first..last; gpr[] is at `offset`. */
.macro SAVE first, last, base, offset
number = \first
.rept \last - \first + 1
        std     number, \offset + 8 * number(\base)
number = number + 1
.endr
.endm

.macro LOAD first, last, base, offset
number = \first
.rept \last - \first + 1
        ld      number, \offset + 8 * number(\base)
number = number + 1
.endr
.endm

/* Clears the registers that a C function may change: programs lose them, and must not see their contents. */
.macro CLEAR first, last
number = \first
.rept \last - \first + 1
        li      number, 0
number = number + 1
.endr
.endm

#define GPR(n) (FRAME_GPR + 8 * (n))

/* The site of a system call, as it is linked: on. */
.macro SITE target
0:      b       \target
        LIST_SITE \target, SYSCALL_SITE
.endm

/* ---- exception vectors ---------------------------------------------------------------------------- */

/* boot_install_vectors() copies this and corrects the branches, which all leave it. The vectors from 0xf00 on
 * are 8 instructions apart. SPRG1 saves r13, cpu->scratch r12. */
.macro VECTOR numbers:vararg
.irp number, \numbers
        .org    vectors + \number
        mtspr   SPR_SPRG1, %r13
        mfspr   %r13, SPR_SPRG0
        std     %r12, CPU_SCRATCH(%r13)
        li      %r12, \number
        b       trap_common
.endr
.endm

        .section .text.vectors, "ax"
        .global vectors, vectors_end
        .balign 256
vectors:
        VECTOR  VECTOR_DATA_STORAGE, VECTOR_DATA_SEGMENT, VECTOR_INSTRUCTION_STORAGE
        VECTOR  VECTOR_INSTRUCTION_SEGMENT, VECTOR_EXTERNAL, VECTOR_ALIGNMENT, VECTOR_PROGRAM
        VECTOR  VECTOR_FP_UNAVAILABLE, VECTOR_DECREMENTER
        .org    vectors + VECTOR_SYSCALL
        mtctr   %r13            /* lost to programs anyway */
        mfspr   %r13, SPR_SPRG0
        b       syscall_entry
        VECTOR  VECTOR_TRACE, VECTOR_PERFORMANCE_MONITOR, VECTOR_VMX_UNAVAILABLE
        VECTOR  VECTOR_VSX_UNAVAILABLE, VECTOR_FACILITY_UNAVAILABLE
vectors_end:

/* The same for real mode, at real addresses; branches stay inside. Only system reset and machine check are
 * expected; others are errors before translation is on. SPRG1 may be used: where its contents matter SRR0
 * matters too, and the interrupted code cannot continue anyway (trap_special). */
.macro REAL_VECTOR numbers:vararg
.irp number, \numbers
        .org    real_vectors + \number
        mtspr   SPR_SPRG2, %r13
        li      %r13, \number
        b       real_common
.endr
.endm

        .balign 256
        .global real_vectors, real_vectors_end
real_vectors:
        REAL_VECTOR VECTOR_SYSTEM_RESET, VECTOR_MACHINE_CHECK, VECTOR_DATA_STORAGE
        REAL_VECTOR VECTOR_DATA_SEGMENT, VECTOR_INSTRUCTION_STORAGE, VECTOR_INSTRUCTION_SEGMENT
        REAL_VECTOR VECTOR_EXTERNAL, VECTOR_ALIGNMENT, VECTOR_PROGRAM, VECTOR_FP_UNAVAILABLE
        REAL_VECTOR VECTOR_DECREMENTER, VECTOR_SYSCALL, VECTOR_TRACE, VECTOR_FACILITY_UNAVAILABLE
real_common:
        mtspr   SPR_SPRG1, %r12
        mfcr    %r12
        rldimi  %r12, %r13, 32, 0       /* the vector above CR */
        mfspr   %r13, SPR_SPRG0
        cmpdi   %r13, 0
        beq     2f                      /* a CPU that the kernel never started */
        std     %r12, CPU_SPECIAL_SAVE(%r13)
        std     %r11, CPU_SPECIAL_SAVE + 8(%r13)
        mfspr   %r11, SPR_SRR0
        mfspr   %r12, SPR_SRR1
        std     %r11, CPU_SPECIAL_SAVE + 16(%r13)
        std     %r12, CPU_SPECIAL_SAVE + 24(%r13)
        LOAD_CONSTANT %r11, trap_special_entry
        LOAD_CONSTANT %r12, MSR_KERNEL
        mtspr   SPR_SRR0, %r11
        mtspr   SPR_SRR1, %r12
        rfid
2:      or      %r27, %r27, %r27
        b       2b
real_vectors_end:

/* ---- system calls --------------------------------------------------------------------------------- */

/* r0 number, r3-r8 arguments. A handler, except of messages, cannot switch threads: only kernel_exit() does,
 * after it. C keeps r14-r31 and CR2-CR4, so they stay in place; the caller loses r9-r12. Only what is needed
 * to repeat the call, and what this code itself changes, is stored. */
        .text
        .balign 128
        .global syscall_entry
syscall_entry:
        ld      %r13, CPU_CURRENT(%r13)
        std     %r2, GPR(2)(%r13)
        mfspr   %r2, SPR_SRR0
        std     %r2, FRAME_NIP(%r13)
syscall_srr0_read:
        mfctr   %r2
        std     %r2, GPR(13)(%r13)
        mflr    %r2
        std     %r2, FRAME_LR(%r13)
        std     %r1, GPR(1)(%r13)
        SAVE    4, 8, %r13, GPR(0)
        addic.  %r2, %r0, -SYS_ipc_call
        cmpldi  %cr1, %r2, SYS_ipc_reply_to - SYS_ipc_call
        ble     %cr1, syscall_message
        std     %r0, GPR(0)(%r13)
        std     %r3, GPR(3)(%r13)
        mfspr   %r13, SPR_SPRG0
        ld      %r2, CPU_TOC(%r13)
        cmpldi  %r0, SYS_COUNT
        bge     syscall_unknown
        SITE    syscall_traced
        addis   %r9, %r2, syscall_table@toc@ha
        addi    %r9, %r9, syscall_table@toc@l
        sldi    %r12, %r0, 3
        ldx     %r12, %r9, %r12
        mtctr   %r12
        ld      %r1, CPU_KERNEL_STACK(%r13)
        bctrl
syscall_result:
        lwz     %r9, CPU_NEED_RESCHED(%r13)
        cmpwi   %r9, 0                  /* need_resched is set if there is no result */
        bne     syscall_leave

/* Returns to the caller with r3. Can be repeated from its first instruction (trap_special). */
        .global syscall_return, syscall_return_end
syscall_return:
        ld      %r1, CPU_CURRENT(%r13)
        ld      %r9, FRAME_NIP(%r1)
        ld      %r10, FRAME_MSR(%r1)
        ld      %r11, FRAME_LR(%r1)
        ld      %r2, GPR(2)(%r1)
        ld      %r13, GPR(13)(%r1)
        ld      %r1, GPR(1)(%r1)
        mtspr   SPR_SRR0, %r9
        mtspr   SPR_SRR1, %r10
        mtlr    %r11
        CLEAR   4, 12
        li      %r0, 0
        mtctr   %r0
        mtxer   %r0
        mtcrf   0xc7, %r0
        rfid
syscall_return_end:

syscall_unknown:
        li      %r3, -E_BAD_SYSCALL
        b       syscall_result

syscall_traced:
        ld      %r3, CPU_CURRENT(%r13)
        mr      %r4, %r0
        ld      %r1, CPU_KERNEL_STACK(%r13)
        bl      syscall_call_traced
        b       syscall_result

/* Another thread may run next. */
syscall_leave:
        ld      %r1, CPU_CURRENT(%r13)
        rotldi  %r9, %r3, 1
        cmpdi   %r9, 1                  /* SYSCALL_NO_RESULT */
        beq     1f
        std     %r3, GPR(3)(%r1)
1:      SAVE    14, 31, %r1, GPR(0)
        mfcr    %r9
        stw     %r9, FRAME_CR(%r1)
        b       leave_kernel

/* Handlers of messages read the message in the frame. If they continue with another thread, they end in
 * return_to_user; otherwise cpu->current is still the caller. Messages are never repeated, so only the trace
 * needs r0 and r3. CR is lost: the frame has an old one. */
syscall_message:
        SAVE    9, 12, %r13, GPR(0)
        SAVE    14, 31, %r13, GPR(0)
        mfspr   %r13, SPR_SPRG0
        ld      %r2, CPU_TOC(%r13)
        beq     message_call            /* condition: r0 - SYS_ipc_call */
        cmpwi   %r0, SYS_ipc_reply_receive
        beq     message_reply_receive
        SITE    message_traced
        addis   %r9, %r2, syscall_table@toc@ha
        addi    %r9, %r9, syscall_table@toc@l
        sldi    %r12, %r0, 3
        ldx     %r12, %r9, %r12
        mtctr   %r12
        ld      %r1, CPU_KERNEL_STACK(%r13)
        bctrl
message_result:
        rotldi  %r9, %r3, 1
        cmpdi   %r9, 1                  /* SYSCALL_NO_RESULT */
        beq     return_to_user
        ld      %r9, CPU_CURRENT(%r13)
        std     %r3, GPR(3)(%r9)
        /* falls through */

/* Goes to user mode with the registers of cpu->current. Also the end of message handlers (arch_switched). */
        .global return_to_user
return_to_user:
        lwz     %r9, CPU_NEED_RESCHED(%r13)
        cmpwi   %r9, 0
        bne     leave_kernel

/* Can be repeated from its first instruction, as can restore_interrupted (trap_special). */
        .global restore, restore_interrupted, restore_end
restore:
        ld      %r1, CPU_CURRENT(%r13)
        ld      %r12, FRAME_INTERRUPTED(%r1)    /* CR in its lower half */
        ld      %r9, FRAME_NIP(%r1)
        ld      %r10, FRAME_MSR(%r1)
        ld      %r11, FRAME_LR(%r1)
        cmpdi   %r12, 0
        blt     restore_interrupted
        mtspr   SPR_SRR0, %r9
        mtspr   SPR_SRR1, %r10
        mtlr    %r11
        mtcr    %r12
        li      %r0, 0
        mtctr   %r0
        mtxer   %r0
        LOAD    2, 31, %r1, GPR(0)
        ld      %r1, GPR(1)(%r1)
        rfid

/* Loads all registers. The STDCX. clears a reservation of another thread. */
restore_interrupted:
        ld      %r1, CPU_CURRENT(%r13)
        li      %r0, 0
        stw     %r0, FRAME_INTERRUPTED(%r1)
        addi    %r9, %r13, CPU_SCRATCH
        stdcx.  %r0, 0, %r9
        ld      %r9, FRAME_NIP(%r1)
        ld      %r10, FRAME_MSR(%r1)
        ld      %r11, FRAME_LR(%r1)
        lwz     %r12, FRAME_CR(%r1)
        ld      %r2, FRAME_CTR(%r1)
        ld      %r3, FRAME_XER(%r1)
        mtspr   SPR_SRR0, %r9
        mtspr   SPR_SRR1, %r10
        mtlr    %r11
        mtcr    %r12
        mtctr   %r2
        mtxer   %r3
        ld      %r0, GPR(0)(%r1)
        LOAD    2, 31, %r1, GPR(0)
        ld      %r1, GPR(1)(%r1)
        rfid
restore_end:

/* The two most frequent messages need no table, and no second load of the table of contents. */
message_call:
        SITE    message_traced
        ld      %r1, CPU_KERNEL_STACK(%r13)
        bl      sys_ipc_call
        b       message_result

message_reply_receive:
        SITE    message_traced
        ld      %r1, CPU_KERNEL_STACK(%r13)
        bl      sys_ipc_reply_receive
        b       message_result

message_traced:
        mr      %r4, %r0
        mr      %r9, %r3
        ld      %r3, CPU_CURRENT(%r13)
        std     %r0, GPR(0)(%r3)
        std     %r9, GPR(3)(%r3)
        ld      %r1, CPU_KERNEL_STACK(%r13)
        bl      syscall_call_traced
        b       message_result

/* void arch_return_to_user(void): drops the stack. */
        .global arch_return_to_user
arch_return_to_user:
leave_kernel:
        ld      %r1, CPU_KERNEL_STACK(%r13)
        bl      kernel_exit
        b       restore

/* A system reset came while only SRR0 had the return address: treats this as a fault of the program. */
        .global program_lost
program_lost:
        ld      %r2, CPU_TOC(%r13)
        ld      %r1, CPU_KERNEL_STACK(%r13)
        bl      trap_program_lost
        b       return_to_user

/* void wait_for_interrupt(void): H_CEDE sleeps with interrupts enabled, and returns at once if one is
 * pending, so none is lost. The CPU takes the interrupt that woke it between the two MTMSRDs: interrupts are
 * on nowhere else in the kernel, so one that lost its return address came from here (trap_special). */
#define H_CEDE 0xe0
        .global wait_for_interrupt, wait_resume
wait_for_interrupt:
        li      %r3, H_CEDE
        sc      1
        li      %r4, MSR_RI
        ori     %r5, %r4, MSR_EE
        mtmsrd  %r5, 1
        mtmsrd  %r4, 1
wait_resume:
        blr

/* ARCH_CALL_ASIDE(function, r11), which continues at r12. Where the caller's callees store LR, its place in a
 * call chain. */
#define ASIDE(n) (STACK_FRAME_BYTES + 8 * (n))
#define ASIDE_FRAME_BYTES (STACK_RED_ZONE + ASIDE(16))
.macro ASIDE_CALL function
        .global aside_\function
aside_\function:
        std     %r12, 16(%r1)
        stdu    %r1, -ASIDE_FRAME_BYTES(%r1)
        SAVE    0, 0, %r1, ASIDE(0)
        SAVE    3, 12, %r1, ASIDE(0)
        mflr    %r0
        mr      %r4, %r12
        mfcr    %r12
        std     %r0, ASIDE(13)(%r1)
        std     %r12, ASIDE(14)(%r1)
        mr      %r3, %r11
        bl      \function
        ld      %r0, ASIDE(13)(%r1)
        ld      %r12, ASIDE(14)(%r1)
        mtlr    %r0
        mtcr    %r12
        ld      %r12, ASIDE(12)(%r1)
        mtctr   %r12
        LOAD    0, 0, %r1, ASIDE(0)
        LOAD    3, 11, %r1, ASIDE(0)
        addi    %r1, %r1, ASIDE_FRAME_BYTES
        bctr
.endm

        ASIDE_CALL spin_count_failed
        ASIDE_CALL spin_note_tried
        ASIDE_CALL spin_note_released

/* ---- exceptions and interrupts -------------------------------------------------------------------- */

/* r12 = vector; SPRG1 = r13 and cpu->scratch[0] = r12 of the interrupted code. */
        .balign 128
trap_common:
        std     %r11, CPU_SCRATCH + 8(%r13)
        mfcr    %r11
        std     %r11, CPU_SCRATCH + 16(%r13)
        mfspr   %r11, SPR_SRR1
        andi.   %r11, %r11, MSR_PR
        beq     trap_kernel
        ld      %r11, CPU_CURRENT(%r13)
        std     %r10, GPR(10)(%r11)
        mfspr   %r10, SPR_SRR0
        std     %r10, FRAME_NIP(%r11)
        mfspr   %r10, SPR_SPRG1
        std     %r10, GPR(13)(%r11)
trap_user_srr0_read:
        SAVE    0, 9, %r11, GPR(0)
        SAVE    14, 31, %r11, GPR(0)
        ld      %r3, CPU_SCRATCH(%r13)
        ld      %r4, CPU_SCRATCH + 8(%r13)
        ld      %r5, CPU_SCRATCH + 16(%r13)
        mflr    %r6
        mfctr   %r7
        mfxer   %r8
        li      %r9, -1
        std     %r3, GPR(12)(%r11)
        std     %r4, GPR(11)(%r11)
        stw     %r5, FRAME_CR(%r11)
        std     %r6, FRAME_LR(%r11)
        std     %r7, FRAME_CTR(%r11)
        std     %r8, FRAME_XER(%r11)
        stw     %r9, FRAME_INTERRUPTED(%r11)
        mr      %r3, %r12
        mfspr   %r4, SPR_SRR1
        ld      %r2, CPU_TOC(%r13)
        ld      %r1, CPU_KERNEL_STACK(%r13)
        bl      trap_from_user
        b       return_to_user

/* On the stack, below the red zone: a frame of the ABI, then struct kernel_regs. */
#define TRAP(field)      (STACK_FRAME_BYTES + REGS_##field)
#define TRAP_GPR(n)      (TRAP(GPR) + 8 * (n))
#define TRAP_FRAME_BYTES (STACK_FRAME_BYTES + REGS_BYTES)
/* includes space for the first frames of C */
#define TRAP_RESERVE     (STACK_RED_ZONE + TRAP_FRAME_BYTES + 512)

/* Stores all but r11, r12, r13, NIP, MSR and CR; r11 becomes the stack pointer. */
.macro SAVE_KERNEL_REGS
        std     %r1, 0(%r11)
        SAVE    0, 10, %r11, TRAP_GPR(0)
        SAVE    14, 31, %r11, TRAP_GPR(0)
        mflr    %r3
        mfctr   %r4
        mfxer   %r5
        std     %r3, TRAP(LR)(%r11)
        std     %r4, TRAP(CTR)(%r11)
        std     %r5, TRAP(XER)(%r11)
        mr      %r1, %r11
        ld      %r2, CPU_TOC(%r13)
        addi    %r3, %r1, STACK_FRAME_BYTES
.endm

trap_kernel:
        ld      %r11, CPU_KERNEL_STACK(%r13)
        subf    %r11, %r1, %r11
        cmpldi  %r11, KERNEL_STACK_BYTES - TRAP_RESERVE
        addi    %r11, %r1, -(STACK_RED_ZONE + TRAP_FRAME_BYTES)
        ble     1f
        ld      %r11, CPU_SPECIAL_STACK(%r13)   /* the special one, if it is in use */
        subf    %r11, %r1, %r11
        cmpldi  %r11, SPECIAL_STACK_BYTES - TRAP_RESERVE
        addi    %r11, %r1, -(STACK_RED_ZONE + TRAP_FRAME_BYTES)
        ble     1f
        ld      %r11, CPU_SPECIAL_STACK(%r13)   /* the stack is full, or r1 is invalid */
        addi    %r11, %r11, -TRAP_FRAME_BYTES
1:      std     %r10, TRAP_GPR(10)(%r11)
        mfspr   %r10, SPR_SRR0
        std     %r10, TRAP(NIP)(%r11)
        mfspr   %r10, SPR_SRR1
        std     %r10, TRAP(MSR)(%r11)
        mfspr   %r10, SPR_SPRG1
        std     %r10, TRAP_GPR(13)(%r11)
trap_kernel_srr0_read:
        std     %r12, TRAP(VECTOR)(%r11)
        ld      %r12, CPU_SCRATCH(%r13)
        std     %r12, TRAP_GPR(12)(%r11)
        ld      %r12, CPU_SCRATCH + 8(%r13)
        std     %r12, TRAP_GPR(11)(%r11)
        ld      %r12, CPU_SCRATCH + 16(%r13)
        std     %r12, TRAP(CR)(%r11)
        ld      %r10, TRAP_GPR(10)(%r11)
        SAVE_KERNEL_REGS
        bl      trap_from_kernel
        .global trap_resume, trap_resume_end    /* can be repeated, except its last instruction */
/* arch_backtrace knows this address: the stack has a struct kernel_regs here */
trap_resume:
        ld      %r3, TRAP(NIP)(%r1)
        ld      %r4, TRAP(MSR)(%r1)
        ld      %r5, TRAP(LR)(%r1)
        ld      %r6, TRAP(CTR)(%r1)
        ld      %r7, TRAP(XER)(%r1)
        ld      %r8, TRAP(CR)(%r1)
        mtlr    %r5
        mtctr   %r6
        mtxer   %r7
        mtcr    %r8
        mtspr   SPR_SRR0, %r3
        mtspr   SPR_SRR1, %r4
        ld      %r0, TRAP_GPR(0)(%r1)
        LOAD    2, 31, %r1, TRAP_GPR(0)
        ld      %r1, TRAP_GPR(1)(%r1)
trap_resume_end:
        rfid
trap_resume_done:

/* System reset and machine check, with translation on again. The used part of the special stack is kept. */
trap_special_entry:
        ld      %r11, CPU_SPECIAL_STACK(%r13)
        subf    %r12, %r1, %r11
        cmpldi  %r12, SPECIAL_STACK_BYTES
        bge     1f
        addi    %r11, %r1, -STACK_RED_ZONE
1:      addi    %r11, %r11, -TRAP_FRAME_BYTES
        lwz     %r12, CPU_SPECIAL_SAVE(%r13)
        std     %r12, TRAP(VECTOR)(%r11)
        lwz     %r12, CPU_SPECIAL_SAVE + 4(%r13)
        std     %r12, TRAP(CR)(%r11)
        ld      %r12, CPU_SPECIAL_SAVE + 8(%r13)
        std     %r12, TRAP_GPR(11)(%r11)
        ld      %r12, CPU_SPECIAL_SAVE + 16(%r13)
        std     %r12, TRAP(NIP)(%r11)
        ld      %r12, CPU_SPECIAL_SAVE + 24(%r13)
        std     %r12, TRAP(MSR)(%r11)
        mfspr   %r12, SPR_SPRG1
        std     %r12, TRAP_GPR(12)(%r11)
        mfspr   %r12, SPR_SPRG2
        std     %r12, TRAP_GPR(13)(%r11)
        SAVE_KERNEL_REGS
        bl      trap_special
        b       trap_resume

/* Ranges where SRR0 has not been read yet and a system reset overwrites it: struct nip_range, for
 * trap_special. */
        .section .rodata
        .balign 8
        .global entry_windows, entry_windows_end
entry_windows:
        .quad   syscall_entry, syscall_srr0_read
        .quad   trap_common, trap_user_srr0_read
        .quad   trap_kernel, trap_kernel_srr0_read
        .quad   trap_resume_end, trap_resume_done
entry_windows_end:

        .section .note.GNU-stack, "", @progbits
