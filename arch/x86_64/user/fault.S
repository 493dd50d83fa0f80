/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/x86_64/user/fault.S - code that faults, for benchmarks and tests to copy into a space of its own.
 */
    .text

/* Loads from address 0x1000, for ever. At most 64 bytes, and runs anywhere. */
    .globl fault_forever
    .type fault_forever, @function
fault_forever:
    movq 0x1000, %rax
    jmp fault_forever
    .size fault_forever, . - fault_forever
    .skip 64

    .section .note.GNU-stack, "", @progbits
