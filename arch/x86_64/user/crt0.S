/*
 * arch/x86_64/user/crt0.S - the first instructions of a program.
 *
 * A frame pointer of zero ends call chains here.
 */

    .text

/* The program's first thread: rdi = struct startup *. Continues in start_program (libc-glue/tarn/start.c). */
    .globl _start
    .type _start, @function
_start:
    xorl %ebp, %ebp
    andq $-16, %rsp
    call start_program
    ud2
    .size _start, . - _start

    .section .note.GNU-stack, "", @progbits
