/*
 * arch/cpu.h - the CPU that runs this code.
 *
 * The kernel runs with interrupts off and is never preempted; it has one stack per CPU. Only the idle loop
 * waits with interrupts on; samples of the kernel are taken between arch_window_open and arch_window_close
 * (kernel/diagnosis/profile.h). <port/cpu.h> has the port's inline definitions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpu;
enum ipi_kind { IPI_RESCHEDULE, IPI_CALL, IPI_SHOOTDOWN, IPI_KINDS }; /* as in trace/schema/irq.ev */

static inline struct cpu *this_cpu(void); /* one load */
/* The same without access to memory, for code that may run before the CPU is set up: then the value is
 * arbitrary. */
static inline struct cpu *arch_cpu_pointer(void);
/* ARCH_CALL_ASIDE(function, argument): calls function(argument, address of this place), one that the port's
 * entry.S lists. For code that is seldom executed: the code around it keeps all registers, as if there were
 * no call. */
static inline void arch_relax(void); /* in every spin loop */
/* A fence after an atomic_store (sequentially consistent): no later load, even a relaxed one, is executed
 * before the store. Only for the compiler where such a store is a full barrier itself. */
static inline void arch_fence_after_store(void);
/* Waits for an interrupt with interrupts on, handles it, and returns with interrupts off. Must not lose one
 * that arrives between the caller's last check and the wait. */
static inline void arch_wait_for_interrupt(void);
void arch_stop_forever(void) __attribute__((noreturn)); /* interrupts off, for good */
/* The end of kernel_main and kernel_secondary_main: drops this CPU's stack, calls kernel_exit() and runs
 * cpu->current in user mode. */
void arch_return_to_user(void) __attribute__((noreturn));
/*
 * System calls are dispatched as syscall_table[number](arguments). The result goes to the caller's frame
 * unless it is SYSCALL_NO_RESULT (the handler blocked the caller or wrote its registers). While the span of
 * system calls is on (kernel/cpu/span.h), the entry's site (SYSCALL_SITE) jumps to code that calls
 * syscall_call_traced(number) instead, with number and arguments in the frame: it calls the handler, and
 * logs or counts that.
 *
 * Message handlers (SYS_ipc_*) find all user registers in the frame, and may continue with another thread. A
 * port may compile them to keep no registers but the stack pointer.
 * All others never switch threads, use no register but their arguments, and have set need_resched when they
 * return SYSCALL_NO_RESULT: a port may store the other registers only then.
 */
#define SYSCALL_NO_RESULT INT64_MIN
/* The return value of a message handler that has switched to another thread: SYSCALL_NO_RESULT. Or the
 * function does not return, and the port drops the stack and runs cpu->current at once. handle_page_fault
 * also ends with it when another thread must handle a fault of user mode. ARCH_SWITCHED_RETURNS: whether it
 * returns. */
static inline int64_t arch_switched(void);
struct arch_frame;
struct thread;
/* `self` is the calling thread. */
int64_t syscall_call_traced(struct thread *self, uint64_t number);

/* From open to close only the timer, of all maskable interrupts, may interrupt the kernel. It calls
 * profile_kernel() (kernel/diagnosis/profile.h), and from then on interrupts stay off. */
static inline void arch_window_open(void);
static inline void arch_window_close(void);

/* The target sees all earlier stores when it handles the interrupt, and so do CPUs that synchronize with it.
 */
void arch_send_ipi(struct cpu *target, enum ipi_kind kind);
/* Sends IPI_RESCHEDULE to this CPU, which takes it when interrupts are on. Also from an NMI that came during
 * arch_send_ipi(). */
void arch_interrupt_self(void);

/* Fills `chain` with return addresses, innermost first, from the caller's frame pointer on; returns their
 * number. Never faults, whatever the stack contains. Other chains: arch/debug.h. */
uint32_t arch_backtrace(uint64_t *chain, uint32_t max);

#include <port/cpu.h>
