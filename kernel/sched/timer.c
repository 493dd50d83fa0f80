/*
 * timer.c - queues of deadlines, one per CPU, and the hardware timer. Interface: timer.h.
 *
 * A queue is a pairing heap: cheap to add to, and a timer can be removed from the middle, because it knows
 * the one that points to it.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/explore.h>
#include <kernel/kernel.h>
#include <kernel/sched/timer.h>
#include <tarn/abi.h>
#include <trace/timer.h>

#define NANOSECONDS 1000000000ull

static LOCK_CLASS(timer_class, "timer queue");
uint64_t clock_hz;

/* ---- Units ---- */

static uint64_t ticks_per_ns, ns_per_tick; /* fixed point */
#define FRACTION 32

/* (a << FRACTION) / b in 64 bits; a % b is less than 10^9, so it does not overflow. */
static uint64_t fixed_quotient(uint64_t a, uint64_t b)
{
    return (a / b << FRACTION) + ((a % b << FRACTION) / b);
}

void timer_init(struct arch_clock_rate *rate)
{
    arch_clock_init(rate);
    clock_hz = rate->hz;
    assert(clock_hz != 0);
    ticks_per_ns = fixed_quotient(clock_hz, NANOSECONDS);
    ns_per_tick = fixed_quotient(NANOSECONDS, clock_hz);
}

uint64_t timer_ticks(uint64_t nanoseconds)
{
    unsigned __int128 ticks = ((unsigned __int128)nanoseconds * ticks_per_ns >> FRACTION) + 1;
    return nanoseconds == TARN_FOREVER || ticks > TIMER_NEVER ? TIMER_NEVER : (uint64_t)ticks;
}

uint64_t timer_nanoseconds(uint64_t ticks)
{
    return (uint64_t)((unsigned __int128)ticks * ns_per_tick >> FRACTION);
}

/* ---- The heap; queue's lock held ---- */

static struct timer *meld(struct timer *a, struct timer *b)
{
    if (!a || !b)
        return a ? a : b;
    if (b->deadline < a->deadline) {
        struct timer *swap = a;
        a = b;
        b = swap;
    }
    b->previous = a;
    b->sibling = a->child;
    if (b->sibling)
        b->sibling->previous = b;
    a->child = b;
    return a;
}

/* Melds siblings in pairs, then the pairs from last to first. */
static struct timer *meld_siblings(struct timer *first)
{
    struct timer *pairs = NULL;
    while (first) {
        struct timer *a = first, *b = first->sibling;
        first = b ? b->sibling : NULL;
        a->sibling = a->previous = NULL;
        if (b)
            b->sibling = b->previous = NULL;
        struct timer *pair = meld(a, b);
        pair->sibling = pairs;
        pairs = pair;
    }
    struct timer *root = NULL;
    while (pairs) {
        struct timer *next = pairs->sibling;
        pairs->sibling = NULL;
        root = meld(root, pairs);
        pairs = next;
    }
    return root;
}

static void unlink_timer(struct timer_queue *queue, struct timer *timer)
{
    struct timer *below = meld_siblings(timer->child);
    if (timer == queue->root) {
        queue->root = below;
    } else {
        if (timer->previous->child == timer)
            timer->previous->child = timer->sibling;
        else
            timer->previous->sibling = timer->sibling;
        if (timer->sibling)
            timer->sibling->previous = timer->previous;
        queue->root = meld(queue->root, below);
    }
    timer->child = timer->sibling = timer->previous = NULL;
    /* Release: a CPU that finds the timer in no queue may reuse it. */
    atomic_store_explicit(&timer->where, NULL, memory_order_release);
}

/* ---- Interface ---- */

void timer_init_cpu(struct cpu *cpu)
{
    struct timer_queue *queue = &cpu->timer_queue;
    spin_init(&queue->lock, &timer_class);
    queue->root = NULL;
    queue->programmed = queue->slice_end = TIMER_NEVER;
    queue->periodic = queue->heartbeat = arch_clock();
    queue->sample = TIMER_NEVER;
}

void timer_add(struct timer *timer, uint64_t deadline)
{
    struct cpu *cpu = this_cpu();
    timer_remove(timer);
    if (deadline == TIMER_NEVER)
        return;
    spin_lock(&cpu->timer_queue.lock);
    timer->deadline = deadline;
    timer->child = timer->sibling = timer->previous = NULL;
    atomic_store_explicit(&timer->where, cpu, memory_order_relaxed);
    cpu->timer_queue.root = meld(cpu->timer_queue.root, timer);
    spin_unlock(&cpu->timer_queue.lock);
    timer_program();
}

void timer_remove(struct timer *timer)
{
    struct cpu *cpu;
    /* Acquire: pairs with unlink_timer. Only the timer's owner adds it, so it cannot change queues meanwhile.
     */
    if (!(cpu = atomic_load_explicit(&timer->where, memory_order_acquire)))
        return;
    spin_lock(&cpu->timer_queue.lock);
    if (atomic_load_explicit(&timer->where, memory_order_relaxed) == cpu)
        unlink_timer(&cpu->timer_queue, timer);
    spin_unlock(&cpu->timer_queue.lock);
}

struct timer *timer_take_due(uint64_t now)
{
    struct timer_queue *queue = &this_cpu()->timer_queue;
    spin_lock(&queue->lock);
    struct timer *timer = queue->root;
    if (timer && timer->deadline <= now)
        unlink_timer(queue, timer);
    else
        timer = NULL;
    spin_unlock(&queue->lock);
    return timer;
}

void timer_program(void)
{
    struct timer_queue *queue = &this_cpu()->timer_queue;
    uint64_t deadline = queue->periodic < queue->slice_end ? queue->periodic : queue->slice_end;
    spin_lock(&queue->lock);
    if (queue->root && queue->root->deadline < deadline)
        deadline = queue->root->deadline;
    spin_unlock(&queue->lock);
    deadline = explore_deadline(deadline);
    if (deadline >= queue->programmed)
        return;
    queue->programmed = deadline;
    trace_timer_program(deadline);
    arch_timer_set(deadline);
}

static void find_periodic(struct timer_queue *queue)
{
    queue->periodic = queue->heartbeat < queue->sample ? queue->heartbeat : queue->sample;
}

void timer_set_sample(uint64_t deadline)
{
    struct timer_queue *queue = &this_cpu()->timer_queue;
    queue->sample = deadline;
    find_periodic(queue);
}

void timer_set_heartbeat(uint64_t deadline)
{
    struct timer_queue *queue = &this_cpu()->timer_queue;
    queue->heartbeat = deadline;
    find_periodic(queue);
}
