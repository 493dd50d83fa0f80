/*
 * arch/ppc64/cpu.c - one CPU's registers and stacks; starting the others; stopping.
 *
 * cpu_prepare() fills the struct cpu of a CPU before it runs, cpu_load() loads it into the registers of that
 * CPU.
 */
#include "port.h"
#include <arch/page_table.h>
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/trace/control.h>
#include <stddef.h>
#include <tarn/abi.h>
#include <tarn/error.h>
#include <trace/format/layout.h>

/* The value of r2 in this function, the same in all of the kernel. */
static uint64_t kernel_toc(void)
{
    uint64_t toc;
    __asm__("mr %0, 2" : "=r"(toc));
    return toc;
}

/* stacks, from low to high: the kernel's, then that of system reset and machine check. */
void cpu_prepare(uint32_t index, uint8_t *stacks)
{
    struct cpu *cpu = &cpus[index];
    struct arch_cpu *arch = &cpu->arch;
    cpu->block.self = (uint64_t)cpu;
    cpu->block.cpu = index;
    cpu->index = index;
    cpu->kernel_stack_top = (uint64_t)stacks + KERNEL_STACK_BYTES - STACK_FRAME_BYTES; /* its first frame */
    arch->toc = kernel_toc();
    arch->special_stack_top = (uint64_t)stacks + KERNEL_STACK_BYTES + SPECIAL_STACK_BYTES;
    cpu->stack_low = (uint64_t)stacks;
    cpu->stack_high = arch->special_stack_top;
    arch->hardware_id = boot_info.cpu_hardware_id[index];
    arch->timer_deadline = ~0ull;
    arch->process_root = &process_table[1 + index].root;
    arch->process = (1ull + index) << 32;
}
_Static_assert(offsetof(struct cpu, arch) == 128, "this_arch_cpu()");
_Static_assert(KERNEL_STACK_BYTES + SPECIAL_STACK_BYTES <= CPU_STACKS_BYTES, "they fit");
_Static_assert(CPUS_MAX < PROCESS_TABLE_ENTRIES, "a process for each");

/* ---- on the CPU itself ---------------------------------------------------------------------------- */

#define DECREMENTER_FAR 0x7fffffff

void cpu_load(struct cpu *cpu)
{
    write_spr(SPR_DEC, DECREMENTER_FAR);
    write_spr(SPR_SPRG0, cpu);
    write_spr(SPR_SPRG3, cpu_user_ring(cpu));
    write_spr(SPR_UAMOR, 0); /* programs cannot change the following registers */
    write_spr(SPR_AMR, AMR_USER_DENIED);
    write_spr(SPR_IAMR, IAMR_USER_DENIED);
    write_spr(SPR_FSCR, FSCR_TAR);
    write_spr(SPR_TAR, 0);
    write_spr(SPR_PIDR, 1 + cpu->index);
    write_spr(SPR_MMCR0, 0); /* runs the instruction counter, and lets programs read it */
    __asm__ volatile("isync" ::: "memory");
    arch_tlb_flush_all();
    xics_init_cpu();
    vpa_register(cpu);
}

void arch_stop_forever(void)
{
    for (;;) {
        rtas_stop_self(); /* returns after a system reset */
        arch_relax();
    }
}

/* ---- other CPUs ----------------------------------------------------------------------------------- */

int arch_start_cpu(uint32_t index)
{
    if (index == 0 || index >= boot_info.cpu_count)
        return -E_BAD_ARGUMENT;
    uint8_t *stacks = kernel_map_stacks(index, CPU_STACKS_ORDER);
    if (!stacks)
        return -E_NO_MEMORY;
    cpu_prepare(index, stacks);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* its memory is ready before it runs */
    const uint32_t arguments[] = {boot_info.cpu_hardware_id[index], (uint32_t)virt_to_phys(secondary_start),
                                  (uint32_t)virt_to_phys(&cpus[index])};
    return rtas_call(RTAS_START_CPU, arguments, 3, NULL, 0) ? -E_UNSUPPORTED : 0;
}

/* ---- a thread's first registers, floating point in and out; the switch is in <port/thread.h> -------- */

_Static_assert(FRAME_MSR_NEW == MSR_USER && FRAME_MSR_FP == MSR_FP, "port/frame.h, port/thread.h");

#define FRAME_THREAD_POINTER gpr[13]

/* Floating point begins at zero, rounding to nearest, with no exception enabled. */
void arch_thread_init(struct thread *thread, uint64_t tls)
{
    thread->arch = (struct arch_thread){.block_user = thread->block_user};
    thread->frame.FRAME_THREAD_POINTER = tls;
}

/* The kernel is compiled without floating point; it has the registers only during these functions. */
static uint64_t enable_fp(void)
{
    uint64_t msr = read_msr();
    __asm__ volatile("mtmsrd %0\n\tisync" ::"r"(msr | MSR_FP) : "memory");
    return msr;
}

static void restore_msr(uint64_t msr)
{
    __asm__ volatile("mtmsrd %0\n\tisync" ::"r"(msr) : "memory");
}

#define FOR_ALL_FPRS(instruction)                            \
    ".set number, 0\n\t"                                     \
    ".rept 32\n\t" instruction " number, 8 * number(%0)\n\t" \
    ".set number, number + 1\n\t"                            \
    ".endr\n\t"

void arch_save_fp(struct arch_thread *thread)
{
    uint64_t msr = enable_fp();
    __asm__ volatile(FOR_ALL_FPRS("stfd") "mffs 0\n\tstfd 0, 0(%1)" ::"b"(thread->fpr), "b"(&thread->fpscr)
                     : "memory");
    restore_msr(msr);
}

void arch_load_fp(const struct arch_thread *thread)
{
    uint64_t msr = enable_fp();
    __asm__ volatile("lfd 0, 0(%1)\n\tmtfsf 255, 0\n\t" FOR_ALL_FPRS("lfd")::"b"(thread->fpr),
                     "b"(&thread->fpscr)
                     : "memory");
    restore_msr(msr);
}
