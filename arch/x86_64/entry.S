/*
 * arch/x86_64/entry.S - entries into the kernel and the exit to user mode.
 *
 * There is one kernel stack per CPU, empty whenever user mode runs. Entries store the user's registers in
 * cpu->current's frame and call C; exits load those of the thread that is then cpu->current.
 *
 *   syscall_entry        SYSCALL: as few instructions as possible, see the comment there
 *   trap stubs           exceptions and interrupts -> trap_common; from kernel mode (the idle loop's wait,
 *                        user copies) the registers go to the stack instead
 *   special stubs        NMI, double fault, machine check: may hit between any two instructions, even where
 *                        GS base is still the user's, so they have stacks of their own, with the address of
 *                        the CPU's struct cpu at the top
 *   return_to_user       the only exit
 *
 * In the kernel GS base is struct cpu; SWAPGS's other register has the user's.
 */
#include "offsets.h"
#include "x86.h"
#include <arch/list_site.S>
#include <tarn/error.h>
#include <tarn/syscall.h>

/* All registers of a frame but rax, rcx, r11 and rsp. */
.macro STORE_FRAME base
offset = FRAME_RDI
.irp register, rdi, rsi, rdx, r10, r8, r9, rbx, r12, r13, r14, r15, rbp
        movq    %\register, offset(\base)
offset = offset + 8
.endr
.endm

.macro LOAD_FRAME base
offset = FRAME_RDI
.irp register, rdi, rsi, rdx, r10, r8, r9, rbx, r12, r13, r14, r15, rbp
        movq    offset(\base), %\register
offset = offset + 8
.endr
.endm

/* ---- system calls --------------------------------------------------------------------------------- */

/* rax number, rdi rsi rdx r10 r8 r9 arguments; rcx and r11 have the user's rip and rflags. All others are
 * stored, because the handler may switch threads; also rax, so that a repeated call still has its number. The
 * user's stack pointer passes through cpu->scratch; rbp stays the user's, and arch_backtrace ends where a
 * chain leaves the kernel's stacks. */
        .text
        .global syscall_entry
        .balign 64
syscall_entry:
        swapgs
        movq    %rsp, %gs:CPU_SCRATCH
        movq    %gs:CPU_CURRENT, %rsp
        movq    %rcx, FRAME_RIP(%rsp)
        movq    %r11, FRAME_RFLAGS(%rsp)
        movq    %gs:CPU_SCRATCH, %rcx
        movq    %rcx, FRAME_RSP(%rsp)
        movq    %rax, FRAME_RAX(%rsp)
        STORE_FRAME %rsp
        movl    $0, FRAME_INTERRUPTED(%rsp)
        movq    %rsp, %rbx              /* the caller, which gets the result */
        movq    %gs:CPU_KERNEL_STACK, %rsp
        cmpq    $SYS_COUNT, %rax
        jae     syscall_unknown
0:      .byte   0xe9                    /* a site (port/trace_site.h), as it is linked: on */
        .long   syscall_traced - . - 4
        LIST_SITE syscall_traced, SYSCALL_SITE
        movq    %r10, %rcx
        call    *syscall_table(, %rax, 8)
syscall_result:
        cmpq    $1, %rax                /* overflows only for INT64_MIN: SYSCALL_NO_RESULT */
        jo      return_to_user
        movq    %rax, FRAME_RAX(%rbx)
        /* falls through */

/* Goes to user mode with the registers of cpu->current. */
return_to_user:
        cmpl    $0, %gs:CPU_NEED_RESCHED
        jne     leave_kernel
restore:
        movq    %gs:CPU_CURRENT, %rsp
        cmpl    $0, FRAME_INTERRUPTED(%rsp)
        jne     restore_interrupted
        /* SYSRET faults in kernel mode if rcx is not canonical. It always is: SYSCALL stored this rip, and
         * nothing executable lies at the end of the user half (USER_END). */
        movq    FRAME_RIP(%rsp), %rcx
        movq    FRAME_RFLAGS(%rsp), %r11
        movq    FRAME_RAX(%rsp), %rax
        LOAD_FRAME %rsp
        movq    FRAME_RSP(%rsp), %rsp
        swapgs
        sysretq

leave_kernel:
        call    kernel_exit
        jmp     restore

syscall_unknown:
        movq    $-E_BAD_SYSCALL, %rax
        jmp     syscall_result

syscall_traced:
        movq    %rbx, %rdi
        movq    %rax, %rsi
        call    syscall_call_traced
        jmp     syscall_result

/* void arch_return_to_user(void): drops the stack. */
        .global arch_return_to_user
arch_return_to_user:
        movq    %gs:CPU_KERNEL_STACK, %rsp
        xorl    %ebp, %ebp
        jmp     leave_kernel

/* Loads all registers with IRETQ, from a frame on the kernel's stack. */
restore_interrupted:
        movq    %rsp, %rax
        movq    %gs:CPU_KERNEL_STACK, %rsp
        pushq   $SELECTOR_USER_DATA
        pushq   FRAME_RSP(%rax)
        pushq   FRAME_RFLAGS(%rax)
        pushq   $SELECTOR_USER_CODE
        pushq   FRAME_RIP(%rax)
        movq    FRAME_RCX(%rax), %rcx
        movq    FRAME_R11(%rax), %r11
        LOAD_FRAME %rax
        movq    FRAME_RAX(%rax), %rax
        swapgs
        iretq

/* ---- logging -------------------------------------------------------------------------------------- */

/* The registers that a C function may change; 9 words. */
.macro PUSH_VOLATILE
.irp register, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
        pushq   %\register
.endr
.endm

.macro POP_VOLATILE
.irp register, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax
        popq    %\register
.endr
.endm

/* ARCH_CALL_ASIDE(function, rax) */
.macro ASIDE function
        .global aside_\function
aside_\function:
        pushq   %rbp
        movq    %rsp, %rbp
        PUSH_VOLATILE
        movq    %rax, %rdi
        movq    8(%rbp), %rsi
        call    \function
        POP_VOLATILE
        popq    %rbp
        ret
.endm

        ASIDE   spin_count_failed
        ASIDE   spin_note_tried
        ASIDE   spin_note_released

/* A block of the kernel asks for space (port/trace_block.h), by a call: it goes on where trace_asked() says. Only
 * the flags are lost. */
        .global trace_ask
trace_ask:
        PUSH_VOLATILE
        movq    9 * 8(%rsp), %rdi
        decq    %rdi                    /* in the block, wherever the call is */
        call    trace_asked
        movq    %rax, 9 * 8(%rsp)
        POP_VOLATILE
        ret

/* ---- exceptions and interrupts -------------------------------------------------------------------- */

/* On the stack: vector, error code, and what the CPU pushed. Offsets before anything else is pushed: */
#define TRAP_VECTOR 0
#define TRAP_ERROR  8
#define TRAP_RIP    16
#define TRAP_CS     24
#define TRAP_RFLAGS 32
#define TRAP_RSP    40

/* The user may have set the direction flag, and AC, which would disable SMAP. */
trap_common:
        cld
        clac
        testb   $3, TRAP_CS(%rsp)
        jz      trap_kernel
        swapgs
        pushq   %rax
        movq    %gs:CPU_CURRENT, %rax
        popq    FRAME_RAX(%rax)
        movq    %rcx, FRAME_RCX(%rax)
        movq    %r11, FRAME_R11(%rax)
        STORE_FRAME %rax
        movq    TRAP_RIP(%rsp), %rcx
        movq    TRAP_RFLAGS(%rsp), %rdx
        movq    TRAP_RSP(%rsp), %rsi
        movq    %rcx, FRAME_RIP(%rax)
        movq    %rdx, FRAME_RFLAGS(%rax)
        movq    %rsi, FRAME_RSP(%rax)
        movl    $1, FRAME_INTERRUPTED(%rax)
        popq    %rdi
        popq    %rsi
        movq    %gs:CPU_KERNEL_STACK, %rsp
        xorl    %ebp, %ebp
        call    trap_from_user
        jmp     return_to_user

/* struct kernel_regs */
.macro PUSH_ALL
.irp register, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
        pushq   %\register
.endr
.endm

.macro POP_ALL
.irp register, r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax
        popq    %\register
.endr
        addq    $16, %rsp               /* vector, error code */
.endm

trap_kernel:
        PUSH_ALL
        movq    %rsp, %rdi
        call    trap_from_kernel
        .global trap_resume, trap_special_resume
/* arch_trap_calls knows this address: a struct kernel_regs lies above it */
trap_resume:
        POP_ALL
        iretq

/* The address of struct cpu lies right above what the CPU pushed: 22 words above the struct kernel_regs. */
trap_on_own_stack:
        cld
        clac
        PUSH_ALL
        rdgsbase %rbx
        movq    22 * 8(%rsp), %rax
        wrgsbase %rax
        movq    %rsp, %rdi
        call    trap_special
trap_special_resume:                    /* the same */
        wrgsbase %rbx
        POP_ALL
        iretq

/* 256 stubs of 16 bytes each. */
        .balign 16
        .global trap_stubs
trap_stubs:
vector = 0
.rept 256
        .balign 16
    .if !(vector == 8 || vector == 10 || vector == 11 || vector == 12 || vector == 13 || vector == 14 || vector == 17 || vector == 21)
        pushq   $0
    .endif
        pushq   $vector
    .if vector == VECTOR_NMI || vector == VECTOR_DOUBLE_FAULT || vector == VECTOR_MACHINE_CHECK
        jmp     trap_on_own_stack
    .else
        jmp     trap_common
    .endif
vector = vector + 1
.endr

        .section .note.GNU-stack, "", @progbits
