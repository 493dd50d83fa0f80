/* interrupts.c - the timer interrupt (samples, heartbeats, ends of time slices, time-outs), and interrupts by
 * other CPUs. */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/explore.h>
#include <kernel/cpu/quiescent.h>
#include <kernel/cpu/smp_call.h>
#include <kernel/cpu/span.h>
#include <kernel/debug/debugger.h>
#include <kernel/diagnosis/counters.h>
#include <kernel/diagnosis/profile.h>
#include <kernel/diagnosis/routines.h>
#include <kernel/failure/watchdog.h>
#include <kernel/kernel.h>
#include <kernel/memory/slab.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/sched/timer.h>
#include <kernel/syscall/machine.h>
#include <kernel/trace/control.h>
#include <trace/irq.h>

#define RECLAIM_AT_ONCE 1024u /* page frames; interrupts are off meanwhile */

/* On every CPU, a few times a second. All poll the console, because the CPU that gets its interrupt may be
 * hung. */
static void beat(uint64_t now)
{
    timer_set_heartbeat(trace_heartbeat(now));
    if (__atomic_load_n(&trace_tables_in_use, __ATOMIC_RELAXED))
        trace_tables_reclaim(true);
    counters_beat();
    console_poll();
    routines_beat(now);
    watchdog_beat(now);
    quiescent_report(); /* the timer interrupted a program or this CPU's sleep */
    slab_reclaim(RECLAIM_AT_ONCE);
}

/* The sample comes first: it records the interrupted code. */
static void run_periodic(struct timer_queue *queue, uint64_t now)
{
    if (now >= queue->sample)
        profile_timer(now);
    if (now >= queue->heartbeat)
        beat(now);
}

void handle_timer(void)
{
    struct timer_queue *queue = &this_cpu()->timer_queue;
    uint64_t now = arch_clock();
    uint32_t expired = 0;
    handle_wake();
    SPAN_BEGIN(IRQ, TRACE_ROUTINE_TIMER, 0, trace_irq_timer_entry(queue->programmed));
    queue->programmed = TIMER_NEVER;
    if (now >= queue->periodic)
        run_periodic(queue, now);
    if (explore_timer(now) || now >= queue->slice_end)
        sched_slice_end();
    struct timer *timer;
    while ((timer = timer_take_due(now))) {
        struct thread *thread = list_object(timer, struct thread, timer);
        thread_expire(thread, now);
        expired++;
    }
    timer_program();
    SPAN_END(IRQ, trace_irq_timer_exit(expired));
}

void handle_ipi(uint32_t kind)
{
    handle_wake();
    SPAN_BEGIN(IRQ, TRACE_ROUTINE_IPI, kind, trace_irq_ipi_entry(kind));
    if (kind == IPI_SHOOTDOWN) {
        smp_poll();
    } else if (kind == IPI_CALL) {
        smp_answer();
        debugger_poll();
    } else if (kind == IPI_RESCHEDULE) {
        trace_wake_drain();
    }
    /* The rest of IPI_RESCHEDULE: need_resched is set, and tested at the kernel exit. */
    SPAN_END(IRQ, trace_irq_ipi_exit(kind));
}
