/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/explore/explore.h - interleaves CPUs by a seed (boot option `explore=`), and detects errors.
 *
 * Only in the exploring kernel (build/ARCH/explore/tarn.elf, compiled with TARN_EXPLORE); in the ordinary one
 * these calls are empty. For machines that count instructions: their CPUs take turns, and a turn ends at a
 * timer, at arch_relax() or when the CPU sleeps. The ends of turns decide the run.
 *
 * The compiler inserts calls of explore_runtime.c before each memory access of the instrumented files
 * (rules.mk). Each is a point where the seed may end this CPU's turn, so that others run first. Other
 * perturbations: timers at short random distances, which end turns and slices also in programs; another CPU
 * for a woken thread; late device interrupts; failing allocations; killed programs, threads and servers.
 *
 * Perturbations are numbered in their order, so that a finding can be narrowed down to few of them:
 * `explore=SEED,keep=N-N+N`. Seed and number alone decide a perturbation's effect. Other words: `limit=MS` (a
 * longer run counts as a hang), `stop` (panic at a finding), kinds (`turns`, ...).
 *
 * Findings are printed on the console, in lines that begin with "explore: " (tools/explore.py reads them):
 * races (two CPUs access the same bytes at the same time, at least one writes, and at least one not
 * atomically), lock orders that occur both ways round, CPUs that sleep although a thread is ready for them or
 * that may still execute changed code, and runs that are not over in time.
 */
#ifndef KERNEL_EXPLORE_H
#define KERNEL_EXPLORE_H

#include <stdbool.h>
#include <stdint.h>

struct cpu;
struct space;
struct spinlock;
struct thread;

#ifdef TARN_EXPLORE

void explore_boot(void);          /* reads the option; boot CPU, before others run programs */
void explore_start(uint32_t pid); /* an ordinary program starts; the first one starts exploration */
void explore_end(void);           /* stops, and prints counts; the machine ends */

void explore_lock_wanted(const struct spinlock *lock);   /* before it is waited for; notes the order */
void explore_lock_taken(const struct spinlock *lock);    /* by this CPU */
void explore_lock_released(const struct spinlock *lock); /* still held */

/* For the check of idle CPUs (explore_idle.c). A thread was inserted into a queue; a queued thread has left
 * its CPU, or its affinity has grown. */
void explore_inserted(const struct cpu *cpu, const struct thread *thread, bool at_head);
void explore_movable(const struct thread *thread);
void explore_told(const struct cpu *cpu);          /* `cpu` was interrupted to check its queue */
void explore_told_of(const struct thread *thread); /* a CPU is interrupted because of it */
/* This CPU changes `cpu`'s queue, and has not yet decided which CPU to interrupt; NULL: it has. */
void explore_fills(const struct cpu *cpu);
void explore_fills_any(void); /* the same for a queue that is not known yet */
void explore_idles(
    const struct cpu *cpu); /* announced as idle, but not yet through its last check of queues */
void explore_wakes(const struct cpu *cpu);   /* its sleep is over */
void explore_returns(const struct cpu *cpu); /* to its current thread, after its last check of the queue */

/* A system call, fault or interrupt: its cause comes after stores of others. */
void explore_enters_kernel(void);
static inline bool explore_needs_spans(void) /* of all system calls */
{
    return true;
}

/* A page frame is freed: a CPU that still has a translation of it reads EXPLORE_FREED (tarn/explore.h). */
void explore_freed(uint64_t frame);
/* Objects end that other CPUs use without a lock: counts as a write, with which no access may race. */
void explore_ends(const void *memory, uint64_t size);

/* Code was changed, and this CPU has dropped old instructions; all CPUs must have done so since. */
void explore_patched(void);
void explore_synced(void);
void explore_patch_ends(void);

/* A CPU of `allowed` on which a thread must run although another would be better; or -1. */
int explore_place(uint64_t allowed);
bool explore_put_off(uint32_t number);        /* true: this interrupt is for irq_deliver, later */
bool explore_fail_allocation(void);           /* true: this allocation fails */
uint64_t explore_deadline(uint64_t deadline); /* ticks: that one, or an earlier one */
bool explore_timer(uint64_t now); /* at a timer interrupt; true: the running thread's slice ends */
void explore_space_ends(struct space *space); /* its tables are still there; its lock is held */
/* A program calls system_read; true: for exploration, and *result is set (tarn/explore.h). */
bool explore_program(uint32_t kind, uint64_t operation, void *buffer, uint64_t size, int64_t *result);

#else

static inline void explore_boot(void)
{
}
static inline void explore_start(uint32_t pid)
{
}
static inline void explore_end(void)
{
}
static inline void explore_lock_wanted(const struct spinlock *lock)
{
}
static inline void explore_lock_taken(const struct spinlock *lock)
{
}
static inline void explore_lock_released(const struct spinlock *lock)
{
}
static inline void explore_inserted(const struct cpu *cpu, const struct thread *thread, bool at_head)
{
}
static inline void explore_movable(const struct thread *thread)
{
}
static inline void explore_told(const struct cpu *cpu)
{
}
static inline void explore_told_of(const struct thread *thread)
{
}
static inline void explore_fills(const struct cpu *cpu)
{
}
static inline void explore_fills_any(void)
{
}
static inline void explore_idles(const struct cpu *cpu)
{
}
static inline void explore_wakes(const struct cpu *cpu)
{
}
static inline void explore_returns(const struct cpu *cpu)
{
}
static inline void explore_enters_kernel(void)
{
}
static inline bool explore_needs_spans(void)
{
    return false;
}
static inline void explore_freed(uint64_t frame)
{
}
static inline void explore_ends(const void *memory, uint64_t size)
{
}
static inline void explore_patched(void)
{
}
static inline void explore_synced(void)
{
}
static inline void explore_patch_ends(void)
{
}
static inline int explore_place(uint64_t allowed)
{
    return -1;
}
static inline bool explore_put_off(uint32_t number)
{
    return false;
}
static inline bool explore_fail_allocation(void)
{
    return false;
}
static inline uint64_t explore_deadline(uint64_t deadline)
{
    return deadline;
}
static inline bool explore_timer(uint64_t now)
{
    return false;
}
static inline void explore_space_ends(struct space *space)
{
}
static inline bool explore_program(uint32_t kind, uint64_t operation, void *buffer, uint64_t size,
                                   int64_t *result)
{
    return false;
}

#endif
#endif
