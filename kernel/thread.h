/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/thread.h - threads: their states, and who may change them.
 *
 * The kernel has one stack per processor and is never preempted. A thread that must wait keeps nothing on a
 * stack: its registers are in its frame, what it waits for is in this struct, and the processor goes on with
 * another.
 *
 *                     thread_create
 *                          |                       sched_wake
 *                      SUSPENDED ---resume--> READY <--------- BLOCKED_* / SLEEPING
 *                          ^                  |   ^                  ^
 *                  suspend |        reschedule|   | preempted        | ipc, wait, futex, sleep, fault
 *                          +--------------- RUNNING -----------------+
 *                                             | killed
 *                                           DEAD
 *
 * Who may change the state
 *   READY, RUNNING   the lock of the run queue of thread->cpu covers membership in the queue; RUNNING belongs
 * to the processor that runs it. waiting          (everything else but DEAD) covered by the lock that
 * thread->wait_lock points to: the endpoint's, notification's or futex bucket's, or one of the thread's own:
 * `answer_lock` (BLOCKED_REPLY, a fault being answered) or `lock` (SLEEPING, SUSPENDED). A thread waits
 * exactly while wait_lock is not NULL.
 *
 * Answers. A thread waits for the answer to call N exactly if, with its answer_lock held, wait_lock points to
 * answer_lock and call_id is N. No other wait uses that lock, call_id changes only before the next message is
 * sent, and numbers never come back. So an answer that is late, or the second one, finds nobody, whatever the
 * thread does or waits for by then (reply.c, ipc_fast.c).
 *
 * To wait (thread_begin_wait): with that lock held, the thread itself writes state and wait data, then
 * wait_lock (sequentially consistent), then looks at `pending`. To end a wait: take the lock
 * (thread_lock_wait, which looks again after it got it), unlink the thread, clear wait_lock
 * (thread_end_wait), let go of the lock, write the result into the frame, sched_wake. Whoever cleared
 * wait_lock owns the thread until sched_wake, so a wait ends once.
 *
 * Kill, suspend. The killer sets a bit in `pending` (sequentially consistent), then looks at wait_lock.
 * Either it sees the thread wait, and ends the wait; or the thread sees the bit when it has begun to wait,
 * and ends it itself; or the thread is ready or running, and its processor, which the killer interrupts,
 * looks at `pending` before it lets it go on. So a thread ends in one place only: in the scheduler of the
 * processor where it is current, with no lock held (thread_finish). A suspended thread stays in its wait and
 * stops after it.
 *
 * on_cpu. A thread that has just blocked can be woken by another processor before its own has put its
 * floating-point registers away. on_cpu is set while any processor still uses the thread, and who wants to
 * run it waits for that flag to fall, having first let go of its own thread, so that no two processors wait
 * for each other.
 *
 * A time-out is somebody who ends the wait with E_TIMEOUT if under its lock the deadline has passed
 * (thread_expire).
 *
 * References: capabilities, one for being alive, and those of whoever is to answer calls that it gave up
 * (endpoint.h, reply_target). A pointer that was found without one may be locked and looked at until this
 * kernel entry ends (slab.h).
 *
 * Read next: sched.h (READY, RUNNING), endpoint.h (messages), process.h (death).
 */
#ifndef KERNEL_THREAD_H
#define KERNEL_THREAD_H

#include <arch/frame.h>
#include <arch/thread.h>
#include <kernel/endpoint.h>
#include <kernel/list.h>
#include <kernel/lock.h>
#include <kernel/timer.h>
#include <stdatomic.h>
#include <tarn/abi.h>
#include <tarn/thread_block.h>

/* Bits of thread->pending. */
#define PENDING_KILL    1u
#define PENDING_SUSPEND 2u

/* Parts of thread->traced. */
#define TRACED_SYSCALL 0xffffu  /* 1 + number of the system call that it will return from; 0: none */
#define TRACED_CALL    0x10000u /* it will return from an ipc call, or go on after a fault */

/* What a thread in an endpoint's queue of senders wants. */
enum message_kind { MESSAGE_CALL, MESSAGE_SEND, MESSAGE_FAULT };

struct cpu;
struct space;
struct notification;

struct thread {
    struct arch_frame frame;    /* first: the entry code saves here */
    struct arch_thread arch;    /* floating point, thread pointer */
    struct thread_block *block; /* kernel address; constant */
    uint64_t block_user;        /* user address of it; constant */
    struct space *space;        /* a reference; constant. Idle threads: NULL */
    _Atomic(struct cpu *) cpu;  /* processor it runs on or ran on last; written by who owns the thread */
    _Atomic uint32_t on_cpu;    /* release when that processor has let go, acquire by who runs it next */
    _Atomic uint32_t pending;   /* PENDING_* */
    _Atomic uint32_t state;     /* enum thread_state, see above */
    _Atomic uint32_t priority;  /* changes at any time; what it was queued with stands beside it */
    uint32_t queued_priority;   /* under the run queue's lock: whose list `link` is in ... */
    /* Whose run queue it is in; NULL: in none. Changes only under that queue's lock, so under the lock of X
     * "it is X's" is certain, and so is "it is not X's". */
    _Atomic(struct cpu *) queued_on;
    _Atomic uint64_t affinity;

    /* The wait. See above. */
    _Atomic(struct spinlock *) wait_lock;
    struct list link;       /* in a queue of the object waited for, or in a run queue */
    uint64_t wait_deadline; /* ticks; TIMER_NEVER: none */
    struct timer timer;
    uint64_t futex_address; /* BLOCKED_FUTEX */

    /* Messages. Belongs to the thread while it runs, to who ends its wait while it waits. */
    struct reply_target reply_target; /* whom this thread has to answer */
    uint64_t call_id;                 /* of its last call or fault; under answer_lock while it waits there */
    uint64_t send_badge;              /* in a queue of senders: badge of the capability it called */
    uint32_t message_kind;            /* enum message_kind */
    uint32_t fault_kind;              /* enum fault_kind of fault.ev, of the fault being answered */
    uint64_t fault_label, fault_words[IPC_WORDS];
    uint64_t fault_since, fault_address; /* for fault_exit; fault_since 0: an exception */
    struct notification *bound;          /* a reference; written by the thread itself */

    /* Accounts. */
    uint64_t run_ticks;  /* until it was last switched out */
    uint64_t slice_used; /* ticks of the current slice */
    uint32_t traced;     /* TRACED_*: what is to be logged when it runs again */
    uint32_t tid;        /* constant */

    struct spinlock lock, answer_lock; /* survive free and reuse. Cover the waits named above */
    _Atomic uint32_t references;
    /* under space->lock */
    struct thread *space_next, *space_previous;
    /* under thread_list_lock (thread.c) */
    struct list all;
};

extern struct lock_class thread_lock_class;

/* The waits that no queue knows of are under one of the thread's own locks. */
static inline bool thread_owns_lock(const struct thread *thread, const struct spinlock *lock)
{
    return lock == &thread->lock || lock == &thread->answer_lock;
}

static inline struct thread *current_thread(void);

/* As it is at this moment; who changes it (sched_set_priority) makes processors look again. */
static inline uint32_t thread_priority(const struct thread *thread)
{
    return atomic_load_explicit(&thread->priority, memory_order_relaxed);
}

/* thread.c: life */
struct thread *thread_new(struct space *space, const struct thread_config *config, int *error);
struct thread *thread_new_idle(struct cpu *cpu);
static inline void thread_get(struct thread *thread)
{
    atomic_fetch_add_explicit(&thread->references, 1, memory_order_relaxed);
}
void thread_put(struct thread *thread);
void thread_resume(struct thread *thread);
void thread_suspend(struct thread *thread);
void thread_kill(struct thread *thread);
void thread_finish(struct thread *thread); /* on its processor, which has let go of it; no locks held */
void thread_park(struct thread *self);     /* the scheduler met PENDING_SUSPEND */
void thread_for_each(void (*visit)(struct thread *thread, void *context), void *context);
uint64_t thread_count_live(void);
/* The list's next (of NULL: the first), without its lock: for the debugger, while all processors stand. */
struct thread *thread_next_unlocked(const struct thread *previous);

/* wait.c: waits */
/* The current thread begins to wait under `lock`, which is held and given up here. The caller linked it
 * already. Returns with need_resched set; the handler returns SYSCALL_NO_RESULT. */
void thread_begin_wait(struct thread *self, enum thread_state state, struct spinlock *lock,
                       uint64_t deadline);
/* The lock of its wait, held; NULL if it does not wait. */
struct spinlock *thread_lock_wait(struct thread *thread);
/* With that lock held: the wait is over, and the thread is the caller's until sched_wake. Unlinks nothing. */
void thread_end_wait(struct thread *thread);
/* Ends whatever wait there is, with an error. False: it did not wait (a suspended thread is not ended by
 * this). */
bool thread_abort_wait(struct thread *thread, int64_t error);
void thread_expire(struct thread *thread, uint64_t now); /* its timer was due */

#include <kernel/cpu.h>

static inline struct thread *current_thread(void)
{
    return this_cpu()->current;
}

#endif
