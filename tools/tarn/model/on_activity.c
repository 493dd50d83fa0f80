/* on_activity.c - handlers of events that begin or end an activity; see model_parts.h. */
#include <tools/tarn/model/activities.h>

EVENT_HANDLER(on_syscall_entry)
{
    struct model_thread *thread = get_thread(model, cpu, GET32(1));
    uint32_t number = GET32(0);
    if (thread == NULL)
        return;
    activity_enter(model, thread, ACTIVITY_SYSCALL, number, GET64(2), GET64(3));
    if (number == model->number_receive)
        serving_stop(model, thread);
}

/* For a thread that waits for its exception handler, the handler logs this event, and then the reply that
 * identifies the thread (on_reply). */
EVENT_HANDLER(on_exception_exit)
{
    struct model_thread *thread = running_thread(model, cpu);
    uint32_t vector = GET32(0), result = GET32(1);
    cpu->exception_action = result;
    if (thread != NULL && activity_top(thread) == ACTIVITY_EXCEPTION)
        activity_leave(model, thread, ACTIVITY_EXCEPTION, vector, 0, result);
}

/* Returns the thread that an interrupt takes time from. An idle thread is not idle meanwhile. */
static struct model_thread *interrupted_thread(const struct model *model, struct model_cpu *cpu)
{
    struct model_thread *thread = running_thread(model, cpu);
    if (thread != NULL && thread->is_idle)
        count_time(model, cpu, model->now);
    return thread;
}

/* Handlers of events that begin or end an activity of THREAD, and do nothing else. */
#define BEGINS(name, thread_, kind, detail, arg0, arg1)              \
    EVENT_HANDLER(name)                                              \
    {                                                                \
        struct model_thread *thread = thread_;                       \
        if (thread != NULL)                                          \
            activity_enter(model, thread, kind, detail, arg0, arg1); \
    }
#define ENDS(name, thread_, kind, detail, arg0, result)                \
    EVENT_HANDLER(name)                                                \
    {                                                                  \
        struct model_thread *thread = thread_;                         \
        if (thread != NULL)                                            \
            activity_leave(model, thread, kind, detail, arg0, result); \
    }
#define NAMED(place) get_thread(model, cpu, GET32(place))
#define INTERRUPTED  interrupted_thread(model, cpu)
#define RUNNING      running_thread(model, cpu)

ENDS(on_syscall_exit, NAMED(1), ACTIVITY_SYSCALL, GET32(0), 0, (int64_t)GET64(2))
BEGINS(on_libc_entry, NAMED(1), ACTIVITY_LIBC, GET32(0), GET64(2), GET64(3))
ENDS(on_libc_exit, NAMED(1), ACTIVITY_LIBC, GET32(0), 0, (int64_t)GET64(2))
BEGINS(on_fault_entry, NAMED(2), ACTIVITY_FAULT, UINT32_MAX, GET64(0), GET64(1))
/* The thread that pages in for another logs the end of the other's fault. */
ENDS(on_fault_exit, NAMED(3), ACTIVITY_FAULT, GET32(2), GET64(0), (int64_t)GET64(1))
BEGINS(on_exception_entry, NAMED(1), ACTIVITY_EXCEPTION, GET32(0), GET64(2), GET64(3))
BEGINS(on_irq_entry, INTERRUPTED, ACTIVITY_IRQ, GET32(0), GET64(1), 0)
ENDS(on_irq_exit, INTERRUPTED, ACTIVITY_IRQ, GET32(0), 0, GET32(1))
BEGINS(on_ipi_entry, INTERRUPTED, ACTIVITY_IPI, GET32(0), 0, 0)
ENDS(on_ipi_exit, INTERRUPTED, ACTIVITY_IPI, GET32(0), 0, 0)
BEGINS(on_request_begin, RUNNING, ACTIVITY_REQUEST, GET32(0), GET32(1), GET64(2))
ENDS(on_request_end, RUNNING, ACTIVITY_REQUEST, GET32(0), 0, (int32_t)GET32(1))
