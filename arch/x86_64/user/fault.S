/* arch/x86_64/user/fault.S - a program that only faults, for user/bench/micro.c. It is copied into a space of
 * its own, so it is position-independent and uses no memory. */
    .text
    .globl fault_forever
    .type fault_forever, @function
fault_forever:
    movq $0x1000, %rax
1:  movq (%rax), %rcx
    jmp 1b
    .size fault_forever, . - fault_forever

    .section .note.GNU-stack, "", @progbits
