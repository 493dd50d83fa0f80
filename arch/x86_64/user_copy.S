/*
 * arch/x86_64/user_copy.S - arch/user.h: the only instructions of the kernel that access user memory.
 *
 * trap_from_kernel() handles a fault between the labels named in .fixups: if it can bring the page in, the
 * instruction is repeated (all its state is in registers), otherwise execution continues at `landing`.
 */
#include <arch/fixup.h>
#include <tarn/error.h>

#define USER_END 0x600000000000 /* as in tarn/abi.h; trap.c asserts it */

/* Returns an error unless [start, start + size) lies below USER_END. */
.macro CHECK_RANGE start, size
        movabsq $USER_END, %rax
        cmpq    %rax, \size
        ja      bad_address
        subq    \size, %rax
        cmpq    %rax, \start
        ja      bad_address
.endm

.macro COPY
        movq    %rdx, %rcx
        shrq    $3, %rcx
        andl    $7, %edx
        stac
1:      rep movsq
        movl    %edx, %ecx
        rep movsb
2:      clac
        xorl    %eax, %eax
        ret
        FIXUP(1b, 2b, landing)
.endm

        .text
/* int arch_copy_from_user(void *to, const void *user_from, uint64_t size) */
        .global arch_copy_from_user
arch_copy_from_user:
        CHECK_RANGE %rsi, %rdx
        COPY

/* int arch_copy_to_user(void *user_to, const void *from, uint64_t size) */
        .global arch_copy_to_user
arch_copy_to_user:
        CHECK_RANGE %rdi, %rdx
        COPY

/* int arch_load_user_word(uint32_t *value, const uint32_t *user_from) */
        .global arch_load_user_word
arch_load_user_word:
        movl    $4, %edx
        CHECK_RANGE %rsi, %rdx
        stac
1:      movl    (%rsi), %ecx
2:      clac
        movl    %ecx, (%rdi)
        xorl    %eax, %eax
        ret
        FIXUP(1b, 2b, landing)

landing:
        clac
bad_address:
        movl    $-E_BAD_ADDRESS, %eax
        ret

        .section .note.GNU-stack, "", @progbits
