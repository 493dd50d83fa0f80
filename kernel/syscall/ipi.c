/* ipi.c - the inter-processor interrupt: calls of other CPUs (smp_call.h), stops, wake-ups. */
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/smp_call.h>
#include <kernel/cpu/span.h>
#include <kernel/debug/debugger.h>
#include <kernel/kernel.h>
#include <kernel/sched/sched.h>
#include <kernel/trace/control.h>
#include <trace/irq.h>

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
