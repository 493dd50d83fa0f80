/*
 * port/cpu.h (ppc64) - the inline part of <arch/cpu.h>, and the port's data of each CPU.
 *
 * In the kernel r13 is the address of this CPU's struct cpu. The ABI reserves r13, so naming it costs
 * nothing. Entries load it from SPRG0.
 */
#pragma once

struct arch_cpu {
    /* root of this CPU's entry in the process table: the current user space */
    uint64_t *process_root;
    /* the entry's number, as operand of TLBIEL */
    uint64_t process;
    uint64_t toc;               /* the kernel's r2 */
    uint64_t special_stack_top; /* system reset, machine check */
    uint64_t special_save[4];   /* for their first instructions: vector and CR, r11, SRR0, SRR1 */
    /* bit 1 << enum ipi_kind; set by the sender, cleared by xics.c */
    _Atomic uint32_t ipi_pending;
    uint32_t hardware_id;    /* interrupt server number */
    bool counts_runs;        /* the hypervisor counts dispatches (vpa.c) */
    uint32_t requested_at;   /* dispatch count at the last arch_request_progress; for the checking CPU */
    uint64_t prodded_at;     /* ticks; for the checking CPU */
    uint64_t timer_deadline; /* ticks; set by arch_timer_set; ~0: none */
};

register struct cpu *port_cpu_register __asm__("r13");

static inline struct cpu *this_cpu(void)
{
    return port_cpu_register;
}

/* entry.S. Not by the link register, which functions would then have to save on all their paths. */
#define ARCH_CALL_ASIDE(function, argument)                                                             \
    do {                                                                                                \
        register const void *aside __asm__("r11") = (argument);                                         \
        __asm__ volatile("addis 12, 2, 1f@toc@ha\n\taddi 12, 12, 1f@toc@l\n\tb aside_" #function "\n1:" \
                         :                                                                              \
                         : "r"(aside)                                                                   \
                         : "r12", "ctr", "xer", "memory");                                              \
    } while (0)

static inline struct cpu *arch_cpu_pointer(void)
{
    return port_cpu_register;
}

/* struct cpu begins with a thread block, followed by struct arch_cpu. */
static inline struct arch_cpu *this_arch_cpu(void)
{
    return (struct arch_cpu *)((char *)port_cpu_register + 128);
}

static inline void arch_fence_after_store(void)
{
    __asm__ volatile("hwsync" ::: "memory");
}

/* External interrupts arrive too; they close the window and stay asserted (trap.c). */
static inline void arch_window_open(void)
{
    __asm__ volatile("mtmsrd %0, 1" ::"r"(0x8002ull) : "memory"); /* EE | RI */
}

static inline void arch_window_close(void)
{
    __asm__ volatile("mtmsrd %0, 1" ::"r"(0x2ull) : "memory");
}

/* entry.S */
#define ARCH_SWITCHED_RETURNS false
static inline int64_t arch_switched(void)
{
    __asm__ volatile("b return_to_user" ::: "memory");
    __builtin_unreachable();
}

/* Lowers the priority briefly: QEMU ends the vCPU's time slice. */
static inline void arch_relax(void)
{
    __asm__ volatile("or 27, 27, 27" ::: "memory");
}

void wait_for_interrupt(void); /* entry.S */

static inline void arch_wait_for_interrupt(void)
{
    wait_for_interrupt();
}
