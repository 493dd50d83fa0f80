/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/sched.c - which thread runs where. Interface and policy: sched.h; states and ownership: thread.h.
 *
 * A processor schedules at its kernel exit (kernel_leave), when need_resched is set. sched_reschedule decides
 * what becomes of the running thread (settle_current), picks the next (pick_next, steal), and switches
 * (switch_to).
 */
#include <arch/clock.h>
#include <kernel/cpu.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/space.h>
#include <kernel/switch.h>
#include <kernel/thread.h>
#include <trace/control/control.h>
#include <trace/irq.h>
#include <trace/sched.h>

static LOCK_CLASS(run_queue_class, "run queue");
_Atomic uint64_t sched_idle_cpus, sched_online_cpus;

static uint64_t bit_of(const struct cpu *cpu)
{
    return 1ull << cpu->index;
}

static uint64_t slice_ticks; /* the same for all, worked out once */

void sched_init_cpu(struct cpu *cpu)
{
    struct run_queue *queue = &cpu->run_queue;
    spin_init(&queue->lock, &run_queue_class);
    for (unsigned i = 0; i < TARN_PRIORITIES; i++)
        list_init(&queue->ready[i]);
    queue->running = SCHED_IDLE_PRIORITY;
    cpu->switched_at = arch_clock();
    slice_ticks = clock_hz / 1000 * SCHED_SLICE_MS;
    atomic_fetch_or(&sched_online_cpus, bit_of(cpu));
}

/* ---- queues; their lock held -----------------------------------------------------------------------------
 */

static int top_priority(const struct run_queue *queue)
{
    uint32_t bitmap = atomic_load_explicit(&queue->bitmap, memory_order_relaxed);
    return bitmap ? 31 - __builtin_clz(bitmap) : SCHED_IDLE_PRIORITY;
}

/* Relaxed: what is certain about it is so under a queue's lock (thread.h). */
static struct cpu *queued_on(const struct thread *thread)
{
    return atomic_load_explicit(&thread->queued_on, memory_order_relaxed);
}

static void queue_insert(struct cpu *cpu, struct thread *thread, bool at_head)
{
    struct run_queue *queue = &cpu->run_queue;
    uint32_t priority = thread_priority(thread);
    struct list *list = &queue->ready[priority];
    assert(spin_held(&queue->lock) && !queued_on(thread));
    if (at_head)
        list_add_head(list, &thread->link);
    else
        list_add_tail(list, &thread->link);
    atomic_store_explicit(&thread->queued_on, cpu, memory_order_relaxed);
    thread->queued_priority = priority;
    atomic_store_explicit(&thread->state, THREAD_READY, memory_order_relaxed);
    uint32_t length = atomic_fetch_add_explicit(&queue->length, 1, memory_order_relaxed) + 1;
    /* Before the look at `running`: see sched.h. */
    atomic_fetch_or(&queue->bitmap, 1u << priority);
    trace_sched_enqueue(thread->tid, (uint16_t)cpu->index, (uint16_t)length);
}

static void queue_remove(struct cpu *cpu, struct thread *thread)
{
    struct run_queue *queue = &cpu->run_queue;
    assert(spin_held(&queue->lock) && queued_on(thread) == cpu);
    list_remove(&thread->link);
    atomic_store_explicit(&thread->queued_on, NULL, memory_order_relaxed);
    if (list_empty(&queue->ready[thread->queued_priority]))
        atomic_fetch_and_explicit(&queue->bitmap, ~(1u << thread->queued_priority), memory_order_relaxed);
    uint32_t length = atomic_fetch_sub_explicit(&queue->length, 1, memory_order_relaxed) - 1;
    trace_sched_dequeue(thread->tid, (uint16_t)cpu->index, (uint16_t)length);
}

/* ---- placement -------------------------------------------------------------------------------------------
 */

static void interrupt(struct cpu *cpu)
{
    /* Release is enough: the interrupt, or the target's way out of the kernel, comes after. */
    atomic_store_explicit(&cpu->need_resched, 1, memory_order_release);
    if (cpu == this_cpu())
        return;
    trace_irq_ipi_send(cpu->index, IPI_RESCHEDULE);
    arch_send_ipi(cpu, IPI_RESCHEDULE);
}

/* An idle processor that nobody else has chosen meanwhile: its last one if possible, then this one, then any.
 */
static struct cpu *claim_idle(struct cpu *last, uint64_t allowed)
{
    uint64_t preferred[] = {bit_of(last), bit_of(this_cpu()), ~0ull};
    if (!(atomic_load(&sched_idle_cpus) & allowed))
        return NULL;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t idle;
        while ((idle = atomic_load(&sched_idle_cpus) & allowed & preferred[i])) {
            uint64_t bit = idle & -idle;
            if (atomic_fetch_and(&sched_idle_cpus, ~bit) & bit)
                return &cpus[__builtin_ctzll(bit)];
        }
    }
    return NULL;
}

/* Where the least important thread runs, if less important than `priority`; else the shortest queue. */
static struct cpu *choose_busy(struct cpu *last, uint64_t allowed, int priority)
{
    struct cpu *shortest = NULL, *lowest = NULL;
    int lowest_priority = priority;
    if (allowed & bit_of(last)) {
        if (atomic_load(&last->run_queue.running) < priority)
            return last;
        shortest = last;
    }
    for (uint64_t left = allowed; left; left &= left - 1) {
        struct cpu *cpu = &cpus[__builtin_ctzll(left)];
        int running = atomic_load(&cpu->run_queue.running);
        if (running < lowest_priority) {
            lowest_priority = running;
            lowest = cpu;
        }
        if (!shortest || cpu->run_queue.length < shortest->run_queue.length)
            shortest = cpu;
    }
    return lowest ? lowest : shortest;
}

static struct cpu *choose_cpu(struct thread *thread)
{
    struct cpu *last = atomic_load_explicit(&thread->cpu, memory_order_relaxed);
    uint64_t online = atomic_load_explicit(&sched_online_cpus, memory_order_relaxed);
    uint64_t allowed = atomic_load(&thread->affinity) & online;
    assert(allowed != 0); /* sched_set_affinity and thread_new see to it */
    struct cpu *cpu = claim_idle(last, allowed);
    return cpu ? cpu : choose_busy(last, allowed, (int)thread_priority(thread));
}

static void move_to(struct thread *thread, struct cpu *cpu)
{
    struct cpu *last = atomic_load_explicit(&thread->cpu, memory_order_relaxed);
    if (last == cpu)
        return;
    trace_sched_migrate(thread->tid, (uint16_t)last->index, (uint16_t)cpu->index);
    thread->block->cpu = cpu->index;
    thread->block->window = trace_user_window(cpu->index);
    /* Sequentially consistent: pairs with who sets `pending` and then looks where to interrupt. */
    atomic_store(&thread->cpu, cpu);
}

void sched_move_here(struct thread *thread)
{
    move_to(thread, this_cpu());
}

static void enqueue(struct thread *thread, struct cpu *cpu, bool at_head)
{
    int priority = (int)thread_priority(thread);
    move_to(thread, cpu);
    spin_lock(&cpu->run_queue.lock);
    queue_insert(cpu, thread, at_head);
    spin_unlock(&cpu->run_queue.lock);
    /* After the bitmap: see sched.h. */
    if (atomic_load(&cpu->run_queue.running) < priority)
        interrupt(cpu);
}

void sched_wake(struct thread *thread)
{
    struct cpu *cpu = choose_cpu(thread);
    trace_sched_wakeup(thread->block->name, thread->tid, (uint16_t)thread_priority(thread),
                       (uint16_t)cpu->index);
    enqueue(thread, cpu, false);
}

void sched_hand_over(struct thread *thread)
{
    struct cpu *cpu = this_cpu();
    if (!(atomic_load(&thread->affinity) & bit_of(cpu))) {
        sched_wake(thread);
        return;
    }
    trace_sched_wakeup(thread->block->name, thread->tid, (uint16_t)thread_priority(thread),
                       (uint16_t)cpu->index);
    enqueue(thread, cpu, true);
    atomic_store_explicit(&cpu->need_resched, 1, memory_order_relaxed);
}

/* ---- changes from outside
 * ---------------------------------------------------------------------------------- */

void sched_kick(struct thread *thread)
{
    interrupt(atomic_load(&thread->cpu));
}

/* Locks the queue of the processor that the thread belongs to. If the thread is in no queue, who owns it may
 * put it into another's at any moment (enqueue), whatever is locked here: only `queued_on` tells where it is.
 */
static struct cpu *lock_queue_of(struct thread *thread)
{
    for (;;) {
        struct cpu *cpu = atomic_load(&thread->cpu);
        spin_lock(&cpu->run_queue.lock);
        if (atomic_load(&thread->cpu) == cpu)
            return cpu;
        spin_unlock(&cpu->run_queue.lock);
    }
}

static bool is_running(const struct thread *thread)
{
    return atomic_load(&thread->state) == THREAD_RUNNING;
}

void sched_set_priority(struct thread *thread, uint32_t priority)
{
    trace_sched_priority(thread->tid, priority, atomic_load(&thread->affinity));
    struct cpu *cpu = lock_queue_of(thread);
    bool queued = queued_on(thread) == cpu;
    if (queued)
        queue_remove(cpu, thread);
    thread->priority = priority;
    if (queued)
        queue_insert(cpu, thread, false);
    spin_unlock(&cpu->run_queue.lock);
    if (queued || is_running(thread))
        interrupt(cpu); /* it looks again who comes first */
}

void sched_set_affinity(struct thread *thread, uint64_t affinity)
{
    trace_sched_priority(thread->tid, thread->priority, affinity);
    atomic_store(&thread->affinity, affinity);
    struct cpu *cpu = lock_queue_of(thread);
    bool moves = queued_on(thread) == cpu && !(affinity & bit_of(cpu));
    if (moves)
        queue_remove(cpu, thread);
    spin_unlock(&cpu->run_queue.lock);
    if (moves)
        sched_wake(thread);
    else if (is_running(thread))
        interrupt(cpu);
}

void sched_yield(void)
{
    struct cpu *cpu = this_cpu();
    cpu->wants_yield = true;
    atomic_store_explicit(&cpu->need_resched, 1, memory_order_relaxed);
}

void sched_slice_end(void)
{
    struct cpu *cpu = this_cpu();
    uint64_t now = arch_clock(), ran = cpu->current->slice_used + now - cpu->switched_at;
    trace_sched_quantum_end(cpu->current->tid, (uint32_t)(timer_nanoseconds(ran) / 1000));
    cpu->timer_queue.slice_end = now + sched_slice_ticks();
    sched_yield();
}

/* ---- the choice
 * ---------------------------------------------------------------------------------------------- */

uint64_t sched_slice_ticks(void)
{
    return slice_ticks;
}

/* What becomes of the thread that ran until now. True: it can go on. */
static bool settle_current(struct cpu *cpu, struct thread *current)
{
    if (current == cpu->idle || atomic_load_explicit(&current->state, memory_order_relaxed) != THREAD_RUNNING)
        return false;
    uint32_t pending = atomic_load_explicit(&current->pending, memory_order_relaxed);
    if (pending & PENDING_KILL) {
        switch_to(cpu, cpu->idle, TRACE_SCHED_DEAD);
        thread_finish(current);
        return false;
    }
    if (pending & PENDING_SUSPEND) {
        thread_park(current);
        return false;
    }
    if (!(atomic_load_explicit(&current->affinity, memory_order_relaxed) & bit_of(cpu))) {
        sched_wake(current);
        return false;
    }
    return true;
}

/* The best ready thread of this processor's queue, taken out; NULL: `current` stays (it may be NULL too). */
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
    struct thread *runs = next ? next : current;
    /* Under the lock: who enqueues later sees it, who enqueued earlier was considered. */
    atomic_store(&queue->running, runs ? (int)thread_priority(runs) : SCHED_IDLE_PRIORITY);
    cpu->wants_yield = false;
    spin_unlock(&queue->lock);
    return next;
}

/* A thread in another's queue that may run here, and whose processor has let go of it. That queue's lock
 * held. */
static struct thread *find_movable(struct run_queue *queue, uint64_t bit)
{
    for (uint32_t left = queue->bitmap; left;) {
        int priority = 31 - __builtin_clz(left);
        left &= ~(1u << priority);
        struct list *head = &queue->ready[priority];
        for (struct list *link = head->next; link != head; link = link->next) {
            struct thread *thread = list_object(link, struct thread, link);
            /* Acquire: pairs with the release in switch_to. */
            if (atomic_load(&thread->affinity) & bit &&
                !atomic_load_explicit(&thread->on_cpu, memory_order_acquire))
                return thread;
        }
    }
    return NULL;
}

/* Takes a ready thread from the processor with the longest queue. */
static struct thread *steal(struct cpu *cpu)
{
    uint64_t others = atomic_load_explicit(&sched_online_cpus, memory_order_relaxed) & ~bit_of(cpu);
    while (others) {
        struct cpu *victim = NULL;
        for (uint64_t left = others; left; left &= left - 1) {
            struct cpu *other = &cpus[__builtin_ctzll(left)];
            if (!victim || other->run_queue.length > victim->run_queue.length)
                victim = other;
        }
        if (victim->run_queue.length == 0)
            return NULL;
        others &= ~bit_of(victim);
        spin_lock(&victim->run_queue.lock);
        struct thread *thread = find_movable(&victim->run_queue, bit_of(cpu));
        if (thread) {
            queue_remove(victim, thread);
            move_to(thread, cpu); /* under the lock, so that nobody looks for it in the wrong queue */
        }
        spin_unlock(&victim->run_queue.lock);
        if (thread)
            return thread;
    }
    return NULL;
}

static void start_slice(struct cpu *cpu, struct thread *thread)
{
    uint64_t slice = sched_slice_ticks();
    if (thread->slice_used >= slice)
        thread->slice_used = 0;
    cpu->timer_queue.slice_end = cpu->switched_at + slice - thread->slice_used;
    timer_program();
}

void sched_reschedule(void)
{
    struct cpu *cpu = this_cpu();
    bool stays = settle_current(cpu, cpu->current);
    struct thread *next = pick_next(cpu, stays ? cpu->current : NULL);
    if (!next && stays)
        return;
    if (!stays)
        cpu->current->slice_used = 0;
    if (!next && (next = steal(cpu)))
        atomic_store(&cpu->run_queue.running, (int)thread_priority(next));
    if (next) {
        wait_until_free(cpu, next);
        switch_to(cpu, next, atomic_load_explicit(&cpu->current->state, memory_order_relaxed));
        start_slice(cpu, next);
    } else {
        cpu->timer_queue.slice_end = TIMER_NEVER;
        switch_to(cpu, cpu->idle, atomic_load_explicit(&cpu->current->state, memory_order_relaxed));
    }
}

/* Sleeps until something happens. The bit is set before the last look at the other queues: who enqueues a
 * thread anywhere either is seen there, or sees the bit and sends it here. */
static void idle(struct cpu *cpu)
{
    atomic_fetch_or(&sched_idle_cpus, bit_of(cpu));
    struct thread *thread = steal(cpu);
    if (thread) {
        enqueue(thread, cpu, false);
    } else if (!atomic_load(&cpu->need_resched) && !atomic_load(&cpu->run_queue.bitmap)) {
        space_leave(cpu); /* lest a shootdown wake this processor, and wait for it */
        trace_sched_idle(1);
        arch_wait_for_interrupt();
        trace_sched_idle(0);
    }
    atomic_fetch_and(&sched_idle_cpus, ~bit_of(cpu));
}

void kernel_leave(void)
{
    struct cpu *cpu = this_cpu();
    for (;;) {
        /* Before anything is looked at: pairs with interrupt(), whose 1 must not be overwritten by a 0 that
         * comes late. */
        atomic_store_explicit(&cpu->need_resched, 0, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
        sched_reschedule();
        if (cpu->current == cpu->idle)
            idle(cpu);
        else if (!atomic_load_explicit(&cpu->need_resched, memory_order_relaxed) &&
                 !atomic_load_explicit(&cpu->current->pending, memory_order_relaxed))
            return; /* else what was chosen is to end or to stop before it runs another instruction */
    }
}
