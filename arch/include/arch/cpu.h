/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/cpu.h - the processor that runs this code.
 *
 * The kernel runs with interrupts off and is never preempted; it has one stack per processor. Only the idle
 * loop waits with interrupts on, and samples of the kernel are taken through windows (kernel/profile.h). The
 * port's inline definitions come from <port/cpu.h>.
 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#include <stdbool.h>
#include <stdint.h>

struct cpu;
enum ipi_kind { IPI_RESCHEDULE, IPI_CALL, IPI_SHOOTDOWN, IPI_STOP }; /* as in trace/schema/irq.ev */

static inline struct cpu *this_cpu(void); /* one load */
/* The same without a look at memory, when it may not be known yet where this runs: then it is anything. */
static inline struct cpu *arch_cpu_pointer(void);
static inline void arch_relax(void); /* in every spin loop */
/* After an atomic_store (sequentially consistent): no load that follows, however relaxed, comes before it.
 * Where such a store is a full barrier itself this is for the compiler only. */
static inline void arch_fence_after_store(void);
/* Waits for an interrupt with interrupts on, handles it, and returns with interrupts off. Must not lose one
 * that arrives between the caller's last look and the wait. */
static inline void arch_wait_for_interrupt(void);
void arch_stop_forever(void) __attribute__((noreturn)); /* interrupts off, for good */
/* How kernel_main and kernel_secondary_main end: drops this processor's stack, calls kernel_leave() and lets
 * cpu->current run in user mode. */
void arch_return_to_user(void) __attribute__((noreturn));
/* System calls come in as syscall_table[number](arguments); the result goes to the caller's frame unless it
 * is SYSCALL_NO_RESULT (the handler blocked the caller or wrote its registers). While syscall_watched is not
 * 0 the entry calls syscall_traced(number, frame) instead, which logs entry and exit around the same call.
 *
 * Handlers of messages (SYS_ipc_*) find all user registers in the frame, and may go on with another thread.
 * All others switch nothing, look at no register but their arguments, and have set need_resched when they
 * return SYSCALL_NO_RESULT: a port may store the rest only then. */
#define SYSCALL_NO_RESULT INT64_MIN
/* What a handler of messages returns that has gone on with another thread: SYSCALL_NO_RESULT. Or it does not
 * come back, and the port lets cpu->current run at once; then the stack is dropped. handle_page_fault ends
 * so, too, when somebody else has to answer for a fault of user mode. ARCH_SWITCHED_RETURNS: which of the
 * two. */
static inline int64_t arch_switched(void);
struct arch_frame;
int64_t syscall_traced(uint64_t number, struct arch_frame *frame);
/* For syscall_traced: calls the handler with the arguments that lie in the frame. */
int64_t arch_call_syscall(uint64_t number, const struct arch_frame *frame);

/* From open to close the kernel may be interrupted by its timer and by nothing else that can be masked; what
 * comes then is told to profile_kernel() (kernel/profile.h), and the window is closed from there on. */
static inline void arch_window_open(void);
static inline void arch_window_close(void);

/* What was stored before is seen by the target when it handles the interrupt, and by whoever it tells. */
void arch_send_ipi(struct cpu *target, enum ipi_kind kind);

/* Fills `chain` with return addresses, innermost first, from the caller's frame pointer on; how many. Never
 * faults, whatever the stack holds. arch_backtrace_user: of an interrupted user program. */
uint32_t arch_backtrace(uint64_t *chain, uint32_t max);
struct thread;
uint32_t arch_backtrace_user(const struct thread *thread, uint64_t *chain, uint32_t max);

#include <port/cpu.h> /* struct arch_cpu and the inlines */
#endif
