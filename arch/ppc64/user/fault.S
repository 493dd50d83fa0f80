/* arch/ppc64/user/fault.S - a program that only faults, for user/bench/micro.c. It is copied into a space of
 * its own, so it is position-independent and uses no memory. */
    .abiversion 2
    .text
    .globl fault_forever
    .type fault_forever, @function
fault_forever:
    li %r3, 0x1000
1:  ld %r4, 0(%r3)
    b 1b
    .size fault_forever, . - fault_forever

    .section .note.GNU-stack, "", @progbits
