/* on_sched.c - handlers of scheduling events; see model_parts.h. */
#include <tools/tarn/model/activities.h>

static void tell_wakeup(struct model *model, const struct model_thread *by, const struct model_thread *thread,
                        bool is_direct)
{
    if (model->wants_wakeups && is_in_range(model) && !model_leaves_out(model, thread))
        TELL_OBSERVERS(model, wakeup, by, thread, model->now, is_direct);
}

static void tell_switch(struct model *model, const struct model_cpu *cpu, const struct model_thread *prev,
                        enum model_state state, const struct model_thread *next)
{
    if (model->wants_switches && is_in_range(model))
        TELL_OBSERVERS(model, switched, rank_of(model, cpu), prev, state, next, model->now);
}

static bool is_blocked(enum model_state state)
{
    return state >= MODEL_BLOCKED_SEND && state <= MODEL_SUSPENDED;
}

/* The state of a thread after the switch away from it. */
static enum model_state state_after(const struct model_thread *thread, uint32_t told)
{
    if (thread->is_idle || told == MODEL_RUNNING)
        return MODEL_READY;
    if (told > MODEL_DEAD)
        return MODEL_UNKNOWN;
    return is_blocked(told) && thread->has_pending_wakeup ? MODEL_READY : (enum model_state)told;
}

static void leave_processor(struct model *model, struct model_thread *prev, enum model_state state)
{
    while (is_interrupted(prev))
        activities_cut(model, prev, prev->depth - 1, model->now);
    if (state == MODEL_DEAD) {
        thread_end(model, prev);
        return;
    }
    if (__builtin_expect(model->dark_cpus != 0, 0) && !prev->is_idle)
        forget_inside(model, prev, model->now);
    if (!prev->has_pending_wakeup) {
        prev->waker = NULL;
        prev->woken = state == MODEL_READY ? model->now : 0;
    }
    set_state(model, prev, state, model->now);
    if (state == MODEL_BLOCKED_RECEIVE)
        serving_wait(model, prev);
}

static void wake(struct model *model, struct model_thread *thread, struct model_thread *by)
{
    thread->waker = by;
    thread->woken = model->now;
    if (thread->state == MODEL_RUNNING)
        thread->has_pending_wakeup = true; /* it is about to wait; the switch is logged later */
    else
        set_state(model, thread, MODEL_READY, model->now);
}

enum { PREV_TID, PREV_PID, PREV_COMM, PREV_STATE, NEXT_TID, NEXT_PID, NEXT_COMM, NEXT_PRIO };

EVENT_HANDLER(on_switch)
{
    uint32_t prev_tid = GET32(PREV_TID);
    uint32_t next_tid = GET32(NEXT_TID), rank = rank_of(model, cpu);
    struct model_thread *prev = cpu->thread, *next;
    enum model_state state;
    if (prev == model->nobody || prev->tid != prev_tid) {
        if (!cpu->is_lost && prev != model->nobody)
            lose_processor(model, cpu, cpu->last);
        prev = thread_know(model, prev_tid, GET32(PREV_PID), GET_TEXT(PREV_COMM), rank, model->now);
        run_thread(model, cpu, prev, model->now);
    }
    next = thread_find(model, next_tid, rank);
    if (next == NULL || memcmp(next->comm, GET_TEXT(NEXT_COMM), TRACE_NAME_BYTES) != 0)
        next = thread_know(model, next_tid, GET32(NEXT_PID), GET_TEXT(NEXT_COMM), rank, model->now);
    else if (next->pid == MODEL_NOBODY)
        thread_set_pid(model, next, GET32(NEXT_PID));
    if (!prev->is_named || !next->is_named) {
        names_learn(&model->names, event);
        prev->is_named = prev->comm[0] != '\0';
        next->is_named = next->comm[0] != '\0';
    }
    next->prio = GET16(NEXT_PRIO);
    state = state_after(prev, MODEL_STATE_OF(GET16(PREV_STATE)));
    tell_switch(model, cpu, prev, state, next);
    if (prev != model->nobody && prev != next)
        leave_processor(model, prev, state);
    if (is_blocked(next->state)) {
        next->waker = prev->is_idle || prev == model->nobody ? NULL : prev;
        next->woken = model->now;
        tell_wakeup(model, next->waker, next, true);
    }
    run_thread(model, cpu, next, model->now);
    next->switches++;
    cpu->switches += is_in_range(model) && !model_leaves_out(model, next);
    cpu->expired_tid = MODEL_NOBODY;
}

enum { WAKEUP_COMM, WAKEUP_TID, WAKEUP_PRIO };

EVENT_HANDLER(on_wakeup)
{
    uint32_t tid = GET32(WAKEUP_TID);
    struct model_thread *by = running_thread(model, cpu), *thread;
    if (tid == 0)
        return;
    if (by != NULL && (by->is_idle || is_interrupted(by) || cpu->expired_tid == tid))
        by = NULL;
    cpu->expired_tid = MODEL_NOBODY;
    thread = thread_know(model, tid, MODEL_NOBODY, GET_TEXT(WAKEUP_COMM), 0, model->now);
    thread->prio = GET16(WAKEUP_PRIO);
    if (thread == model->nobody || thread->state == MODEL_READY)
        return;
    tell_wakeup(model, by, thread, false);
    wake(model, thread, by);
}

/* A thread that enters a run queue is ready; usually that is known already. */
EVENT_HANDLER(on_enqueue)
{
    struct model_thread *thread = get_thread(model, cpu, GET32(0));
    if (thread != NULL && !thread->is_idle && (is_blocked(thread->state) || thread->state == MODEL_UNKNOWN))
        wake(model, thread, NULL);
}

enum { CREATE_COMM, CREATE_TID, CREATE_PID };

EVENT_HANDLER(on_thread_create)
{
    uint32_t tid = GET32(CREATE_TID);
    struct model_thread *thread;
    if (tid == 0 || thread_find(model, tid, 0) != NULL)
        return;
    thread =
        thread_know(model, tid, GET32(CREATE_PID), GET_TEXT(CREATE_COMM), rank_of(model, cpu), model->now);
    if (thread == model->nobody)
        return;
    thread->was_created = true;
    thread->is_stack_known = true;
    thread->state = model->dark_cpus == 0 ? MODEL_SUSPENDED : MODEL_UNKNOWN;
}

/* It ended when the CPU switched away from it, in state dead, if that was seen. */
EVENT_HANDLER(on_thread_exit)
{
    uint32_t tid = GET32(0);
    struct model_thread *thread = tid != 0 ? thread_find(model, tid, 0) : NULL;
    if (thread == NULL)
        return;
    if (thread->state == MODEL_RUNNING && model->cpus[thread->cpu].thread == thread)
        lose_processor(model, &model->cpus[thread->cpu], model->now);
    thread_end(model, thread);
}

enum { RENAME_TID, RENAME_PID, RENAME_NAME };

EVENT_HANDLER(on_thread_rename)
{
    thread_know(model, GET32(RENAME_TID), GET32(RENAME_PID), GET_TEXT(RENAME_NAME), rank_of(model, cpu),
                model->now);
}

EVENT_HANDLER(on_priority)
{
    struct model_thread *thread = get_thread(model, cpu, GET32(0));
    if (thread != NULL)
        thread->prio = (uint16_t)GET32(1);
}

EVENT_HANDLER(on_expire)
{
    cpu->expired_tid = GET32(0);
}
