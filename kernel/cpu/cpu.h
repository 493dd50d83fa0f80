/* cpu.h - per-CPU data. */
#pragma once

#include <arch/cpu.h>
#include <kernel/cpu/lock.h>
#include <kernel/lib/list.h>
#include <tarn/abi.h>
#include <tarn/thread_block.h>

#define CPUS_MAX        64
#define FRAME_CACHE_MAX 64

struct timer;

/* ---- Parts, each for the code that is named; used only by their CPU, unless they say otherwise ---- */

struct frame_cache { /* memory/frame.c */
    uint32_t count;
    uint64_t frames[FRAME_CACHE_MAX];
};

/* sched/sched.h */
struct run_queue {
    struct spinlock lock;
    /* under lock; bitmap and length are also read without it, as hints: */
    _Atomic uint32_t bitmap; /* bit p: list p is not empty */
    _Atomic uint32_t length;
    struct list ready[TARN_PRIORITIES];
    /* Written by its CPU, read by CPUs that wake threads. The CPU writes it under the lock, or (ipc_fast.c)
     * writes it and then reads the bitmap; an enqueue writes the bitmap under the lock, then reads this.
     * Sequentially consistent, so one sees the other. */
    _Atomic int32_t running; /* priority of the running thread; SCHED_IDLE_PRIORITY when idle */
};

/* sched/timer.h */
struct timer_queue {
    struct spinlock lock;
    struct timer *root; /* under lock */
    /* used only by its CPU: */
    uint64_t programmed; /* deadline that the hardware is set to */
    uint64_t slice_end;  /* of the running thread; TIMER_NEVER while idle */
    uint64_t periodic;   /* the earlier of heartbeat and sample */
    uint64_t heartbeat;  /* next heartbeat of the trace */
    uint64_t sample;     /* next sample; TIMER_NEVER: none before the CPU wakes up */
};

/* diagnosis/profile.h */
struct profile {
    uint64_t since;        /* ticks: awake since then; undefined while asleep */
    uint64_t busy;         /* ticks awake since the last sample, up to `since` */
    uint64_t instructions; /* the same, in instructions */
    uint32_t counter;      /* arch_instructions() at `since` */
    uint64_t left;         /* while asleep: ticks to the next sample */
    uint64_t random;
    bool window; /* the timer may interrupt the kernel */
    bool came;   /* the timer did interrupt it */
};

/* diagnosis/counters.h */
struct counters {
    uint64_t generation; /* of `since`; stale unless it is the current one */
    uint64_t since[COUNTER_SLOTS];
    uint32_t slots;                 /* bound ones */
    uint32_t number[COUNTER_SLOTS]; /* for arch_counter_read */
    uint8_t bits[COUNTER_SLOTS];    /* width */
};

/* ---- A CPU ---- */

struct cpu {
    /* First: the logging path finds its ring here, as in a thread's block. Only self, window and cpu are
     * valid; see current->block for the thread. */
    struct thread_block block;
    struct arch_cpu arch;         /* second: ports use it before this struct is declared */
    struct lock_watch lock_watch; /* third: found before this struct is declared */
    struct thread *current;       /* its registers are in the machine, or were at kernel entry */
    struct thread *idle;
    uint64_t kernel_stack_top;
    uint64_t stack_low, stack_high; /* all kernel stacks of this CPU: call chains stay inside */
    uint64_t scratch[4];            /* for the entry code */
    _Atomic uint32_t need_resched;  /* set by any CPU, tested before the return to user mode */
    uint32_t index;
    bool online;
    bool sleeps;          /* asleep while idle, or its end is not logged yet */
    uint8_t switch_state; /* enum thread_state of the old thread in the last switch that was observed */
    uint64_t bit;         /* 1 << index */
    /* Whose page tables are loaded. NULL: the kernel's. SPACE_CHANGING: those of one of two spaces. Written
     * by this CPU only (space_activate, space_unload); TLB shootdowns read it atomically. */
    struct space *space;
    uint64_t fault_address; /* address at which arch_copy_* faulted */
    uint32_t fault_access;
    bool copies_present_only; /* arch_copy_* brings no pages in now (profile.c) */
    struct frame_cache frame_cache;
    struct run_queue run_queue;     /* own lock */
    struct timer_queue timer_queue; /* own lock */
    uint64_t switched_at;           /* ticks: start of current's run */
    uint64_t
        switch_logged_at;  /* switched_at when the last switch was logged; equal until that switch is done */
    uint64_t next_call_id; /* call ids of IPC: CPU in the top byte, then a count */
    struct space *work;    /* space_defer: work still to do */
    bool working;
    _Atomic uint64_t quiescent_epoch; /* quiescent.c: last epoch in which it was outside the kernel */
    const struct spinlock *_Atomic waiting_lock; /* the lock it spins for (lock.c); for the debugger */
    bool wants_yield;                            /* current goes behind its equals */
    struct profile profile;
    struct counters counters;
    /* For this size &cpus[i] is one multiplication; for some others compilers prefer shifts and additions,
     * two or three instructions more. */
    uint64_t reserved;
};

_Static_assert(offsetof(struct cpu, lock_watch) == LOCK_WATCH_OFFSET, "this_lock_watch()");

extern struct cpu cpus[CPUS_MAX];
extern uint32_t cpu_count; /* CPUs that are online or will be */

/* Called in each turn of a loop that waits for another CPU with interrupts off: the watchdog's. */
extern void (*cpu_spins)(void);
#define CPU_SPINS_TURNS 256u
static inline void cpu_spin(uint64_t turns)
{
    if (turns % CPU_SPINS_TURNS == 0 && cpu_spins)
        cpu_spins();
}

/* For interrupts that come in the kernel: whether a switch was logged that is not done. They log nothing
 * then: a packet that began would have a context that names the old thread. */
static inline bool cpu_is_switching(const struct cpu *cpu)
{
    return cpu->switch_logged_at == cpu->switched_at;
}

/* The value of a thread block's `ring` while its thread runs on this CPU: the ring's first buffer. */
static inline uint64_t cpu_user_ring(const struct cpu *cpu)
{
    return USER_TRACE_RINGS + ((uint64_t)cpu->index << TRACE_RING_SHIFT) + TRACE_BUFFERS_OFFSET;
}

static inline bool cpu_is_on_stack(const struct cpu *cpu, uint64_t address)
{
    return address >= cpu->stack_low && address < cpu->stack_high;
}

/* arch_read_word for the kernel stacks of a CPU, which is the context. Takes no locks. */
static inline bool cpu_read_stack(void *cpu, uint64_t address, uint64_t *word)
{
    if (address % sizeof *word || !cpu_is_on_stack(cpu, address))
        return false;
    *word = *(const uint64_t *)address;
    return true;
}
