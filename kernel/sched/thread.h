/*
 * thread.h - threads: their states, and which code may change them.
 *
 * The kernel has one stack per CPU and is never preempted. A thread that must wait keeps nothing on a stack:
 * its registers are in its trap frame, the object of its wait is in this struct, and the CPU runs another
 * thread.
 *
 *                      thread_create
 *                           |                       sched_wake
 *                       SUSPENDED ---resume--> READY <--------- BLOCKED_* / SLEEPING
 *                           ^                  |   ^                  ^
 *                   suspend |        reschedule|   | preempted        | ipc, wait, futex, sleep, fault
 *                           +--------------- RUNNING -----------------+
 *                                              | killed
 *                                            DEAD
 *
 * What protects the state
 *
 *   - READY: the lock of the run queue of thread->cpu covers membership in the queue.
 *   - RUNNING: only the CPU that runs the thread changes it.
 *   - Waiting (all others but DEAD): the lock that thread->wait_lock points to. It is the endpoint's,
 *     notification's or futex bucket's, or the thread's own `reply_lock` (BLOCKED_REPLY, a fault that
 *     waits for its reply) or `lock` (SLEEPING, SUSPENDED). A thread waits exactly while wait_lock is not
 *     NULL.
 *
 * Replies. A thread waits for the reply to call N exactly if, with its reply_lock held, wait_lock points
 * to reply_lock and call_id is N. No other wait uses that lock, call_id changes only before the next
 * message is sent, and ids are never reused. So a late or second reply finds no caller, whatever the thread
 * does by then (reply.c, ipc_fast.c).
 *
 * To begin a wait (thread_begin_wait), a thread holds that lock, writes state and wait data, then wait_lock
 * (sequentially consistent), and then reads `pending`.
 *
 * To end a wait: take the lock (thread_lock_wait, which then checks again), unlink the thread, clear
 * wait_lock (thread_end_wait), release the lock, write the result into the frame, sched_wake. Whichever CPU
 * clears wait_lock owns the thread until sched_wake, so a wait ends once.
 *
 * Kill and suspend set a bit in `pending` (sequentially consistent), then read wait_lock:
 *
 *   - The thread waits: its wait is ended.
 *   - It has just begun to wait: it sees the bit, and ends the wait itself.
 *   - It is ready or running: its CPU is interrupted, and tests `pending` before it resumes the thread.
 *
 * So a thread ends in one place only: in the scheduler of the CPU where it is current, with no lock held
 * (thread_finish). A suspended thread stays in its wait and stops after it.
 *
 * on_cpu. A thread that has just blocked can be woken before its CPU has saved its floating-point
 * registers. on_cpu is set while a CPU still uses the thread. A CPU that wants to run it waits until the
 * flag is clear, after it has released its own thread, so that two CPUs do not wait for each other.
 *
 * A time-out ends the wait with E_TIMEOUT if, under the lock of the wait, the deadline has passed
 * (thread_expire).
 *
 * References: capabilities, one for being alive, and one for each reply_target whose call the thread gave
 * up (endpoint.h). A pointer found without a reference may be locked and read until this kernel entry ends
 * (slab.h).
 *
 * Read next: sched.h (READY, RUNNING), endpoint.h (messages), space_exit.c (death).
 */
#pragma once

#include <arch/frame.h>
#include <arch/thread.h>
#include <kernel/cpu/lock.h>
#include <kernel/lib/list.h>
#include <kernel/sched/timer.h>
#include <stdatomic.h>
#include <tarn/abi.h>
#include <tarn/thread_block.h>
#include <trace/format/routine.h>

/* Bits of thread->pending. */
#define PENDING_KILL    1u
#define PENDING_SUSPEND 2u

/* Parts of thread->traced: the events to log when it runs again. */
#define TRACED_NUMBER  0xffffu  /* with TRACED_SYSCALL: number of the system call */
#define TRACED_SYSCALL 0x10000u /* a system call returns */
#define TRACED_CALL    0x20000u /* an ipc call returns, or a fault ends */
#define TRACED_FAULT   0x40000u /* a fault ends that is counted (diagnosis/routines.h) */

/* The operation of a thread in an endpoint's queue of senders. */
enum message_kind { MESSAGE_CALL, MESSAGE_SEND, MESSAGE_FAULT };

struct notification;

/* A caller to reply to; belongs to the thread (or reply object) that has to do it.
 *
 * While the caller waits for this reply it is alive, so this is no counted reference. If the wait ends
 * otherwise, finish_wait (wait.c) takes one for the target. It is dropped with the target: in
 * ipc_fail_caller, or when a reply fails (ipc_answer_own). So messages cost no reference counting, and a
 * target never outlives the caller's memory. */
struct reply_target {
    struct thread *caller; /* NULL: no caller waits */
    uint64_t call_id;
};

/* diagnosis/counters.h; belongs to the thread's CPU. */
struct thread_counters {
    uint64_t sum[COUNTER_SLOTS];   /* up to the last switch away from it, while the class was on */
    uint64_t entry[COUNTER_SLOTS]; /* what its system call began with, valid if the generation is current */
    uint64_t entry_generation;
};

struct thread {
    struct arch_frame frame;    /* must be first: the entry code saves here */
    struct arch_thread arch;    /* floating point, thread pointer */
    struct thread_block *block; /* kernel address; constant */
    uint64_t block_user;        /* its user address; constant */
    struct space *space;        /* a reference; constant. Idle threads: NULL */
    _Atomic(struct cpu *) cpu;  /* where it runs or ran last; written by the thread's owner */
    _Atomic uint32_t on_cpu;    /* release when that CPU has released it, acquire by the next */
    _Atomic uint32_t pending;   /* PENDING_* */
    _Atomic uint32_t state;     /* enum thread_state, see above */
    _Atomic uint32_t priority;  /* may change at any time; the queue uses the next one */
    uint32_t queued_priority;   /* under the run queue's lock: whose list `link` is in */
    /* Whose run queue it is in; NULL: none. Changes only under that queue's lock, so under X's lock it is
     * certain whether it is X's. */
    _Atomic(struct cpu *) queued_on;
    _Atomic uint64_t affinity;

    /* The wait: see above. */
    _Atomic(struct spinlock *) wait_lock;
    struct list link;       /* in a queue of the object it waits on, or a run queue */
    uint64_t wait_deadline; /* ticks; TIMER_NEVER: none */
    struct timer timer;
    uint64_t futex_address; /* BLOCKED_FUTEX */

    /* Messages. Belong to the thread while it runs, and to the CPU that ends its wait. */
    struct reply_target reply_target; /* the caller to which this thread has to reply */
    uint64_t call_id;                 /* of its last call or fault; under reply_lock while it waits there */
    uint64_t send_badge;              /* in a queue of senders: badge of the capability used */
    uint32_t message_kind;            /* enum message_kind */
    uint32_t fault_kind;              /* enum fault_kind of fault.ev: the fault that waits for a reply */
    uint64_t fault_label, fault_words[IPC_WORDS];
    uint64_t fault_since, fault_address; /* for fault_exit; fault_since 0: an exception */
    struct notification *bound;          /* a reference; written by the thread itself */

    /* Accounting. */
    uint64_t run_ticks;  /* total, up to the last switch away from it */
    uint64_t slice_used; /* ticks of the current time slice */
    uint32_t traced;     /* TRACED_* */
    uint32_t tid;        /* constant */
    struct thread_counters counters;
    struct open_routines routines;       /* belongs to the CPU that runs it */
    struct routine_table *routine_table; /* NULL: none yet; routines.c takes it */

    struct spinlock lock, reply_lock; /* for the waits above; survive free and reuse */
    _Atomic uint32_t references;
    /* under space->lock: */
    struct list in_space;
    /* under thread_list_lock (thread.c): */
    struct list all;
};

extern struct lock_class thread_lock_class;

/* A wait in no object's queue is under one of the thread's own locks. */
static inline bool thread_owns_lock(const struct thread *thread, const struct spinlock *lock)
{
    return lock == &thread->lock || lock == &thread->reply_lock;
}

static inline struct thread *current_thread(void);

/* May be stale at once; sched_set_priority makes CPUs check again. */
static inline uint32_t thread_priority(const struct thread *thread)
{
    return atomic_load_explicit(&thread->priority, memory_order_relaxed);
}

/* thread.c: creation, suspension, death */
struct thread *thread_new(struct space *space, const struct thread_config *config, int *error);
struct thread *thread_new_idle(struct cpu *cpu);
static inline void thread_get(struct thread *thread)
{
    atomic_fetch_add_explicit(&thread->references, 1, memory_order_relaxed);
}
void thread_put(struct thread *thread);
void thread_kill(struct thread *thread);
/* On the thread's CPU, which has switched away from it; hold no locks. */
void thread_finish(struct thread *thread);
/* Has thread_finish call function(thread). Steps: 1_calls, 2_routines, 3_space (leaves it; the last thread
 * ends it), 4_tables. */
typedef void thread_end(struct thread *thread);
extern thread_end *const thread_ends_first[], *const thread_ends_last[];
#define THREAD_END(step, function) LISTEN(thread_ends, step, thread_end, function)
void thread_park(struct thread *self); /* the scheduler found PENDING_SUSPEND */
void thread_for_each(void (*visit)(struct thread *thread, void *context), void *context);
/* The next of all threads (NULL: the first). For the debugger, without the lock, while all CPUs are
 * stopped. */
struct thread *thread_next_unlocked(const struct thread *previous);

/* wait.c: waits */
/* The current thread, linked by the caller, begins to wait under `lock`, which is held, and released here.
 * Returns with need_resched set; the handler returns SYSCALL_NO_RESULT. */
void thread_begin_wait(struct thread *self, enum thread_state state, struct spinlock *lock,
                       uint64_t deadline);
/* Returns the lock of the thread's wait, held; NULL: it does not wait. */
struct spinlock *thread_lock_wait(struct thread *thread);
/* With that lock held: the wait is over, and the caller owns the thread until sched_wake. Does not unlink. */
void thread_end_wait(struct thread *thread);
/* Ends the thread's wait with an error. False: it did not wait, or is suspended. */
bool thread_abort_wait(struct thread *thread, int64_t error);
/* Ends with E_DEAD the waits of the threads in a queue, under its lock. A faulting thread retries. */
void thread_end_waits(struct spinlock *lock, struct list *queue);
void thread_expire(struct thread *thread, uint64_t now); /* its timer has expired */

#include <kernel/cpu/cpu.h>

static inline struct thread *current_thread(void)
{
    return this_cpu()->current;
}
