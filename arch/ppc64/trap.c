/*
 * arch/ppc64/trap.c - handles exceptions and interrupts.
 *
 * entry.S calls one of three functions, all with interrupts off:
 *
 * - trap_from_user: the registers are in current->frame;
 * - trap_from_kernel: the idle loop's wait, faults of user copies; anything else is a bug;
 * - trap_special: system reset, machine check; exceptions before translation is on.
 */
#include "port.h"
#include <arch/debug.h>
#include <arch/fixup.h>
#include <kernel/cpu/cpu.h>
#include <kernel/debug/debugger.h>
#include <kernel/diagnosis/profile.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/trace/restart.h>
#include <tarn/abi.h>

_Static_assert(USER_END == 3ull << 45, "user_copy.S");

/* ---- exception vectors ---------------------------------------------------------------------------- */

extern const uint32_t vectors[], vectors_end[], real_vectors[], real_vectors_end[]; /* entry.S */

#define CACHE_LINE_BYTES 128

static void make_executable(const void *code, uint64_t size)
{
    for (uint64_t at = 0; at < size; at += CACHE_LINE_BYTES)
        __asm__ volatile("dcbst 0, %0\n\tsync\n\ticbi 0, %0" ::"r"((uint64_t)code + at) : "memory");
    __asm__ volatile("sync\n\tisync" ::: "memory");
}

#define BRANCH_OPCODE 18u
#define BRANCH_OFFSET 0x03fffffcu

/* The branches of the vectors leave them, and must keep their targets. */
static uint32_t moved(uint32_t instruction, uint64_t distance)
{
    if (instruction >> 26 != BRANCH_OPCODE)
        return instruction;
    return (instruction & ~BRANCH_OFFSET) | ((instruction - (uint32_t)distance) & BRANCH_OFFSET);
}

void boot_install_vectors(void)
{
    uint32_t *to = (uint32_t *)VECTORS;
    uint64_t distance = VECTORS - (uint64_t)vectors;
    for (const uint32_t *from = vectors; from < vectors_end; from++)
        *to++ = moved(*from, distance);
    memcpy((void *)VECTORS_REAL, real_vectors, (size_t)((char *)real_vectors_end - (char *)real_vectors));
    make_executable((void *)VECTORS, VECTORS_BYTES);
    make_executable((void *)VECTORS_REAL, VECTORS_BYTES);
}

/* ---- page faults ---------------------------------------------------------------------------------- */

/* DSISR. For an instruction's fault SRR1 has the first two, and FETCH_NO_EXECUTE. */
#define DSISR_NO_PAGE    0x40000000u
#define DSISR_PROTECTION 0x08000000u
#define DSISR_STORE      0x02000000u
#define FETCH_NO_EXECUTE 0x10000000u

struct access_fault {
    uint64_t address;
    uint32_t access; /* FAULT_ACCESS_* */
};

/* Whether handle_page_fault can handle the fault. A segment interrupt means an address that no page table
 * covers. */
static bool is_page_fault(uint64_t vector, uint64_t srr1, uint64_t ip, struct access_fault *fault)
{
    uint64_t status = srr1;
    *fault = (struct access_fault){.address = ip, .access = FAULT_ACCESS_EXECUTE};
    switch (vector) {
    case VECTOR_DATA_STORAGE:
        status = read_spr(SPR_DSISR);
        fault->address = read_spr(SPR_DAR);
        fault->access = status & DSISR_STORE ? FAULT_ACCESS_WRITE : 0;
        return status & (DSISR_NO_PAGE | DSISR_PROTECTION);
    case VECTOR_DATA_SEGMENT:
        fault->address = read_spr(SPR_DAR);
        fault->access = 0;
        return true;
    case VECTOR_INSTRUCTION_STORAGE:
        return status & (DSISR_NO_PAGE | DSISR_PROTECTION | FETCH_NO_EXECUTE);
    default:
        return vector == VECTOR_INSTRUCTION_SEGMENT;
    }
}

/* A fault of the kernel while it may access user pages. It is handled without that access, like any other
 * fault. */
static bool fix_kernel_fault(struct kernel_regs *regs)
{
    struct access_fault fault;
    if (!is_page_fault(regs->vector, regs->msr, regs->nip, &fault))
        return false;
    uint64_t amr = read_spr(SPR_AMR);
    write_spr(SPR_AMR, AMR_USER_DENIED);
    bool fixed = fix_user_copy(&regs->nip, fault.address, fault.access);
    write_spr(SPR_AMR, amr); /* in force after the RFID */
    return fixed;
}

/* ---- from user mode ------------------------------------------------------------------------------- */

/* SRR1 of a program interrupt. */
#define PROGRAM_FP         0x00100000u
#define PROGRAM_PRIVILEGED 0x00040000u
#define PROGRAM_TRAP       0x00020000u

static uint32_t program_reason(uint64_t srr1)
{
    return srr1 & PROGRAM_TRAP         ? FAULT_BREAKPOINT
           : srr1 & PROGRAM_FP         ? FAULT_ARITHMETIC
           : srr1 & PROGRAM_PRIVILEGED ? FAULT_PROTECTION
                                       : FAULT_ILLEGAL;
}

static uint32_t fault_reason(uint64_t vector, uint64_t srr1)
{
    switch (vector) {
    case VECTOR_PROGRAM:
        return program_reason(srr1);
    case VECTOR_ALIGNMENT:
        return FAULT_ALIGNMENT;
    case VECTOR_TRACE:
        return FAULT_BREAKPOINT;
    case VECTOR_VMX_UNAVAILABLE:
    case VECTOR_VSX_UNAVAILABLE:
    case VECTOR_FACILITY_UNAVAILABLE:
        return FAULT_ILLEGAL;
    default:
        return FAULT_PROTECTION;
    }
}

/* The thread has the floating-point registers until it is switched out. */
static void give_fp(struct thread *thread)
{
    arch_load_fp(&thread->arch);
    thread->frame.msr |= MSR_FP;
}

static bool handle_routine(uint64_t vector, uint64_t ip)
{
    switch (vector) {
    case VECTOR_DECREMENTER:
        clock_interrupt();
        return true;
    case VECTOR_EXTERNAL:
        xics_interrupt(ip);
        return true;
    default:
        return false;
    }
}

static bool asks_for_space(uint64_t vector, uint64_t srr1, uint64_t ip)
{
    return vector == VECTOR_PROGRAM && srr1 & PROGRAM_TRAP && trace_is_in_block(ip);
}

void trap_from_user(uint64_t vector, uint64_t srr1)
{
    struct thread *self = this_cpu()->current;
    if (__builtin_expect(trace_is_in_block(self->frame.nip), 0)) {
        if (asks_for_space(vector, srr1, self->frame.nip)) {
            self->frame.nip = trace_asked(self->frame.nip);
            return;
        }
        self->frame.nip = trace_restart(self->frame.nip);
    }
    uint64_t ip = frame_ip(&self->frame);
    struct access_fault fault;
    if (is_page_fault(vector, srr1, ip, &fault))
        handle_page_fault(fault.address, fault.access, ip, false);
    else if (vector == VECTOR_FP_UNAVAILABLE)
        give_fp(self);
    else if (!handle_routine(vector, ip))
        handle_exception((uint32_t)vector, fault_reason(vector, srr1),
                         vector == VECTOR_ALIGNMENT ? read_spr(SPR_DAR) : srr1, ip);
}

/* ---- from kernel mode ----------------------------------------------------------------------------- */

/* Nothing is mapped below a kernel stack. */
static bool overflows_stack(const struct kernel_regs *regs)
{
    return regs->vector == VECTOR_DATA_STORAGE && this_cpu()->stack_low - regs->dar <= CPU_STACKS_BYTES;
}

static void __attribute__((noreturn)) fail(struct kernel_regs *regs)
{
    bool has_address = regs->vector == VECTOR_DATA_STORAGE || regs->vector == VECTOR_DATA_SEGMENT;
    debugger_fault(regs->nip, has_address ? regs->dar : 0);
    if (overflows_stack(regs))
        panic_trap(regs, "kernel stack overflow at %lx", regs->nip);
    panic_trap(regs, "exception %lx in the kernel at %lx", regs->vector, regs->nip);
}

/* In a window for samples of the kernel (kernel/diagnosis/profile.h), which this ends: the interrupt stays
 * asserted, and comes again outside. The kernel may be in a user copy, with access to user pages. */
static bool sample_kernel(struct kernel_regs *regs)
{
    if (!this_cpu()->profile.window ||
        (regs->vector != VECTOR_DECREMENTER && regs->vector != VECTOR_EXTERNAL))
        return false;
    uint64_t amr = read_spr(SPR_AMR);
    write_spr(SPR_AMR, AMR_USER_DENIED);
    profile_kernel(regs);
    write_spr(SPR_AMR, amr); /* in force after the RFID */
    regs->msr &= ~(uint64_t)MSR_EE;
    return true;
}

static void read_fault_registers(struct kernel_regs *regs)
{
    regs->dar = read_spr(SPR_DAR);
    regs->dsisr = read_spr(SPR_DSISR);
}

#define SRR1_STATUS 0x783f0000ull /* status bits that an interrupt puts into SRR1 beside MSR */

/* Execution continues after the breakpoint. */
static bool is_breakpoint(const struct kernel_regs *regs)
{
    return regs->vector == VECTOR_PROGRAM && regs->msr & PROGRAM_TRAP &&
           *(const uint32_t *)regs->nip == BREAKPOINT_INSTRUCTION;
}

static void take_breakpoint(struct kernel_regs *regs)
{
    regs->nip += sizeof(uint32_t);
    regs->msr &= ~SRR1_STATUS;
    debugger_trap(regs);
}

void trap_from_kernel(struct kernel_regs *regs)
{
    if (asks_for_space(regs->vector, regs->msr, regs->nip)) {
        regs->nip = trace_asked(regs->nip);
        regs->msr &= ~SRR1_STATUS;
        return;
    }
    regs->nip = trace_restart(regs->nip);
    read_fault_registers(regs);
    if (is_breakpoint(regs))
        take_breakpoint(regs);
    else if (!sample_kernel(regs) && !handle_routine(regs->vector, regs->nip) && !fix_kernel_fault(regs))
        fail(regs);
}

/* ---- system reset --------------------------------------------------------------------------------- */

/* System reset (NMI, arch_break_in) overwrites SRR0 and SRR1. An exit that was about to use them is repeated.
 * An entry that had not read them has lost its return address, and no entry code can prevent that: the reset
 * may come before the vector's first instruction. QEMU makes this likely for a vCPU that its host did not run
 * for a while: it delivers the pending timer interrupt, then the reset, before it executes an instruction
 * (tests/host/debugger). Then the idle loop continues, a program ends as if it had faulted (program_lost),
 * and the kernel in a fault of a user copy panics. So only a CPU that executes but has not answered other
 * requests for long gets a reset (arch_request_progress, vpa.c). */

struct nip_range {
    uint64_t from, to;
};

static bool contains(const struct nip_range *range, uint64_t nip)
{
    return nip >= range->from && nip < range->to;
}

extern const struct nip_range entry_windows[], entry_windows_end[]; /* entry.S */
extern const char syscall_return[], syscall_return_end[], restore[], restore_interrupted[], restore_end[],
    trap_resume[], trap_resume_end[], wait_resume[], program_lost[];

static const struct nip_range delivered = {VECTORS, VECTORS + VECTORS_BYTES};

static void repeat_exit(struct kernel_regs *regs)
{
    const struct nip_range exits[] = {
        {(uint64_t)syscall_return, (uint64_t)syscall_return_end},
        {(uint64_t)restore, (uint64_t)restore_interrupted},
        {(uint64_t)restore_interrupted, (uint64_t)restore_end},
        {(uint64_t)trap_resume, (uint64_t)trap_resume_end},
    };
    for (unsigned i = 0; i < sizeof exits / sizeof exits[0]; i++)
        if (contains(&exits[i], regs->nip)) {
            regs->nip = exits[i].from;
            regs->gpr[13] = (uint64_t)this_cpu();
        }
}

/* Whether this was an entry that had not read SRR0 yet, and so has lost its return address. */
static bool is_lost(const struct kernel_regs *regs)
{
    for (const struct nip_range *window = entry_windows; window < entry_windows_end; window++)
        if (contains(window, regs->nip))
            return true;
    return contains(&delivered, regs->nip);
}

/* The vector of an entry that is lost. */
static uint64_t vector_of(const struct kernel_regs *regs)
{
    if (contains(&delivered, regs->nip))
        return (regs->nip - VECTORS) &
               (regs->nip - VECTORS < VECTOR_PERFORMANCE_MONITOR ? ~0x7full : ~0x1full);
    return contains(&entry_windows[0], regs->nip) ? VECTOR_SYSCALL : regs->gpr[12];
}

/* Whether the entry came from user mode. The kernel makes no system calls, and only its idle loop can be
 * interrupted. For other exceptions the stack pointer decides; a program that fakes it only harms itself. */
static bool was_in_program(const struct cpu *cpu, const struct kernel_regs *regs)
{
    if (cpu->current == cpu->idle)
        return false;
    switch (vector_of(regs)) {
    case VECTOR_SYSCALL:
    case VECTOR_EXTERNAL:
    case VECTOR_DECREMENTER:
        return true;
    default:
        return !cpu_is_on_stack(cpu, regs->gpr[1]);
    }
}

/* Interrupts of the idle loop return to one place, and are still pending: they come again. A program's return
 * address is lost, so the program is ended. */
static void find_way_back(struct kernel_regs *regs)
{
    struct cpu *cpu = this_cpu();
    uint64_t vector = vector_of(regs);
    if (was_in_program(cpu, regs))
        regs->nip = (uint64_t)program_lost;
    else if (cpu->current == cpu->idle && (vector == VECTOR_EXTERNAL || vector == VECTOR_DECREMENTER))
        regs->nip = (uint64_t)wait_resume;
    else
        panic_trap(regs, "system reset at %lx, from where there is no way back", regs->nip);
    regs->msr = MSR_KERNEL;
    regs->gpr[13] = (uint64_t)cpu;
}

/* From program_lost. */
void trap_program_lost(void)
{
    const struct thread *self = this_cpu()->current;
    log_line("%s(%u): a system reset came just when it entered the kernel; where it was is lost",
             self->block->name, self->tid);
    handle_exception(VECTOR_SYSTEM_RESET, FAULT_PROTECTION, 0, frame_ip(&self->frame));
}

void trap_special(struct kernel_regs *regs)
{
    read_fault_registers(regs);
    if (regs->vector != VECTOR_SYSTEM_RESET)
        fail(regs);
    regs->nip = trace_restart(regs->nip);
    if (!debugger_stop(regs))
        handle_nmi(regs);
    regs->msr &= ~SRR1_STATUS;
    repeat_exit(regs);
    if (is_lost(regs))
        find_way_back(regs);
}
