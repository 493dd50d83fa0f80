/*
 * arch/x86_64/cpu.c - one CPU's descriptor tables, control registers and stacks; starting the others.
 *
 * cpu_prepare() fills the struct cpu of a CPU before it runs, cpu_load() loads it into the registers of that
 * CPU. All CPUs share the interrupt table; the boot CPU writes it once.
 */
#include "port.h"
#include "x86.h"
#include <arch/machine.h>
#include <arch/page_table.h>
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <stddef.h>
#include <tarn/error.h>

_Static_assert(sizeof(struct arch_tss) == 104, "as the processor reads it");

/* ---- features ------------------------------------------------------------------------------------- */

struct feature {
    const char *name;
    uint32_t leaf;
    uint8_t reg, bit; /* 0..3: eax, ebx, ecx, edx */
};
static const struct feature needed[] = {
    {"APIC", 1, 3, 9},         {"PGE", 1, 3, 13},
    {"FXSR", 1, 3, 24},        {"SSE2", 1, 3, 26},
    {"TSC", 1, 3, 4},          {"FSGSBASE", 7, 1, 0},
    {"SMEP", 7, 1, 7},         {"SMAP", 7, 1, 20},
    {"UMIP", 7, 2, 2},         {"SYSCALL", 0x80000001, 3, 11},
    {"NX", 0x80000001, 3, 20},
};

/* A feature is missing if its leaf is above the highest one: CPUID returns nothing meaningful there. */
static bool has_feature(const struct feature *feature)
{
    if (read_cpuid(feature->leaf & 0x80000000).a < feature->leaf)
        return false;
    struct cpuid r = read_cpuid(feature->leaf);
    uint32_t registers[4] = {r.a, r.b, r.c, r.d};
    return registers[feature->reg] >> feature->bit & 1;
}

void cpu_check_features(void)
{
    bool missing = false;
    for (unsigned i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        if (!has_feature(&needed[i])) {
            boot_print(missing ? " " : "tarn: this processor lacks what the kernel needs: ");
            boot_print(needed[i].name);
            missing = true;
        }
    if (!missing)
        return;
    boot_print("\n(under QEMU: -cpu max)\n");
    arch_shutdown(1);
}

/* ---- descriptor tables ---------------------------------------------------------------------------- */

struct gate {
    uint16_t offset_low, selector;
    uint8_t ist, type;
    uint16_t offset_middle;
    uint32_t offset_high, reserved;
};
_Static_assert(sizeof(struct gate) == 16, "as the processor reads it");
static struct gate idt[256] __attribute__((aligned(4096)));

struct __attribute__((packed)) table_pointer {
    uint16_t limit;
    uint64_t base;
};

extern const char trap_stubs[]; /* entry.S: 256 times 16 bytes */

static void fill_idt(void)
{
    for (unsigned i = 0; i < 256; i++) {
        uint64_t stub = (uint64_t)trap_stubs + 16 * i;
        idt[i] = (struct gate){.offset_low = (uint16_t)stub,
                               .selector = SELECTOR_KERNEL_CODE,
                               /* also for int3 from user mode */
                               .type = i == VECTOR_BREAKPOINT ? 0xee : 0x8e,
                               .offset_middle = (uint16_t)(stub >> 16),
                               .offset_high = (uint32_t)(stub >> 32)};
    }
    idt[VECTOR_NMI].ist = IST_NMI;
    idt[VECTOR_DOUBLE_FAULT].ist = IST_DOUBLE_FAULT;
    idt[VECTOR_MACHINE_CHECK].ist = IST_MACHINE_CHECK;
}

static void fill_gdt(struct arch_cpu *arch)
{
    uint64_t tss = (uint64_t)&arch->tss, limit = sizeof(arch->tss) - 1;
    arch->gdt[SELECTOR_KERNEL_CODE / 8] = 0x00af9b000000ffff;
    arch->gdt[SELECTOR_KERNEL_DATA / 8] = 0x00cf93000000ffff;
    arch->gdt[SELECTOR_USER_DATA / 8] = 0x00cff3000000ffff;
    arch->gdt[SELECTOR_USER_CODE / 8] = 0x00affb000000ffff;
    arch->gdt[SELECTOR_TSS / 8] = limit | (tss & 0xffffff) << 16 | 0x89ull << 40 | (tss >> 24 & 0xff) << 56;
    arch->gdt[SELECTOR_TSS / 8 + 1] = tss >> 32;
}

/* stacks, from low to high: the kernel's, then one for each of the special traps. */
void cpu_prepare(uint32_t index, uint8_t *stacks)
{
    struct cpu *cpu = &cpus[index];
    struct arch_cpu *arch = &cpu->arch;
    uint8_t *top = stacks + KERNEL_STACK_BYTES;
    cpu->block.self = (uint64_t)cpu;
    cpu->block.cpu = index;
    cpu->index = index;
    cpu->kernel_stack_top = (uint64_t)top;
    arch->apic_id = boot_info.cpu_hardware_id[index];
    arch->timer_deadline = ~0ull;
    cpu->stack_low = (uint64_t)stacks;
    arch->tss.rsp[0] = (uint64_t)top;
    arch->tss.io_map = sizeof(arch->tss); /* none: no I/O ports for user mode */
    for (unsigned i = IST_NMI; i < IST_COUNT; i++) {
        top += i == IST_NMI ? NMI_STACK_BYTES : IST_STACK_BYTES;
        uint64_t *base = (uint64_t *)top - 2; /* keeps the alignment of 16 */
        *base = (uint64_t)cpu;                /* for entry.S */
        arch->tss.ist[i - 1] = (uint64_t)base;
    }
    cpu->stack_high = (uint64_t)top;
    fill_gdt(arch);
}
_Static_assert(KERNEL_STACK_BYTES + NMI_STACK_BYTES + (IST_COUNT - 2) * IST_STACK_BYTES <= CPU_STACKS_BYTES,
               "they fit");

/* ---- on the CPU itself ---------------------------------------------------------------------------- */

void syscall_entry(void); /* entry.S */

void cpu_load(struct cpu *cpu)
{
    struct table_pointer gdt = {sizeof(cpu->arch.gdt) - 1, (uint64_t)cpu->arch.gdt};
    struct table_pointer interrupts = {sizeof(idt) - 1, (uint64_t)idt};
    if (cpu->index == 0)
        fill_idt();
    __asm__ volatile("lgdt %0" ::"m"(gdt));
    __asm__ volatile(
        "pushq %0\n\tleaq 1f(%%rip), %%rax\n\tpushq %%rax\n\tlretq\n1:" ::"i"(SELECTOR_KERNEL_CODE)
        : "rax", "memory");
    __asm__ volatile("movl %0, %%ss" ::"r"(SELECTOR_KERNEL_DATA));
    __asm__ volatile("lidt %0" ::"m"(interrupts));
    __asm__ volatile("ltr %w0" ::"r"(SELECTOR_TSS));
    uint64_t cr4 = CR4_PAE | CR4_MCE | CR4_PGE | CR4_OSFXSR | CR4_OSXMMEXCPT | CR4_UMIP | CR4_FSGSBASE |
                   CR4_SMEP | CR4_SMAP;
    __asm__ volatile("movq %0, %%cr4" ::"r"(cr4) : "memory");
    uint64_t cr0 = CR0_PG | CR0_AM | CR0_WP | CR0_NE | CR0_MP | CR0_PE;
    __asm__ volatile("movq %0, %%cr0" ::"r"(cr0) : "memory");
    __asm__ volatile("fninit");
    uint32_t mxcsr = 0x1f80;
    __asm__ volatile("ldmxcsr %0" ::"m"(mxcsr));
    write_msr(MSR_EFER, read_msr(MSR_EFER) | EFER_SCE | EFER_NXE);
    /* SYSRET: data = base + 8, code = base + 16, both with privilege 3. */
    write_msr(MSR_STAR, (uint64_t)((SELECTOR_USER_DATA - 8)) << 48 | (uint64_t)SELECTOR_KERNEL_CODE << 32);
    write_msr(MSR_LSTAR, (uint64_t)syscall_entry);
    write_msr(MSR_SFMASK, RFLAGS_CLEARED);
    write_msr(MSR_GS_BASE, (uint64_t)cpu);
    write_msr(MSR_KERNEL_GS_BASE, 0);
    apic_init_cpu();
}

void arch_stop_forever(void)
{
    for (;;)
        __asm__ volatile("cli\n\thlt" ::: "memory");
}

/* ---- other CPUs ----------------------------------------------------------------------------------- */

#define TRAMPOLINE 0x8000ull /* in the low MiB, which is reserved */
extern const char trampoline_start[], trampoline_end[];

int arch_start_cpu(uint32_t index)
{
    static bool prepared;
    if (index == 0 || index >= boot_info.cpu_count)
        return -E_BAD_ARGUMENT;
    if (!prepared) {
        memcpy(phys_to_virt(TRAMPOLINE), trampoline_start, (size_t)(trampoline_end - trampoline_start));
        for (uint32_t i = 1; i < boot_info.cpu_count; i++)
            apic_send_init(boot_info.cpu_hardware_id[i]);
        delay_us(10000); /* once for all CPUs: they then wait for their start message */
        prepared = true;
    }
    uint8_t *stacks = kernel_map_stacks(index, CPU_STACKS_ORDER);
    if (!stacks)
        return -E_NO_MEMORY;
    cpu_prepare(index, stacks);
    apic_send_start(boot_info.cpu_hardware_id[index], (uint8_t)(TRAMPOLINE >> 12));
    return 0;
}

/* ---- a thread's first floating-point and segment state; the switch is in <port/thread.h> ----------- */

/* Positions in the FXSAVE area. */
#define FX_CONTROL_WORD 0
#define FX_MXCSR        24

void arch_thread_init(struct thread *thread, uint64_t tls)
{
    struct arch_thread *arch = &thread->arch;
    const uint16_t control_word = 0x37f; /* as FNINIT sets it */
    const uint32_t mxcsr = 0x1f80;
    memset(arch->fpu, 0, sizeof(arch->fpu));
    memcpy(&arch->fpu[FX_CONTROL_WORD], &control_word, sizeof(control_word));
    memcpy(&arch->fpu[FX_MXCSR], &mxcsr, sizeof(mxcsr));
    arch->fs_base = tls >> 47 ? 0 : tls; /* WRFSBASE faults on non-canonical addresses */
    arch->gs_base = thread->block_user;
}
