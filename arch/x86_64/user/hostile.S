/* SPDX-License-Identifier: BSD-2-Clause */
/* arch/x86_64/user/hostile.S - instructions that a program must not be able to execute, or must not harm
 * others with, for tests/guest/fuzz_instructions.c: pieces of code of 16 bytes each that end in a trap. rdi =
 * the test's argument, rsp = a stack. */
.macro TRY instruction
    \instruction
    .balign 16, 0xcc                        /* int3 */
.endm

    .text
    .balign 16
    .globl hostile_start, hostile_end
hostile_start:
number = 0
.rept 256
    TRY ".byte 0xcd, number"                  /* int number */
number = number + 1
.endr
    TRY ".byte 0xf1"                          /* int1 */
    TRY "int3"
    TRY "ud2"
    TRY "syscall"
    TRY "sysenter"
    TRY "sysretq"
    TRY "sysretl"
    TRY "sysexitl"
    TRY "iretq"
    TRY "lretq"
    TRY "pushq %rdi; iretq"
    TRY "pushq %rdi; popfq; nop; nop"
    TRY "pushq %rdi; popfq; syscall"
    TRY "pushq $0x40302; popfq; syscall"      /* trap flag, direction, alignment check */
    TRY "pushq $0x302; popfq; ud2"
    TRY "movw %di, %ss; syscall"
    TRY "movw %di, %ds"
    TRY "movw %di, %es"
    TRY "movw %di, %fs"
    TRY "movw %di, %gs"
    TRY "movl $0x23, %eax; movw %ax, %gs; syscall"
    TRY "movl $0x1b, %eax; movw %ax, %ss; syscall"
    TRY "wrgsbase %rdi; syscall"
    TRY "wrfsbase %rdi; syscall"
    TRY "wrgsbase %rdi; ud2"
    TRY "swapgs"

    /* Machine state. */
    TRY "hlt"
    TRY "cli"
    TRY "sti"
    TRY "clts"
    TRY "invd"
    TRY "wbinvd"
    TRY "invlpg (%rdi)"
    TRY "lgdt (%rsp)"
    TRY "lidt (%rsp)"
    TRY "lldt %di"
    TRY "ltr %di"
    TRY "sgdt -64(%rsp)"
    TRY "sidt -64(%rsp)"
    TRY "sldt %eax"
    TRY "str %eax"
    TRY "smsw %eax"
    TRY "lmsw %di"
    TRY "movq %rdi, %cr0"
    TRY "movq %rdi, %cr2"
    TRY "movq %rdi, %cr3"
    TRY "movq %rdi, %cr4"
    TRY "movq %rdi, %cr8"
    TRY "movq %rdi, %dr0"
    TRY "movq %rdi, %dr7"
    TRY "movl $0xc0000080, %ecx; wrmsr"
    TRY "movl $0xc0000102, %ecx; wrmsr"
    TRY "rdmsr"
    TRY "rdpmc"
    TRY "rdtscp"
    TRY "xsetbv"
    TRY "xgetbv"
    TRY "vmcall"
    TRY "vmmcall"
    TRY "vmrun"
    TRY "skinit"
    TRY "monitor"
    TRY "mwait"
    TRY "pause"
    TRY "cpuid"
    TRY "clac"
    TRY "stac"
    TRY "rsm"
    TRY "inb $0x64, %al"
    TRY "outb %al, $0xf4"
    TRY "movl $0xcf9, %edx; outb %al, %dx"
    TRY "insb"
    TRY "outsb"

    /* Floating point, unaligned addresses. */
    TRY "fldcw (%rsp); fld1; fldz; fdivrp; fwait"
    TRY "ldmxcsr (%rsp)"
    TRY "pushq %rdi; ldmxcsr (%rsp)"
    TRY "movaps 8(%rsp), %xmm0"
    TRY "fxrstor64 1(%rsp)"
    TRY "movq %rdi, %rsp; pushq %rax"
    TRY "movq %rdi, %rsp; syscall"
    TRY "jmp *%rdi"
    TRY "movq %rdi, %rcx; .byte 0xe3, 0x00"
hostile_end:

    .section .note.GNU-stack, "", @progbits
