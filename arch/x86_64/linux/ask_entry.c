/*
 * arch/x86_64/linux/ask_entry.c - the call by which a block asks for space: saves all registers.
 *
 * The return address lies in the block's cell. host_ask() (tests/peers/ask.c) says where the block goes on,
 * at the cell's begin or at its end.
 */
#include <arch/trace.h>

void port_host_ask(void);

__attribute__((naked)) void port_host_ask(void)
{
    __asm__("pushq %rax\n\t"
            "pushq %rcx\n\t"
            "pushq %rdx\n\t"
            "pushq %rsi\n\t"
            "pushq %rdi\n\t"
            "pushq %r8\n\t"
            "pushq %r9\n\t"
            "pushq %r10\n\t"
            "pushq %r11\n\t"
            "pushq %rbp\n\t"
            "movq %rsp, %rbp\n\t"
            "subq $512, %rsp\n\t"
            "andq $-16, %rsp\n\t"
            "fxsave64 (%rsp)\n\t" /* no code below uses more than these registers */
            "movq 80(%rbp), %rdi\n\t"
            "call host_ask\n\t"
            "fxrstor64 (%rsp)\n\t"
            "movq %rbp, %rsp\n\t"
            "movq %rax, 80(%rbp)\n\t"
            "popq %rbp\n\t"
            "popq %r11\n\t"
            "popq %r10\n\t"
            "popq %r9\n\t"
            "popq %r8\n\t"
            "popq %rdi\n\t"
            "popq %rsi\n\t"
            "popq %rdx\n\t"
            "popq %rcx\n\t"
            "popq %rax\n\t"
            "ret $128"); /* the bytes that the block has taken off the stack */
}
