/*
 * run_queue.h - shared by sched.c, which fills run queues, and schedule.c, which empties them. The rest of
 * the kernel uses sched.h.
 */
#pragma once

#include <kernel/cpu/cpu.h>
#include <kernel/sched/sched.h>

static inline uint64_t bit_of(const struct cpu *cpu)
{
    return 1ull << cpu->index;
}

static inline int top_priority(const struct run_queue *queue)
{
    uint32_t bitmap = atomic_load_explicit(&queue->bitmap, memory_order_relaxed);
    return bitmap ? 31 - __builtin_clz(bitmap) : SCHED_IDLE_PRIORITY;
}

/* The caller holds the queue's lock. */
void queue_insert(struct cpu *cpu, struct thread *thread, bool at_head);
void queue_remove(struct cpu *cpu, struct thread *thread);

/* The thread belongs to `cpu` from now on. The caller owns it, or holds its queue's lock. */
void sched_move(struct thread *thread, struct cpu *cpu);
/* Puts a thread that the caller owns into the queue of `cpu`, and interrupts that CPU if the thread
 * preempts its current one. */
void sched_enqueue(struct thread *thread, struct cpu *cpu, bool at_head);
