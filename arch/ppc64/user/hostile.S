/* arch/ppc64/user/hostile.S - instructions that a program must not be able to execute, or must not harm
 * others with, for tests/guest/fuzz_instructions.c: pieces of code of 16 bytes each that end in a trap. r3 =
 * the test's argument, r1 = a stack, r12 = the piece's own address. */
    .machine power9
    .abiversion 2

.macro TRY instructions:vararg
.irp instruction, \instructions
    \instruction
    .balignl 16, 0x7fe00008         /* trap */
.endr
.endm

    .text
    .balign 16
    .globl hostile_start, hostile_end
hostile_start:
    /* Calls to the kernel, the hypervisor and higher; returns from there. */
number = 0
.rept 128
    TRY ".long 0x44000002 | number << 5"      /* sc */
    TRY ".long 0x44000001 | number << 5"      /* scv */
number = number + 1
.endr
    TRY "rfid", "hrfid"
    TRY ".long 0x4c0000a4"                    /* rfscv */
    TRY ".long 0x4c000124"                    /* rfebb */
    TRY ".long 0x4c0002e4"                    /* stop */
    TRY ".long 0x00000200"                    /* attn */

    /* Machine state, translation, caches. */
    TRY "mfmsr %r4", "mtmsrd %r3", "mtmsrd %r3, 1", "mtmsr %r3"
    TRY ".long 0x7c001a64 | 3 << 11"          /* tlbie */
    TRY ".long 0x7c001a24"                    /* tlbiel */
    TRY ".long 0x7c00046c"                    /* tlbsync */
    TRY "slbia", "slbmte %r3, %r3", "slbie %r3", "ptesync"
    TRY ".long 0x7c00191c"                    /* msgsnd */
    TRY ".long 0x7c00191c ^ 0x80"             /* msgsndp and neighbours */
    TRY ".long 0x7c0003ac"                    /* dcbi */
    TRY "dcbz 0, %r3", "dcbz 0, %r1", "icbi 0, %r3"
    TRY ".long 0x7c001eaa | 3 << 21"          /* lbzcix */
    TRY ".long 0x7c601eea"                    /* ldcix */
    TRY ".long 0x7c601fea"                    /* stdcix */

    /* Reservations, wide and atomic accesses, also at unaligned addresses. */
    TRY "ldarx %r4, 0, %r3", "stdcx. %r4, 0, %r3", "ldarx %r4, 0, %r1"
    TRY ".long 0x7c800a28 | 4 << 21"          /* lqarx */
    TRY "lq %r4, 0(%r1)", "stq %r4, -64(%r1)", "lmw %r4, 0(%r1)", "stmw %r4, -128(%r1)", "lswi %r4, %r1, 32"
    TRY ".long 0x7c801c8c"                    /* lwat and neighbours */
    TRY ".long 0x7c801ccc"
    TRY ".long 0x7c20060c | 3 << 11"          /* copy */
    TRY ".long 0x7c20070d | 3 << 11"          /* paste. */
    TRY ".long 0x7c00068c"                    /* cp_abort */

    /* Disabled facilities; rounding and exceptions of enabled ones. */
    TRY ".long 0x7c00051d"                    /* tbegin. */
    TRY ".long 0x7c00055d"                    /* tend. */
    TRY ".long 0x10000484"                    /* vor */
    TRY ".long 0xf0000494"                    /* xxlor and neighbours */
    TRY ".long 0x7c000166"                    /* mtvsrd */
    TRY "mtfsb1 24", "mtfsfi 7, 15", "fdiv %f1, %f1, %f1", "fsqrt %f0, %f0"
    TRY ".long 0x7c8105e6"                    /* darn */
    TRY ".long 0x7c00003c"                    /* wait */
    TRY ".long 0x7c20003c", "mr %r13, %r3", "mr %r1, %r3", "mtlr %r3; blr", "mtctr %r3; bctr"

    /* Every special-purpose register, including the target address register and the trace's. */
number = 0
.rept 1024
    TRY ".long 0x7c6003a6 | (number & 31) << 16 | (number >> 5) << 11"     /* mtspr number, r3 */
    TRY ".long 0x7c8002a6 | (number & 31) << 16 | (number >> 5) << 11"     /* mfspr r4, number */
number = number + 1
.endr
hostile_end:

    .section .note.GNU-stack, "", @progbits
