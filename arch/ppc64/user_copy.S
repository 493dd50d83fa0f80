/*
 * arch/ppc64/user_copy.S - arch/user.h: the only instructions of the kernel that access user memory. AMR
 * allows it only here.
 *
 * trap_from_kernel() handles a fault between the labels named in .fixups: if it can bring the page in, the
 * instruction is repeated (all its state is in registers), otherwise execution continues at `landing`.
 */
#include "ppc64.h"
#include <arch/fixup.h>
#include <tarn/error.h>

/* Returns an error unless [start, start + size) lies below USER_END, 3 << 45 (tarn/abi.h; trap.c asserts it). */
.macro CHECK_RANGE start, size
        li      %r9, 3
        sldi    %r9, %r9, 45
        cmpld   \size, %r9
        subf    %r9, \size, %r9
        cmpld   %cr1, \start, %r9
        bgt     bad_address
        bgt     %cr1, bad_address
.endm

.macro OPEN
        li      %r9, 0
        mtspr   SPR_AMR, %r9
        isync
.endm

.macro CLOSE
        li      %r9, 3                  /* AMR_USER_DENIED */
        sldi    %r9, %r9, 62
        mtspr   SPR_AMR, %r9
        isync
.endm

/* r3 to, r4 from, r5 size: copies words of any alignment, then the rest. */
.macro COPY
        srdi.   %r6, %r5, 3
        mtocrf  0x01, %r5               /* CR bits 29..31: 4, 2, 1 bytes left */
        mtctr   %r6
        OPEN
1:      beq     3f
        addi    %r3, %r3, -8
        addi    %r4, %r4, -8
2:      ldu     %r7, 8(%r4)
        stdu    %r7, 8(%r3)
        bdnz    2b
        addi    %r3, %r3, 8
        addi    %r4, %r4, 8
3:      bf      29, 4f
        lwz     %r7, 0(%r4)
        stw     %r7, 0(%r3)
        addi    %r3, %r3, 4
        addi    %r4, %r4, 4
4:      bf      30, 5f
        lhz     %r7, 0(%r4)
        sth     %r7, 0(%r3)
        addi    %r3, %r3, 2
        addi    %r4, %r4, 2
5:      bf      31, 6f
        lbz     %r7, 0(%r4)
        stb     %r7, 0(%r3)
6:      CLOSE
        li      %r3, 0
        blr
        FIXUP(1b, 6b, landing)
.endm

        .machine power9
        .text
/* int arch_copy_from_user(void *to, const void *user_from, uint64_t size) */
        .global arch_copy_from_user
arch_copy_from_user:
        CHECK_RANGE %r4, %r5
        COPY

/* int arch_copy_to_user(void *user_to, const void *from, uint64_t size) */
        .global arch_copy_to_user
arch_copy_to_user:
        CHECK_RANGE %r3, %r5
        COPY

/* int arch_load_user_word(uint32_t *value, const uint32_t *user_from) */
        .global arch_load_user_word
arch_load_user_word:
        li      %r5, 4
        CHECK_RANGE %r4, %r5
        OPEN
1:      lwz     %r7, 0(%r4)
2:      CLOSE
        stw     %r7, 0(%r3)
        li      %r3, 0
        blr
        FIXUP(1b, 2b, landing)

landing:
        CLOSE
bad_address:
        li      %r3, -E_BAD_ADDRESS
        blr

        .section .note.GNU-stack, "", @progbits
