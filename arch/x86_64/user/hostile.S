/* arch/x86_64/user/hostile.S - instructions that a program must not be able to execute, or must not harm
 * others with, for tests/guest/fuzz_instructions.c: pieces of code of 16 bytes each that end in a trap. rdi =
 * the test's argument, rsp = a stack. */
.macro TRY instructions:vararg
.irp instruction, \instructions
    \instruction
    .balign 16, 0xcc                        /* int3 */
.endr
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
    TRY "int3", "ud2", "syscall", "sysenter", "sysretq", "sysretl", "sysexitl", "iretq", "lretq"
    TRY "pushq %rdi; iretq", "pushq %rdi; popfq; nop; nop", "pushq %rdi; popfq; syscall"
    TRY "pushq $0x40302; popfq; syscall"      /* trap flag, direction, alignment check */
    TRY "pushq $0x302; popfq; ud2", "movw %di, %ss; syscall", "movw %di, %ds", "movw %di, %es"
    TRY "movw %di, %fs", "movw %di, %gs", "movl $0x23, %eax; movw %ax, %gs; syscall"
    TRY "movl $0x1b, %eax; movw %ax, %ss; syscall", "wrgsbase %rdi; syscall", "wrfsbase %rdi; syscall"
    TRY "wrgsbase %rdi; ud2", "swapgs"

    /* Machine state. */
    TRY "hlt", "cli", "sti", "clts", "invd", "wbinvd", "invlpg (%rdi)", "lgdt (%rsp)", "lidt (%rsp)"
    TRY "lldt %di", "ltr %di", "sgdt -64(%rsp)", "sidt -64(%rsp)", "sldt %eax", "str %eax", "smsw %eax"
    TRY "lmsw %di", "movq %rdi, %cr0", "movq %rdi, %cr2", "movq %rdi, %cr3", "movq %rdi, %cr4"
    TRY "movq %rdi, %cr8", "movq %rdi, %dr0", "movq %rdi, %dr7", "movl $0xc0000080, %ecx; wrmsr"
    TRY "movl $0xc0000102, %ecx; wrmsr", "rdmsr", "rdpmc", "rdtscp", "xsetbv", "xgetbv", "vmcall", "vmmcall"
    TRY "vmrun", "skinit", "monitor", "mwait", "pause", "cpuid", "clac", "stac", "rsm", "inb $0x64, %al"
    TRY "outb %al, $0xf4", "movl $0xcf9, %edx; outb %al, %dx", "insb", "outsb"

    /* Floating point, unaligned addresses. */
    TRY "fldcw (%rsp); fld1; fldz; fdivrp; fwait", "ldmxcsr (%rsp)", "pushq %rdi; ldmxcsr (%rsp)"
    TRY "movaps 8(%rsp), %xmm0", "fxrstor64 1(%rsp)", "movq %rdi, %rsp; pushq %rax"
    TRY "movq %rdi, %rsp; syscall", "jmp *%rdi", "movq %rdi, %rcx; .byte 0xe3, 0x00"
hostile_end:

    .section .note.GNU-stack, "", @progbits
