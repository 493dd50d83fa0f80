/*
 * port/cpu.h (x86_64) - the inline part of <arch/cpu.h>, and the port's data of each CPU.
 *
 * In the kernel, GS base is the address of this CPU's struct cpu, whose first word is that address. The
 * kernel never migrates within a function (one stack per CPU), so the compiler may keep the pointer.
 */
#pragma once

/* read by the CPU: stacks for entries into the kernel */
struct arch_tss {
    uint32_t reserved0;
    uint64_t rsp[3]; /* [0]: entries from user mode */
    uint64_t reserved1;
    uint64_t ist[7]; /* see enum arch_ist */
    uint64_t reserved2;
    uint16_t reserved3, io_map;
} __attribute__((packed));

enum arch_ist { IST_NONE, IST_NMI, IST_DOUBLE_FAULT, IST_MACHINE_CHECK, IST_COUNT };

struct arch_cpu {
    uint64_t gdt[8] __attribute__((aligned(16)));
    struct arch_tss tss;
    uint32_t apic_id;
    _Atomic bool requested;  /* set by arch_request_progress, cleared by the NMI that follows */
    uint64_t timer_deadline; /* ticks; set by arch_timer_set; ~0: none */
};

static inline struct cpu *this_cpu(void)
{
    struct cpu *cpu;
    __asm__("movq %%gs:0, %0" : "=r"(cpu));
    return cpu;
}

/* entry.S */
#define ARCH_CALL_ASIDE(function, argument) \
    __asm__ volatile("call aside_" #function : : "a"(argument) : "cc", "memory")

static inline struct cpu *arch_cpu_pointer(void)
{
    uint32_t low, high;
    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(0xc0000101)); /* GS base */
    return (struct cpu *)((uint64_t)high << 32 | low);
}

static inline void arch_fence_after_store(void)
{
    __asm__ volatile("" ::: "memory"); /* the store was an XCHG */
}

#define ARCH_SWITCHED_RETURNS true
static inline int64_t arch_switched(void)
{
    return SYSCALL_NO_RESULT;
}

/* The task priority lets vectors from 0xf0 on pass (x86.h). STI takes effect after the next instruction,
 * which belongs to this function, so that an interrupt that was due comes here, not in its caller. */
static inline void arch_window_open(void)
{
    __asm__ volatile("movq %0, %%cr8\n\tsti\n\tnop" ::"r"(0xeull) : "memory");
}

static inline void arch_window_close(void)
{
    __asm__ volatile("cli\n\tmovq %0, %%cr8" ::"r"(0ull) : "memory");
}

static inline void arch_relax(void)
{
    __asm__ volatile("pause" ::: "memory");
}

/* STI takes effect after the next instruction, so no interrupt can come between it and HLT. */
static inline void arch_wait_for_interrupt(void)
{
    __asm__ volatile("sti\n\thlt\n\tcli" ::: "memory");
}
