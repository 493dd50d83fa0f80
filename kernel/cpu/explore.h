/*
 * kernel/cpu/explore.h - where the kernel calls exploration: other orders of CPUs by a seed (boot option
 * `explore=`), and a search for errors. docs/explore.md: its changes and findings.
 *
 * Only in the exploring kernel (build/ARCH/explore/tarn.elf, compiled with TARN_EXPLORE); in the ordinary one
 * these calls are empty. The compiler inserts others before each memory access (explore_runtime.c).
 *
 * Words of the option besides the seed: `keep=N-N+N` (only these perturbations, which are numbered in their
 * order: seed and number alone decide an effect), `limit=MS` (a longer run counts as a hang), `stop` (panic
 * at a finding), kinds (`turns`, ...). Findings are lines on the console that begin with "explore: "
 * (tools/explore.py).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cpu;
struct space;
struct spinlock;
struct thread;

/* Each is declared once: a function of the exploring kernel; in the ordinary one nothing, or the given
 * answer. */
#ifdef TARN_EXPLORE
#define EXPLORE_HOOK(name, ...)                      void name(__VA_ARGS__)
#define EXPLORE_QUESTION(name, type, otherwise, ...) type name(__VA_ARGS__)
#else
#define EXPLORE_HOOK(name, ...)          \
    static inline void name(__VA_ARGS__) \
    {                                    \
    }
#define EXPLORE_QUESTION(name, type, otherwise, ...) \
    static inline type name(__VA_ARGS__)             \
    {                                                \
        return otherwise;                            \
    }
#endif

EXPLORE_HOOK(explore_boot, void);          /* reads the option; boot CPU, before others run programs */
EXPLORE_HOOK(explore_start, uint32_t pid); /* an ordinary program starts; the first one starts exploration */
EXPLORE_HOOK(explore_end, void);           /* stops, and prints counts; the machine ends */

/* The lock is wanted: notes the order, before the wait. Taken by this CPU. About to be released. */
EXPLORE_HOOK(explore_lock_wanted, const struct spinlock *lock);
EXPLORE_HOOK(explore_lock_taken, const struct spinlock *lock);
EXPLORE_HOOK(explore_lock_released, const struct spinlock *lock);

/* For the check of idle CPUs (explore_idle.c). A thread was inserted into a queue; a queued thread has left
 * its CPU, or its affinity has grown. */
EXPLORE_HOOK(explore_inserted, const struct cpu *cpu, const struct thread *thread, bool at_head);
EXPLORE_HOOK(explore_movable, const struct thread *thread);
EXPLORE_HOOK(explore_told, const struct cpu *cpu);          /* `cpu` was interrupted to check its queue */
EXPLORE_HOOK(explore_told_of, const struct thread *thread); /* a CPU is interrupted because of it */
/* This CPU changes `cpu`'s queue, and has not yet decided which CPU to interrupt; NULL: it has. */
EXPLORE_HOOK(explore_fills, const struct cpu *cpu);
EXPLORE_HOOK(explore_fills_any, void); /* the same, before the queue is known */
/* `cpu` is announced as idle, but not yet through its last check of queues. Its sleep is over. It returns to
 * its current thread, after its last check of the queue. */
EXPLORE_HOOK(explore_idles, const struct cpu *cpu);
EXPLORE_HOOK(explore_wakes, const struct cpu *cpu);
EXPLORE_HOOK(explore_returns, const struct cpu *cpu);

/* A system call, fault or interrupt: its cause comes after stores of others. */
EXPLORE_HOOK(explore_enters_kernel, void);
/* So the sites of spans are on. */
EXPLORE_QUESTION(explore_needs_spans, bool, false, void);

/* A page frame is freed: a CPU that still has a translation of it reads EXPLORE_FREED (tarn/explore.h). */
EXPLORE_HOOK(explore_freed, uint64_t frame);
/* Objects end that other CPUs use without a lock: counts as a write, with which no access may race. */
EXPLORE_HOOK(explore_ends, const void *memory, uint64_t size);

/* Code was changed, and this CPU has dropped old instructions; all CPUs must have done so since. */
EXPLORE_HOOK(explore_patched, void);
EXPLORE_HOOK(explore_synced, void);
EXPLORE_HOOK(explore_patch_ends, void);

/* A CPU of `allowed` on which a thread must run although another would be better; or -1. */
EXPLORE_QUESTION(explore_place, int, -1, uint64_t allowed);
/* This interrupt is for irq_deliver, later. This allocation fails. */
EXPLORE_QUESTION(explore_put_off, bool, false, uint32_t number);
EXPLORE_QUESTION(explore_fail_allocation, bool, false, void);
EXPLORE_QUESTION(explore_deadline, uint64_t, deadline, uint64_t deadline); /* ticks; or an earlier one */
/* At a timer interrupt: the running thread's slice ends. */
EXPLORE_QUESTION(explore_timer, bool, false, uint64_t now);
EXPLORE_HOOK(explore_space_ends, struct space *space); /* its tables are still there; its lock is held */
/* A program calls system_read; true: for exploration, and *result is set (tarn/explore.h). */
EXPLORE_QUESTION(explore_program, bool, false, uint32_t kind, uint64_t operation, void *buffer, uint64_t size,
                 int64_t *result);
