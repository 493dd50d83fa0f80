/*
 * arch/x86_64/start.S - from the boot loader's 32-bit mode to C.
 *
 * It has three entries: multiboot2_entry (GRUB), pvh_entry (QEMU -kernel; found by the ELF note), and the
 * trampoline that arch_start_cpu() copies below 1 MiB for other CPUs. All lead to enter_long_mode, which uses
 * the boot tables: 4 GiB of memory at 0, at ARCH_DIRECT_MAP, and its first GiB at ARCH_KERNEL_BASE.
 * boot_mmu_init() replaces them by tables with proper rights; other CPUs start on them again.
 */
#include "offsets.h"
#include "x86.h"

#define KERNEL_BASE 0xffffffff80000000
#define PHYSICAL(symbol) ((symbol) - KERNEL_BASE)

#define BOOT_PVH        1
#define BOOT_MULTIBOOT2 2
#define BOOT_SECONDARY  3

#define SELECTOR_START_CODE 0x18 /* of boot_gdt: 32 bits */

#define PTE_TABLE 0x003 /* present, writable */
#define PTE_LARGE 0x083 /* the same, 2 MiB */

/* GS base := rax. Changes ecx, edx. */
.macro SET_GS_BASE
        movq    %rax, %rdx
        shrq    $32, %rdx
        movl    $MSR_GS_BASE, %ecx
        wrmsr
.endm

/* ---- headers that boot loaders look for ----------------------------------------------------------- */

        .section .multiboot2, "a"
        .balign 8
multiboot2_header:
        .long   0xe85250d6, 0, multiboot2_end - multiboot2_header
        .long   -(0xe85250d6 + (multiboot2_end - multiboot2_header))
        .word   3, 0                    /* entry address */
        .long   12, PHYSICAL(multiboot2_entry), 0
        .word   6, 0                    /* modules page-aligned */
        .long   8
        .word   0, 0
        .long   8
multiboot2_end:

        .section .note.pvh, "a", @note
        .balign 4
        .long   4, 8, 18                /* XEN_ELFNOTE_PHYS32_ENTRY */
        .asciz  "Xen"
        .quad   PHYSICAL(pvh_entry)

/* ---- 32 bits -------------------------------------------------------------------------------------- */

        .section .text.start, "ax"
        .code32
        .global pvh_entry, multiboot2_entry
pvh_entry:
        movl    $BOOT_PVH, %edi
        jmp     1f
multiboot2_entry:
        movl    $BOOT_MULTIBOOT2, %edi
1:      cld
        movl    %ebx, %ebp              /* the boot loader's information; CPUID overwrites ebx */
        movl    $0x80000000, %eax
        cpuid
        cmpl    $0x80000001, %eax
        jb      no_long_mode
        movl    $0x80000001, %eax
        cpuid
        andl    $(1 << 29 | 1 << 20), %edx
        cmpl    $(1 << 29 | 1 << 20), %edx
        jne     no_long_mode

        movl    $PHYSICAL(boot_pd), %ebx        /* 4 GiB in pages of 2 MiB */
        movl    $PTE_LARGE, %eax
        movl    $(4 * 512), %ecx
1:      movl    %eax, (%ebx)
        addl    $0x200000, %eax
        addl    $8, %ebx
        loop    1b
        movl    $(PHYSICAL(boot_pd) + PTE_TABLE), %eax
        movl    %eax, PHYSICAL(boot_pdpt)
        movl    %eax, PHYSICAL(boot_pdpt_kernel) + 510 * 8
        addl    $0x1000, %eax
        movl    %eax, PHYSICAL(boot_pdpt) + 8
        addl    $0x1000, %eax
        movl    %eax, PHYSICAL(boot_pdpt) + 16
        addl    $0x1000, %eax
        movl    %eax, PHYSICAL(boot_pdpt) + 24
        movl    $(PHYSICAL(boot_pdpt) + PTE_TABLE), %eax
        movl    %eax, PHYSICAL(boot_pml4)
        movl    %eax, PHYSICAL(boot_pml4) + 256 * 8
        movl    $(PHYSICAL(boot_pdpt_kernel) + PTE_TABLE), %eax
        movl    %eax, PHYSICAL(boot_pml4) + 511 * 8
        /* falls through */

/* edi: which entry; ebp: its argument */
enter_long_mode:
        movl    $CR4_PAE, %eax
        movl    %eax, %cr4
        movl    $PHYSICAL(boot_pml4), %eax
        movl    %eax, %cr3
        movl    $MSR_EFER, %ecx
        xorl    %edx, %edx
        movl    $(EFER_LME | EFER_NXE | EFER_SCE), %eax
        wrmsr
        movl    $(CR0_PG | CR0_WP | CR0_NE | CR0_MP | CR0_PE), %eax
        movl    %eax, %cr0
        lgdtl   PHYSICAL(boot_gdt_pointer)
        ljmpl   $SELECTOR_KERNEL_CODE, $PHYSICAL(long_mode_low)

no_long_mode:
        movl    $PHYSICAL(no_long_mode_text), %esi
1:      movw    $0x3fd, %dx
        inb     %dx, %al
        testb   $0x20, %al
        jz      1b
        lodsb
        testb   %al, %al
        jz      2f
        movw    $0x3f8, %dx
        outb    %al, %dx
        jmp     1b
2:      cli
        hlt
        jmp     2b

/* ---- 64 bits -------------------------------------------------------------------------------------- */

        .code64
long_mode_low:
        movq    $long_mode, %rax
        jmp     *%rax
long_mode:
        xorl    %eax, %eax
        movl    %eax, %ds
        movl    %eax, %es
        movl    %eax, %ss
        movl    %eax, %fs
        movl    %eax, %gs
        cmpl    $BOOT_SECONDARY, %edi
        je      secondary_start

        movl    %edi, %r8d
        movq    $cpus, %rax
        SET_GS_BASE
        movq    %rax, %gs:0             /* block.self */
        movq    $boot_stack + KERNEL_STACK_BYTES, %rsp
        movl    %r8d, %edi
        movl    %ebp, %esi
        xorl    %ebp, %ebp
        call    boot_start
        ud2

/* Finds this CPU's struct cpu by the hardware number that CPUID returns. Any number of CPUs may do this at
 * once. */
secondary_start:
        movl    $1, %eax
        cpuid
        shrl    $24, %ebx
        xorl    %edi, %edi
        movq    $cpus, %rax
1:      cmpl    %ebx, boot_info + BOOT_INFO_HARDWARE_ID(, %rdi, 4)
        je      2f
        addq    $CPU_SIZE, %rax
        incl    %edi
        cmpl    boot_info + BOOT_INFO_CPU_COUNT, %edi
        jb      1b
3:      cli                             /* the kernel did not start this one */
        hlt
        jmp     3b
2:      movq    arch_kernel_space, %rcx /* the stack may lie outside the boot tables' 4 GiB */
        movq    (%rcx), %rcx
        movq    %rcx, %cr3
        movq    CPU_KERNEL_STACK(%rax), %rsp
        SET_GS_BASE
        xorl    %ebp, %ebp
        call    boot_secondary
        ud2

/* ---- trampoline: offset 0 of a page below 1 MiB, real mode ---------------------------------------- */

        .section .rodata.trampoline, "a"
        .code16
        .global trampoline_start, trampoline_end
trampoline_start:
        cli
        cld
        movw    %cs, %ax                /* segment = page: the addresses below are relative to its start */
        movw    %ax, %ds
        lgdtl   trampoline_gdt_pointer - trampoline_start
        movl    $CR0_PE, %eax
        movl    %eax, %cr0
        ljmpl   $SELECTOR_START_CODE, $PHYSICAL(secondary_entry)
        .balign 4
trampoline_gdt_pointer:
        .word   boot_gdt_end - boot_gdt - 1
        .long   PHYSICAL(boot_gdt)
trampoline_end:

        .section .text.start, "ax"
        .code32
secondary_entry:
        movl    $SELECTOR_KERNEL_DATA, %eax
        movl    %eax, %ds
        movl    %eax, %es
        movl    %eax, %ss
        movl    $BOOT_SECONDARY, %edi
        jmp     enter_long_mode

/* ---- data ----------------------------------------------------------------------------------------- */

        .section .rodata.start, "a"
no_long_mode_text:
        .asciz  "Tarn needs a 64-bit x86 processor with no-execute pages.\r\n"
        .balign 8
boot_gdt:
        .quad   0
        .quad   0x00af9b000000ffff      /* kernel code, 64 bits */
        .quad   0x00cf93000000ffff      /* data */
        .quad   0x00cf9b000000ffff      /* code, 32 bits: for the trampoline */
boot_gdt_end:
boot_gdt_pointer:
        .word   boot_gdt_end - boot_gdt - 1
        .long   PHYSICAL(boot_gdt)

        .section .bss.start, "aw", @nobits
        .balign 4096
boot_pml4:
        .skip   4096
boot_pdpt:
        .skip   4096
boot_pdpt_kernel:
        .skip   4096
boot_pd:
        .skip   4 * 4096
        .global boot_stack_guard, boot_stack
boot_stack_guard:       /* boot_mmu_init does not map it */
        .skip   4096
boot_stack:
        .skip   CPU_STACKS_BYTES

        .section .note.GNU-stack, "", @progbits
