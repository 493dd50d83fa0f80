/*
 * explore_idle.c - finds CPUs that sleep although they should run a thread. Interface: explore.h.
 *
 * When a CPU wakes up, for whatever reason, there must be no such ready thread (schedule.c, sched.c):
 *
 *   - in another CPU's queue: a thread that this CPU may run, and that could already be taken when this CPU
 *     announced that it is idle. It checks all queues after that, so it must have seen the thread.
 *   - in another CPU's queue: a thread that this CPU may run, that was inserted later, and for which no CPU
 *     was interrupted. The CPU that inserts a thread sees which CPUs are idle and not claimed for another
 *     one.
 *   - in its own queue: a thread for which no CPU has interrupted this one since the thread was inserted.
 *
 * When a CPU returns to a thread, none of a higher priority may be in its queue, unless it will look again.
 *
 * A CPU that inserts a thread decides afterwards whom to interrupt; as long as any has not decided, nothing
 * is reported of that queue. Nor is a thread that was inserted before its last CPU had left it, and could be
 * taken only, or by an older value of on_cpu, when this CPU was idle. A heartbeat ends each sleep, so a lost
 * interrupt only causes delay.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/explore.h>
#include <kernel/explore/explore_point.h>
#include <kernel/kernel.h>
#include <kernel/sched/run_queue.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>

#define THREADS 4096u
#define NEVER   (~0ull)

/* Indexed by a hash of the thread's address. Threads that share an entry are not checked. */
static struct ready {
    const struct thread *thread;
    uint64_t inserted; /* ticks */
    uint64_t movable;  /* ticks: since then other CPUs may take it */
    bool expected;     /* a CPU was interrupted because of it, or runs it at once (sched_hand_over) */
} ready[THREADS];
static struct processor {
    uint64_t idle_since, told; /* ticks */
    const struct cpu *fills;   /* inserts a thread there, and has not yet decided whom to interrupt */
    bool fills_any;            /* the same, of a CPU that is not known yet */
    bool reported, misled;     /* misled: has read an older value since idle_since (explore_race.c) */
} processors[CPUS_MAX];

static struct ready *ready_of(const struct thread *thread)
{
    return &ready[((uint64_t)thread * 0x9e3779b97f4a7c15ull >> 40) % THREADS];
}

void explore_movable(const struct thread *thread)
{
    struct ready *own = ready_of(thread);
    if (own->thread == thread)
        own->movable = arch_clock();
}

void explore_inserted(const struct cpu *cpu, const struct thread *thread, bool at_head)
{
    uint64_t now = arch_clock();
    /* A thread that is still on a CPU becomes movable when it has left it (switch_out). */
    uint64_t movable = atomic_load(&thread->on_cpu) ? NEVER : now;
    *ready_of(thread) =
        (struct ready){.thread = thread, .inserted = now, .movable = movable, .expected = at_head};
}

void explore_told(const struct cpu *cpu)
{
    processors[cpu->index].told = arch_clock();
}

void explore_told_of(const struct thread *thread)
{
    struct ready *own = ready_of(thread);
    if (own->thread == thread)
        own->expected = true;
}

void explore_fills(const struct cpu *cpu)
{
    struct processor *own = &processors[this_cpu()->index];
    own->fills_any = false;
    own->fills = cpu;
}

void explore_fills_any(void)
{
    processors[this_cpu()->index].fills_any = true;
}

void explore_idles(const struct cpu *cpu)
{
    processors[cpu->index].idle_since = arch_clock();
    processors[cpu->index].misled = false;
}

void explore_idles_wrongly(uint32_t cpu)
{
    processors[cpu].misled = true;
}

static bool is_being_filled(const struct cpu *cpu)
{
    for (uint32_t i = 0; i < cpu_count; i++)
        if (processors[i].fills == cpu || processors[i].fills_any)
            return true;
    return false;
}

/* Inserted when `cpu`, which nobody has claimed, was idle, and no CPU was interrupted. */
static bool is_untold(const struct ready *ready, const struct cpu *victim, const struct cpu *cpu)
{
    return ready->inserted > processors[cpu->index].idle_since && ready->movable == ready->inserted &&
           !ready->expected && atomic_load(&sched_idle_cpus) & bit_of(cpu) && !is_being_filled(victim);
}

static bool is_forgotten(const struct ready *ready, const struct cpu *victim, const struct cpu *cpu)
{
    const struct processor *own = &processors[cpu->index];
    if (victim == cpu)
        return ready->inserted > own->told && !is_being_filled(cpu);
    return ready->movable < own->idle_since || is_untold(ready, victim, cpu);
}

/* Returns a thread of the victim's queue that `cpu` should have run, or NULL. The queue's lock is held. */
static const struct thread *find_forgotten(const struct cpu *victim, const struct cpu *cpu)
{
    for (uint32_t priority = 0; priority < TARN_PRIORITIES; priority++) {
        const struct list *head = &victim->run_queue.ready[priority];
        for (struct list *link = head->next; link != head; link = link->next) {
            const struct thread *thread = list_object(link, struct thread, link);
            const struct ready *ready = ready_of(thread);
            if (ready->thread == thread && atomic_load(&thread->affinity) & bit_of(cpu) &&
                !atomic_load(&thread->on_cpu) && is_forgotten(ready, victim, cpu))
                return thread;
        }
    }
    return NULL;
}

static void look_into(struct cpu *victim, const struct cpu *cpu)
{
    struct processor *own = &processors[cpu->index];
    uint32_t tid = 0;
    spin_lock(&victim->run_queue.lock);
    const struct thread *thread = find_forgotten(victim, cpu);
    if (thread)
        tid = thread->tid;
    spin_unlock(&victim->run_queue.lock);
    if (!tid || own->reported || own->misled)
        return;
    own->reported = true;
    log_line("explore: idle: processor %u slept, and thread %u was ready in the queue of processor %u",
             cpu->index, tid, victim->index);
    explore_found();
}

/* An insertion before the last check was seen by it; a later one tells this CPU, if it matters. */
void explore_returns(const struct cpu *cpu)
{
    if (!__atomic_load_n(&explore_on, __ATOMIC_RELAXED) ||
        top_priority(&cpu->run_queue) <= atomic_load(&cpu->run_queue.running) || is_being_filled(cpu) ||
        atomic_load(&cpu->need_resched))
        return;
    log_line("explore: idle: processor %u continues with thread %u, and one of priority %d is in its queue",
             cpu->index, cpu->current->tid, top_priority(&cpu->run_queue));
    explore_found();
}

void explore_wakes(const struct cpu *cpu)
{
    for (uint32_t i = 0; __atomic_load_n(&explore_on, __ATOMIC_RELAXED) && i < cpu_count; i++)
        look_into(&cpus[i], cpu);
}
