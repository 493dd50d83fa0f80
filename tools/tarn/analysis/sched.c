/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched.c - `tarn sched`: how long threads waited for a CPU, who delayed them, how long they ran and why
 * that ended, and what CPUs did.
 *
 * A wait begins when a thread becomes ready and ends when it runs. Waits that began with a wake-up are also
 * counted by waker. A thread that is handed a CPU by an IPC does not wait. Waits and runs count only if
 * their begin was seen, but all their time is included.
 */
#include <stdio.h>
#include <string.h>
#include <tools/tarn/analysis/sched_tables.h>

static bool wants(struct sched *sched, const struct model_thread *thread)
{
    return !thread->is_idle && analysis_wants(&sched->analysis, thread);
}

static bool wants_on(struct sched *sched, const struct model_thread *thread, uint32_t cpu)
{
    return !thread->is_idle && analysis_wants_on(&sched->analysis, thread, cpu);
}

static struct sched_thread *record_of(struct sched *sched, const struct model_thread *thread)
{
    struct sched_thread **record = slots_at(&sched->threads, thread->number);

    if (*record == NULL)
        *record = arena_alloc(&sched->analysis.arena, sizeof(**record));
    return *record;
}

/* Whether the begin of the thread's current state was seen. */
static bool is_begin_known(const struct sched *sched, const struct model_thread *thread)
{
    return thread->since > thread->begin && thread->since >= sched->analysis.from;
}

/* Counts a wait that is over; its delays have been reported. */
static void keep_wait(struct sched *sched, const struct model_thread *thread, uint64_t from, uint64_t to)
{
    struct sched_thread *record = record_of(sched, thread);

    if (from == thread->since && is_begin_known(sched, thread))
        longest_add(&sched->longest, &(struct longest){.ticks = to - from,
                                                       .begin = from,
                                                       .thread = thread,
                                                       .what = record->delayer,
                                                       .args = {record->delay}});
    record->delay = 0;
}

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct sched *sched = ANALYSIS_OF(self, struct sched);

    if (thread->state == MODEL_RUNNING)
        *(model_is_asleep(thread) ? &sched->cpus[thread->cpu].idle : &sched->cpus[thread->cpu].busy) +=
            model_segment_ticks(thread, from, to);
    if (thread->state == MODEL_RUNNING && thread->is_booting)
        sched->cpus[thread->cpu].boot += model_segment_ticks(thread, from, to);
    delays_segment(&sched->delays, thread, from, to);
    if (thread->is_idle || !analysis_wants(&sched->analysis, thread))
        return;
    if (thread->state == MODEL_RUNNING)
        record_of(sched, thread)->ran += model_segment_ticks(thread, from, to);
    else if (thread->state == MODEL_READY)
        keep_wait(sched, thread, from, to);
}

static enum run_end reason_of(const struct sched *sched, const struct model_thread *thread,
                              enum model_state state)
{
    const struct sched_thread *const *record = slots_find(&sched->threads, thread->number);
    const struct model_frame *top =
        thread->depth != 0 && thread->depth <= MODEL_DEPTH_MAX ? &thread->frames[thread->depth - 1] : NULL;

    if (state != MODEL_READY)
        return RUN_BLOCKED + state;
    if (thread->has_pending_wakeup)
        return RUN_WOKEN;
    if (record != NULL && *record != NULL && (*record)->moved >= thread->since)
        return RUN_MOVED;
    if (record != NULL && *record != NULL && (*record)->quantum_end >= thread->since)
        return RUN_SLICE;
    if (top != NULL && top->kind == ACTIVITY_SYSCALL && top->detail == sched->yield)
        return RUN_YIELD;
    return RUN_PREEMPTED;
}

static void end_run(struct sched *sched, const struct model_thread *thread, enum model_state state,
                    uint64_t ticks)
{
    struct sched_thread *record = record_of(sched, thread);
    enum run_end reason = reason_of(sched, thread, state);
    uint64_t ran = model_state_ticks(thread, ticks);

    record->preempted += reason == RUN_PREEMPTED || reason == RUN_SLICE;
    record->is_woken = thread->has_pending_wakeup && state == MODEL_READY;
    if (thread->state != MODEL_RUNNING || !is_begin_known(sched, thread))
        return;
    distribution_add(&record->runs, &sched->analysis.arena, ran);
    distribution_add(&sched->runs, &sched->analysis.arena, ran);
    distribution_add(&sched->ends[reason], &sched->analysis.arena, ran);
}

static void end_wait(struct sched *sched, uint32_t cpu, const struct model_thread *thread, uint64_t ticks)
{
    struct sched_thread *record = record_of(sched, thread);
    uint64_t wait = ticks - thread->since;
    bool is_woken = record->is_woken;

    record->is_woken = false;
    if (thread->state != MODEL_READY) {
        record->handed += thread->state != MODEL_RUNNING && thread->state != MODEL_UNKNOWN;
        return;
    }
    if (!is_begin_known(sched, thread))
        return;
    distribution_add(&record->waits, &sched->analysis.arena, wait);
    distribution_add(&sched->waits, &sched->analysis.arena, wait);
    distribution_add(&sched->cpus[cpu].waits, &sched->analysis.arena, wait);
    if (is_woken) {
        uint64_t waker = thread->waker != NULL ? thread->waker->number : NO_THREAD;

        distribution_add(&sched->wakeups, &sched->analysis.arena, wait);
        distribution_add(map_at(&sched->wakers, waker, thread->number, 0), &sched->wakers.arena, wait);
    }
}

static void on_switch(struct model_observer *self, uint32_t cpu, const struct model_thread *prev,
                      enum model_state new_state, const struct model_thread *next, uint64_t ticks)
{
    struct sched *sched = ANALYSIS_OF(self, struct sched);

    if (prev != next && wants_on(sched, prev, cpu) && !model_leaves_out(sched->analysis.model, prev))
        end_run(sched, prev, new_state, ticks);
    if (model_leaves_out(sched->analysis.model, next))
        return;
    sched->cpus[cpu].switches++;
    if (wants_on(sched, next, cpu))
        record_of(sched, next)->switches++;
    if (prev != next && wants_on(sched, next, cpu)) {
        bool is_moved = next->has_run && next->cpu != cpu;

        record_of(sched, next)->migrations += is_moved;
        sched->cpus[cpu].arrived += is_moved;
        end_wait(sched, cpu, next, ticks);
    }
}

static void on_wakeup(struct model_observer *self, const struct model_thread *by,
                      const struct model_thread *thread, uint64_t ticks, bool direct)
{
    struct sched *sched = ANALYSIS_OF(self, struct sched);

    if (!direct && wants(sched, thread))
        record_of(sched, thread)->is_woken = true;
}

static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *thread)
{
    struct sched *sched = ANALYSIS_OF(self, struct sched);

    delays_event(&sched->delays, cursor);
    if (cursor->event.type == sched->quantum_end && sched->quantum_end != NULL && wants(sched, thread))
        record_of(sched, thread)->quantum_end = cursor->ticks;
    if (cursor->event.type == sched->migrate && sched->migrate_tid != NULL && wants(sched, thread) &&
        field_integer(sched->migrate_tid, cursor->event.bytes) == thread->tid)
        record_of(sched, thread)->moved = cursor->ticks;
}

static void on_delay(struct delays *delays, const struct model_thread *thread, const struct model_thread *by,
                     uint32_t cpu, uint64_t from, uint64_t to)
{
    struct sched *sched = delays->owner;
    uint32_t number = by == NULL ? NO_THREAD : by->is_idle ? IDLE_THREAD : by->number;
    struct sched_thread *record;
    struct delay *delay;

    if (!wants_on(sched, thread, cpu))
        return;
    record = record_of(sched, thread);
    record->waited += to - from;
    if (to - from > record->delay) {
        record->delay = to - from;
        record->delayer = number;
    }
    delay = map_at(&sched->pairs, number, thread->number, 0);
    if (to - from > delay->ticks.max)
        delay->at = from;
    tally_add(&delay->ticks, to - from);
}

static bool open_sched(struct analysis *analysis, struct fail *fail)
{
    struct sched *sched = (struct sched *)analysis;
    const struct field *numbers = model_detail_field(&analysis->trace->schema, ACTIVITY_SYSCALL);

    analysis_slots(analysis, &sched->threads, sizeof(struct sched_thread *));
    analysis_map(analysis, &sched->wakers, sizeof(struct distribution))->limit = MAP_DISTRIBUTIONS_MAX;
    analysis_map(analysis, &sched->pairs, sizeof(struct delay));
    sched->cpus = arena_alloc(&analysis->arena, analysis->trace->stream_count * sizeof(sched->cpus[0]));
    sched->quantum_end = schema_find_event(&analysis->trace->schema, "sched_quantum_end");
    sched->migrate = schema_find_event(&analysis->trace->schema, "sched_migrate_task");
    sched->migrate_tid = analysis_field(analysis, "sched_migrate_task", "tid");
    sched->yield = (uint32_t)field_label_value(numbers, "thread_yield", UINT32_MAX);
    delays_open(&sched->delays, analysis);
    sched->delays.delayed = on_delay;
    sched->delays.owner = sched;
    analysis->observer.segment = on_segment;
    analysis->observer.switched = on_switch;
    analysis->observer.wakeup = on_wakeup;
    analysis->observer.event = on_event;
    return true;
}

const struct analysis_kind sched_analysis = {
    .name = "sched",
    .summary = "scheduling: waits for a CPU and their causes, runs, migrations",
    .tables = sched_tables,
    .table_count = SCHED_TABLES,
    .size = sizeof(struct sched),
    .open = open_sched,
    .finish = sched_fill,
};
