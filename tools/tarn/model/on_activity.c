/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * on_activity.c - handlers of events that begin or end an activity, and of IPC; see model_parts.h.
 */
#include <tools/tarn/model/activities.h>

void on_syscall_entry(struct model *model, struct model_cpu *cpu, const struct event *event,
                      const struct model_action *action)
{
    struct model_thread *thread = get_thread(model, cpu, get32(model, event, action->at[1]));
    uint32_t number = get32(model, event, action->at[0]);

    if (thread == NULL)
        return;
    activity_enter(model, thread, ACTIVITY_SYSCALL, number, get64(model, event, action->at[2]),
                   get64(model, event, action->at[3]));
    if (number == model->number_receive)
        serving_stop(model, thread);
}

void on_libc_entry(struct model *model, struct model_cpu *cpu, const struct event *event,
                   const struct model_action *action)
{
    struct model_thread *thread = get_thread(model, cpu, get32(model, event, action->at[1]));

    if (thread != NULL)
        activity_enter(model, thread, ACTIVITY_LIBC, get32(model, event, action->at[0]),
                       get64(model, event, action->at[2]), get64(model, event, action->at[3]));
}

static inline void leave_call(struct model *model, struct model_cpu *cpu, const struct event *event,
                              const struct model_action *action, enum activity kind)
{
    struct model_thread *thread = get_thread(model, cpu, get32(model, event, action->at[1]));

    if (thread != NULL)
        activity_leave(model, thread, kind, get32(model, event, action->at[0]), 0,
                       (int64_t)get64(model, event, action->at[2]));
}

void on_syscall_exit(struct model *model, struct model_cpu *cpu, const struct event *event,
                     const struct model_action *action)
{
    leave_call(model, cpu, event, action, ACTIVITY_SYSCALL);
}

void on_libc_exit(struct model *model, struct model_cpu *cpu, const struct event *event,
                  const struct model_action *action)
{
    leave_call(model, cpu, event, action, ACTIVITY_LIBC);
}

void on_fault_entry(struct model *model, struct model_cpu *cpu, const struct event *event,
                    const struct model_action *action)
{
    struct model_thread *thread = get_thread(model, cpu, get32(model, event, action->at[2]));

    if (thread != NULL)
        activity_enter(model, thread, ACTIVITY_FAULT, UINT32_MAX, get64(model, event, action->at[0]),
                       get64(model, event, action->at[1]));
}

/* The thread that pages in for another logs the end of the other's fault. */
void on_fault_exit(struct model *model, struct model_cpu *cpu, const struct event *event,
                   const struct model_action *action)
{
    struct model_thread *thread = get_thread(model, cpu, get32(model, event, action->at[3]));

    if (thread != NULL)
        activity_leave(model, thread, ACTIVITY_FAULT, get32(model, event, action->at[2]),
                       get64(model, event, action->at[0]), (int64_t)get64(model, event, action->at[1]));
}

void on_exception_entry(struct model *model, struct model_cpu *cpu, const struct event *event,
                        const struct model_action *action)
{
    struct model_thread *thread = get_thread(model, cpu, get32(model, event, action->at[1]));

    if (thread != NULL)
        activity_enter(model, thread, ACTIVITY_EXCEPTION, get32(model, event, action->at[0]),
                       get64(model, event, action->at[2]), get64(model, event, action->at[3]));
}

/* For a thread that waits for its exception handler, the handler logs this event, and then the reply that
 * identifies the thread (on_reply). */
void on_exception_exit(struct model *model, struct model_cpu *cpu, const struct event *event,
                       const struct model_action *action)
{
    struct model_thread *thread = running_thread(model, cpu);
    uint32_t vector = get32(model, event, action->at[0]), result = get32(model, event, action->at[1]);

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

void on_irq_entry(struct model *model, struct model_cpu *cpu, const struct event *event,
                  const struct model_action *action)
{
    struct model_thread *thread = interrupted_thread(model, cpu);

    if (thread != NULL)
        activity_enter(model, thread, ACTIVITY_IRQ, get32(model, event, action->at[0]),
                       get64(model, event, action->at[1]), 0);
}

void on_irq_exit(struct model *model, struct model_cpu *cpu, const struct event *event,
                 const struct model_action *action)
{
    struct model_thread *thread = interrupted_thread(model, cpu);

    if (thread != NULL)
        activity_leave(model, thread, ACTIVITY_IRQ, get32(model, event, action->at[0]), 0,
                       get32(model, event, action->at[1]));
}

void on_ipi_entry(struct model *model, struct model_cpu *cpu, const struct event *event,
                  const struct model_action *action)
{
    struct model_thread *thread = interrupted_thread(model, cpu);

    if (thread != NULL)
        activity_enter(model, thread, ACTIVITY_IPI, get32(model, event, action->at[0]), 0, 0);
}

void on_ipi_exit(struct model *model, struct model_cpu *cpu, const struct event *event,
                 const struct model_action *action)
{
    struct model_thread *thread = interrupted_thread(model, cpu);

    if (thread != NULL)
        activity_leave(model, thread, ACTIVITY_IPI, get32(model, event, action->at[0]), 0, 0);
}

void on_request_begin(struct model *model, struct model_cpu *cpu, const struct event *event,
                      const struct model_action *action)
{
    struct model_thread *thread = running_thread(model, cpu);

    if (thread != NULL)
        activity_enter(model, thread, ACTIVITY_REQUEST, get32(model, event, action->at[0]),
                       get32(model, event, action->at[1]), get64(model, event, action->at[2]));
}

void on_request_end(struct model *model, struct model_cpu *cpu, const struct event *event,
                    const struct model_action *action)
{
    struct model_thread *thread = running_thread(model, cpu);

    if (thread != NULL)
        activity_leave(model, thread, ACTIVITY_REQUEST, get32(model, event, action->at[0]), 0,
                       (int32_t)get32(model, event, action->at[1]));
}

/* ---- IPC ---- */

/* The event stands for the entry of a system call, too. */
static void enter_implied(struct model *model, struct model_thread *thread, uint32_t number)
{
    activity_enter(model, thread, ACTIVITY_SYSCALL, number, 0, 0);
    if (thread->depth <= MODEL_DEPTH_MAX)
        thread->frames[thread->depth - 1].is_implied = true;
}

void on_call(struct model *model, struct model_cpu *cpu, const struct event *event,
             const struct model_action *action)
{
    struct model_thread *client = running_thread(model, cpu);

    if (client != NULL && get32(model, event, action->at[4]) != 0)
        enter_implied(model, client, model->number_call);
    if (client != NULL)
        call_made(model, client, get64(model, event, action->at[0]), get64(model, event, action->at[1]),
                  get32(model, event, action->at[2]), get32(model, event, action->at[3]));
}

void on_receive(struct model *model, struct model_cpu *cpu, const struct event *event,
                const struct model_action *action)
{
    call_received(model, running_thread(model, cpu), get64(model, event, action->at[0]),
                  get32(model, event, action->at[1]));
}

void on_reply(struct model *model, struct model_cpu *cpu, const struct event *event,
              const struct model_action *action)
{
    struct model_thread *client = thread_find(model, get32(model, event, action->at[2]), 0);
    struct model_thread *server = running_thread(model, cpu);

    if (server != NULL && get32(model, event, action->at[3]) != 0)
        enter_implied(model, server, model->number_reply_receive);
    call_replied(model, server, get64(model, event, action->at[0]), get64(model, event, action->at[1]),
                 client);
    if (client != NULL && activity_top(client) == ACTIVITY_EXCEPTION)
        activity_leave(model, client, ACTIVITY_EXCEPTION, client->frames[client->depth - 1].detail, 0,
                       cpu->exception_action);
}

void on_return(struct model *model, struct model_cpu *cpu, const struct event *event,
               const struct model_action *action)
{
    struct model_thread *client = running_thread(model, cpu);
    int64_t error = (int64_t)get64(model, event, action->at[1]);

    call_returned(model, client, get64(model, event, action->at[0]), error);
    if (client != NULL && activity_is_implied(client, model->number_call))
        activity_leave(model, client, ACTIVITY_SYSCALL, model->number_call, 0, error);
}
