/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/cpu.h - what a processor keeps to itself.
 */
#ifndef KERNEL_CPU_H
#define KERNEL_CPU_H

#include <arch/cpu.h>
#include <kernel/profile.h>
#include <kernel/sched.h>
#include <kernel/timer.h>
#include <tarn/thread_block.h>

#define CPUS_MAX        64
#define FRAME_CACHE_MAX 64

struct frame_cache { /* frame.c; touched by its processor only */
    uint32_t count;
    uint64_t frames[FRAME_CACHE_MAX];
};

struct thread;
struct space;
struct cpu {
    struct thread_block block; /* first: the logging path finds its window here, as user threads do in theirs.
                                * self, window and cpu are always right; who runs stands in current->block */
    struct arch_cpu arch;      /* second: ports find it before this struct is known */
    struct thread *current;    /* whose registers are in the machine, or were at entry */
    struct thread *idle;
    uint64_t kernel_stack_top;
    uint64_t scratch[4];           /* of the entry code */
    _Atomic uint32_t need_resched; /* set by anybody, looked at before returning to user mode */
    uint32_t index;
    bool online;
    bool sleeps;  /* it waits for an interrupt, or that is not yet logged to be over */
    uint64_t bit; /* 1 << index */
    /* Whose tables are loaded; NULL: the kernel's own; SPACE_CHANGING: those of one of two spaces. Written by
     * this processor only, in space_activate and space_leave; others, who shoot down, read it atomically. */
    struct space *space;
    uint64_t fault_address; /* arch_copy_*: where it stopped */
    uint32_t fault_access;
    bool copies_present_only; /* arch_copy_* brings no pages in for now: arch_backtrace_user */
    struct frame_cache frame_cache;
    struct run_queue run_queue;         /* own lock */
    struct timer_queue timer_queue;     /* own lock */
    _Atomic uint64_t shootdown_pending; /* processors that wait for this one's flush, see tlb.c */
    uint64_t switched_at;               /* ticks, when current began to run */
    uint64_t switch_told;  /* switched_at when the trace was told of a switch: so until that is done */
    uint64_t next_call_id; /* of ipc calls: processor in the top byte, then a count */
    struct space *work;    /* space_do_in_turn: what is still to be done */
    bool working;
    _Atomic uint64_t quiet_epoch;                /* quiet.c: the last in which it was outside the kernel */
    const struct spinlock *_Atomic waiting_lock; /* what it spins for (lock.c); for the debugger */
    uint32_t acquired[LOCK_CLASSES_MAX]; /* by number: since the last that was logged, of watched classes */
    bool wants_yield;                    /* current asked to go behind its equals */
    struct profile profile;
};

extern struct cpu cpus[CPUS_MAX];
extern uint32_t cpu_count; /* that are online or will be */

#endif
