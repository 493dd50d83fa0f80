/*
 * arch/ppc64/user/crt0.S - the first instructions of a program.
 *
 * The kernel starts a thread with r12 = entry, as the ABI requires for calls from outside: r2 is computed
 * from it. A back chain of zero ends call chains here.
 */
#define FRAME_BYTES 32

    .abiversion 2
    .text

/* The program's first thread: r3 = struct startup *. Continues in start_program (libc-glue/tarn/start.c). */
    .globl _start
    .type _start, @function
_start:
    addis %r2, %r12, (.TOC. - _start)@ha
    addi %r2, %r2, (.TOC. - _start)@l
    clrrdi %r1, %r1, 4
    li %r0, 0
    stdu %r0, -FRAME_BYTES(%r1)
    bl start_program
    nop
    trap
    .size _start, . - _start

    .section .note.GNU-stack, "", @progbits
