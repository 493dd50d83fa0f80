/*
 * schedule.c - chooses what this CPU runs next. Interface and policy: sched.h.
 *
 * A CPU schedules when it leaves the kernel (kernel_exit) with need_resched set. sched_reschedule decides
 * what becomes of the running thread (check_current), picks the next (pick_next, steal), and switches
 * (switch_to). The port calls kernel_exit with all registers stored, so this file may be compiled not to
 * preserve any.
 */
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/explore.h>
#include <kernel/cpu/span.h>
#include <kernel/kernel.h>
#include <kernel/sched/run_queue.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/switch.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>

/* Returns true if the current thread can continue. */
static bool check_current(struct cpu *cpu, struct thread *current)
{
    if (current == cpu->idle || atomic_load_explicit(&current->state, memory_order_relaxed) != THREAD_RUNNING)
        return false;
    uint32_t pending = atomic_load_explicit(&current->pending, memory_order_relaxed);
    if (pending & PENDING_KILL) {
        atomic_store_explicit(&current->state, THREAD_DEAD, memory_order_relaxed);
        switch_to(cpu, cpu->idle);
        thread_finish(current);
        return false;
    }
    if (pending & PENDING_SUSPEND) {
        thread_park(current);
        return false;
    }
    if (!(atomic_load_explicit(&current->affinity, memory_order_relaxed) & bit_of(cpu))) {
        sched_place(current);
        return false;
    }
    return true;
}

/* Removes and returns the queue's best thread. NULL: `current`, which may be NULL, continues. */
static struct thread *pick_next(struct cpu *cpu, struct thread *current)
{
    struct run_queue *queue = &cpu->run_queue;
    struct thread *next = NULL;
    spin_lock(&queue->lock);
    int top = top_priority(queue), mine = current ? (int)thread_priority(current) : SCHED_IDLE_PRIORITY;
    if (top > mine || (top == mine && top >= 0 && cpu->wants_yield)) {
        next = list_object(queue->ready[top].next, struct thread, link);
        queue_remove(cpu, next);
        if (current) {
            if (cpu->wants_yield)
                current->slice_used = 0;
            queue_insert(cpu, current, !cpu->wants_yield);
        }
    }
    /* Under the lock: a later enqueue sees it; an earlier one was counted. By the priority that was compared:
     * a change since then makes this CPU choose again. */
    atomic_store(&queue->running, next ? top : mine);
    cpu->wants_yield = false;
    spin_unlock(&queue->lock);
    return next;
}

/* Finds a queued thread that may run here and that its CPU has released. The queue's lock is held. */
static struct thread *find_movable(struct run_queue *queue, uint64_t bit)
{
    for (uint32_t left = queue->bitmap; left;) {
        int priority = 31 - __builtin_clz(left);
        left &= ~(1u << priority);
        struct list *head = &queue->ready[priority];
        for (struct list *link = head->next; link != head; link = link->next) {
            struct thread *thread = list_object(link, struct thread, link);
            /* Acquire: pairs with the release in switch_out. */
            if (atomic_load(&thread->affinity) & bit &&
                !atomic_load_explicit(&thread->on_cpu, memory_order_acquire))
                return thread;
        }
    }
    return NULL;
}

/* The CPU of `others` with the longest queue; NULL: all are empty. Reads each length once: if the longest
 * queue became empty between two reads, the others' threads would be overlooked. */
static struct cpu *choose_victim(uint64_t others)
{
    struct cpu *victim = NULL;
    uint32_t longest = 0;
    for (uint64_t left = others; left; left &= left - 1) {
        struct cpu *other = &cpus[__builtin_ctzll(left)];
        uint32_t length = atomic_load(&other->run_queue.length);
        if (length > longest) {
            longest = length;
            victim = other;
        }
    }
    return victim;
}

static struct thread *steal(struct cpu *cpu)
{
    uint64_t others = atomic_load_explicit(&sched_online_cpus, memory_order_relaxed) & ~bit_of(cpu);
    struct cpu *victim;
    while ((victim = choose_victim(others))) {
        others &= ~bit_of(victim);
        spin_lock(&victim->run_queue.lock);
        struct thread *thread = find_movable(&victim->run_queue, bit_of(cpu));
        if (thread) {
            queue_remove(victim, thread);
            sched_move(thread, cpu); /* under the lock, so that lock_queue_of does not find the wrong queue */
        }
        spin_unlock(&victim->run_queue.lock);
        if (thread)
            return thread;
    }
    return NULL;
}

static void start_slice(struct cpu *cpu, struct thread *thread)
{
    uint64_t slice = sched_slice;
    if (thread->slice_used >= slice)
        thread->slice_used = 0;
    cpu->timer_queue.slice_end = cpu->switched_at + slice - thread->slice_used;
    timer_program();
}

void sched_reschedule(void)
{
    struct cpu *cpu = this_cpu();
    bool stays = check_current(cpu, cpu->current);
    struct thread *next = pick_next(cpu, stays ? cpu->current : NULL);
    if (!next && stays)
        return;
    if (!stays)
        cpu->current->slice_used = 0;
    if (!next && (next = steal(cpu)))
        atomic_store(&cpu->run_queue.running, (int)thread_priority(next));
    if (next) {
        wait_until_free(cpu, next);
        switch_to(cpu, next);
        start_slice(cpu, next);
    } else {
        cpu->timer_queue.slice_end = TIMER_NEVER;
        switch_to(cpu, cpu->idle);
    }
}

static void say_idle(struct cpu *cpu)
{
    atomic_fetch_or(&sched_idle_cpus, bit_of(cpu));
    explore_idles(cpu);
}

/* Sleeps until something happens. Sets the bit, then searches the other queues once more: a thread that is
 * enqueued anywhere is found here, or the CPU that enqueues it sees the bit and interrupts (sched_enqueue).
 */
static void idle(struct cpu *cpu)
{
    say_idle(cpu);
    struct thread *thread = steal(cpu);
    if (thread) {
        sched_enqueue(thread, cpu, false);
    } else if (!atomic_load(&cpu->need_resched) && !atomic_load(&cpu->run_queue.bitmap)) {
        space_unload(cpu);
        SPAN_BEGIN(SCHED, TRACE_ROUTINE_IDLE, 0, trace_sched_idle(TRACED_SLEEP, cpu->index));
        profile_sleep();
        cpu->sleeps = true;
        arch_wait_for_interrupt();
        handle_wake();
        profile_wake();
    }
    atomic_fetch_and(&sched_idle_cpus, ~bit_of(cpu));
}

void kernel_exit(void)
{
    struct cpu *cpu = this_cpu();
    if (!ARCH_SWITCHED_RETURNS && __builtin_expect(cpu->profile.window, 0)) /* a handler did not return */
        profile_close_window();
    for (;;) {
        /* Before all other reads: pairs with interrupt(), whose 1 a late 0 must not overwrite. */
        atomic_store_explicit(&cpu->need_resched, 0, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
        sched_reschedule();
        if (cpu->current == cpu->idle)
            idle(cpu);
        else if (!atomic_load_explicit(&cpu->need_resched, memory_order_relaxed) &&
                 !atomic_load_explicit(&cpu->current->pending, memory_order_relaxed))
            break; /* else the chosen thread must end or stop first */
    }
    explore_returns(cpu);
}
