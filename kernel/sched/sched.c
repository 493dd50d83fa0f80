/*
 * sched.c - run queues, and the placement of threads that wake up. Interface and policy: sched.h. States
 * and ownership: thread.h. schedule.c chooses what a CPU runs next.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/explore.h>
#include <kernel/cpu/span.h>
#include <kernel/kernel.h>
#include <kernel/sched/run_queue.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/switch.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <trace/irq.h>
#include <trace/sched.h>

static LOCK_CLASS(run_queue_class, "run queue");
_Atomic uint64_t sched_idle_cpus, sched_online_cpus;
uint64_t sched_slice;

void sched_init_cpu(struct cpu *cpu)
{
    struct run_queue *queue = &cpu->run_queue;
    spin_init(&queue->lock, &run_queue_class);
    for (unsigned i = 0; i < TARN_PRIORITIES; i++)
        list_init(&queue->ready[i]);
    queue->running = SCHED_IDLE_PRIORITY;
    cpu->switched_at = arch_clock();
    sched_slice = timer_ticks_ms(SCHED_SLICE_MS);
    atomic_fetch_or(&sched_online_cpus, bit_of(cpu));
}

/* ---- Queues; their lock held ---- */

/* Relaxed: it is certain only under a queue's lock (thread.h). */
static struct cpu *queued_on(const struct thread *thread)
{
    return atomic_load_explicit(&thread->queued_on, memory_order_relaxed);
}

/* No other CPU writes it while the lock is held. */
static uint32_t bitmap_of(const struct run_queue *queue)
{
    return atomic_load_explicit(&queue->bitmap, memory_order_relaxed);
}

static uint32_t add_length(struct run_queue *queue, int change)
{
    uint32_t length = atomic_load_explicit(&queue->length, memory_order_relaxed) + (uint32_t)change;
    atomic_store_explicit(&queue->length, length, memory_order_relaxed);
    return length;
}

void queue_insert(struct cpu *cpu, struct thread *thread, bool at_head)
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
    uint32_t length = add_length(queue, 1);
    /* Before the load of `running`: see sched.h. */
    atomic_store(&queue->bitmap, bitmap_of(queue) | 1u << priority);
    explore_inserted(cpu, thread, at_head);
    trace_sched_enqueue(thread->tid, (uint16_t)cpu->index, (uint16_t)length);
}

void queue_remove(struct cpu *cpu, struct thread *thread)
{
    struct run_queue *queue = &cpu->run_queue;
    assert(spin_held(&queue->lock) && queued_on(thread) == cpu);
    list_remove(&thread->link);
    atomic_store_explicit(&thread->queued_on, NULL, memory_order_relaxed);
    if (list_empty(&queue->ready[thread->queued_priority]))
        atomic_store_explicit(&queue->bitmap, bitmap_of(queue) & ~(1u << thread->queued_priority),
                              memory_order_relaxed);
    uint32_t length = add_length(queue, -1);
    trace_sched_dequeue(thread->tid, (uint16_t)cpu->index, (uint16_t)length);
}

/* ---- Placement ---- */

/* Makes the CPU check its queue. If need_resched is set, the CPU will check anyway, by a pending interrupt or
 * at its kernel exit, which clears need_resched before it reads the queue. Sequentially consistent for that;
 * pairs with kernel_exit(). */
static void interrupt(struct cpu *cpu)
{
    const bool is_told = atomic_exchange(&cpu->need_resched, 1);
    explore_told(cpu);
    if (is_told || cpu == this_cpu())
        return;
    trace_irq_ipi_send(cpu->index, IPI_RESCHEDULE);
    arch_send_ipi(cpu, IPI_RESCHEDULE);
}

/* An idle CPU that no other CPU has claimed: the last one, else this one, else any. Inline for choose_cpu. */
static inline __attribute__((always_inline)) struct cpu *claim_idle(struct cpu *last, uint64_t allowed)
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

/* The CPU whose thread has the lowest priority, if below `priority`; else the shortest queue. */
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
    assert(allowed != 0); /* sched_set_affinity's callers and thread_new ensure it */
    int explored = explore_place(allowed);
    if (explored >= 0)
        return &cpus[explored];
    struct cpu *cpu = claim_idle(last, allowed);
    return cpu ? cpu : choose_busy(last, allowed, (int)thread_priority(thread));
}

static void tell(struct cpu *cpu, const struct thread *thread)
{
    explore_told_of(thread);
    interrupt(cpu);
}

/* The thread waits in a busy CPU's queue. A CPU that went idle after that one was chosen may have searched
 * the queues before the thread was there, so it must search again. */
static __attribute__((noinline)) void tell_idle(const struct thread *thread)
{
    struct cpu *idle = claim_idle(this_cpu(), atomic_load(&thread->affinity));
    if (idle)
        tell(idle, thread);
}

void sched_move(struct thread *thread, struct cpu *cpu)
{
    struct cpu *last = atomic_load_explicit(&thread->cpu, memory_order_relaxed);
    if (last == cpu)
        return;
    trace_sched_migrate_task(thread->block->name, thread->tid, thread_priority(thread), last->index,
                             cpu->index);
    thread->block->cpu = cpu->index;
    thread->block->ring = cpu_user_ring(cpu);
    /* Sequentially consistent: pairs with setting `pending` or `priority` and then reading which CPU to
     * interrupt. */
    atomic_store(&thread->cpu, cpu);
    atomic_thread_fence(memory_order_seq_cst);
}

/* tells_idle: interrupts an idle CPU, which may take the thread from a busy one's queue at once. */
static inline void enqueue(struct thread *thread, struct cpu *cpu, bool at_head, bool tells_idle)
{
    sched_move(thread, cpu);
    explore_fills(cpu);
    spin_lock(&cpu->run_queue.lock);
    queue_insert(cpu, thread, at_head);
    int priority = (int)thread->queued_priority; /* sched_set_priority may have changed it just before */
    spin_unlock(&cpu->run_queue.lock);
    /* After the bitmap: see sched.h. */
    if (atomic_load(&cpu->run_queue.running) < priority)
        tell(cpu, thread);
    else if (!tells_idle)
        explore_told_of(thread);
    else if (atomic_load(&sched_idle_cpus))
        tell_idle(thread);
    explore_fills(NULL);
}

void sched_enqueue(struct thread *thread, struct cpu *cpu, bool at_head)
{
    enqueue(thread, cpu, at_head, !at_head);
}

void sched_wake(struct thread *thread)
{
    struct cpu *cpu = choose_cpu(thread);
    trace_sched_wakeup(thread->block->name, thread->tid, (uint16_t)thread_priority(thread),
                       (uint16_t)cpu->index);
    sched_enqueue(thread, cpu, false);
}

void sched_place(struct thread *thread)
{
    sched_enqueue(thread, choose_cpu(thread), false);
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
    sched_enqueue(thread, cpu, true);
    atomic_store_explicit(&cpu->need_resched, 1, memory_order_relaxed);
}

/* ---- Changes from outside ---- */

void sched_kick(struct thread *thread)
{
    interrupt(atomic_load(&thread->cpu));
}

/* Locks the queue of the thread's CPU. If the thread is in no queue, its owner may put it into another one
 * at any time (sched_enqueue); only `queued_on` says where it is. */
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

void sched_set_priority(struct thread *thread, uint32_t priority)
{
    trace_sched_priority(thread->tid, priority, atomic_load(&thread->affinity));
    /* First: a CPU that moves the thread to another queue either reads this, or has stored its new CPU
     * (sched_move) before lock_queue_of reads that. */
    explore_fills_any();
    atomic_store(&thread->priority, priority);
    struct cpu *cpu = lock_queue_of(thread);
    if (queued_on(thread) == cpu) {
        queue_remove(cpu, thread);
        queue_insert(cpu, thread, false);
    }
    spin_unlock(&cpu->run_queue.lock);
    tell(cpu, thread); /* to choose again: the thread may run there, or be about to */
    explore_fills(NULL);
}

void sched_set_affinity(struct thread *thread, uint64_t affinity)
{
    trace_sched_priority(thread->tid, thread->priority, affinity);
    atomic_store(&thread->affinity, affinity);
    explore_movable(thread);
    struct cpu *cpu = lock_queue_of(thread);
    bool moves = queued_on(thread) == cpu && !(affinity & bit_of(cpu));
    if (moves)
        queue_remove(cpu, thread);
    spin_unlock(&cpu->run_queue.lock);
    if (moves)
        sched_place(thread);
    else if (atomic_load(&thread->state) == THREAD_RUNNING)
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
    cpu->timer_queue.slice_end = now + sched_slice;
    sched_yield();
}

void handle_wake(void)
{
    struct cpu *cpu = this_cpu();
    explore_enters_kernel();
    if (!cpu->sleeps)
        return;
    cpu->sleeps = false;
    explore_wakes(cpu);
    SPAN_END(SCHED, trace_sched_idle(TRACED_WAKE, cpu->index));
}
