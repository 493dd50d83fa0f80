/*
 * scheduling.c - the relations `run`, `wait` and `delay`: how long threads ran and why that ended, how long
 * they waited for a CPU, and which threads ran there meanwhile. Idle threads are left out.
 *
 * A wait begins when a thread becomes ready and ends when it runs. A thread that is handed a CPU by an IPC
 * does not wait.
 */
#include <tools/tarn/relation/delays.h>
#include <tools/tarn/relation/maker.h>

enum { RUN, WAIT, DELAY };

struct record {
    uint64_t quantum_end; /* ticks: when it last used up its time slice */
    uint64_t moved;       /* ticks: when it last migrated while running */
    bool is_woken;        /* the wait that begins or is in progress began with a wake-up */
    /* the longest single delay in that wait */
    const struct model_thread *by;
    uint64_t by_ticks;
};

struct scheduling {
    struct making making; /* first */
    struct slots records; /* struct record, by thread number */
    struct delays delays;
    const struct event_type *quantum_end, *migrate;
    const struct field *migrate_tid;
    uint32_t yield; /* number of the system call */
    /* a wait that has ended, whose last delays follow */
    struct ended {
        const struct model_thread *thread, *waker; /* NULL: there is none */
        uint32_t cpu;
        uint64_t since, ticks;
        bool is_woken;
    } ended;
};

/* clang-format off */
#define BY_COLUMNS(C, by_, utid_text, idle_text) \
    C("by_utid", NUMBER, THREAD_OF((by_) != NULL && !(by_)->is_idle ? (by_) : NULL), utid_text) \
    C("by_idle", NUMBER, NUMBER((by_) != NULL && (by_)->is_idle), idle_text)
#define STRETCH_COLUMNS(C, begin_, dur_, cpu_, thread_, ts_text) \
    C("ts", WHEN, WHEN(begin_), ts_text) \
    C("dur", SPAN, dur_, "duration") \
    C("cpu", NUMBER, NUMBER(scheduling->making.analysis->trace->streams[cpu_].cpu), "the CPU's number") \
    C("utid", NUMBER, THREAD_OF(thread_), "the thread that ran or waited")
#define RUN_COLUMNS(C) \
    STRETCH_COLUMNS(C, thread->since, IF(is_whole, SPAN(model_state_ticks(thread, ticks))), cpu, thread, \
                    "when the run began") \
    C("end_reason", TEXT, STRING(reason), \
      "why it ended: what the thread then waited for, or preempted, time slice used up, ...") \
    C("is_preempted", NUMBER, NUMBER(*reason == 't' || strcmp(reason, "preempted") == 0), \
      "1: the thread was still runnable: for another thread, or at the end of its time slice") \
    C("is_cut", NUMBER, NUMBER(!is_whole), "1: its begin was not seen, and dur is empty")
#define WAIT_COLUMNS(C) \
    STRETCH_COLUMNS(C, wait->since, SPAN(wait->ticks), wait->cpu, wait->thread, "when the thread became ready") \
    C("is_ended", NUMBER, NUMBER(is_ended), "0: the thread was still ready at the end of the range") \
    C("is_woken", NUMBER, NUMBER(wait->is_woken), "1: it began with a wake-up") \
    C("waker_utid", NUMBER, THREAD_OF(wait->waker), "thread that woke it; empty: a timer or an interrupt") \
    BY_COLUMNS(C, record->by, "thread that ran longest on the CPU meanwhile; empty: unknown, or an idle one", \
               "1: it was an idle thread") \
    C("by_dur", SPAN, SPAN(record->by_ticks), "run time of that thread meanwhile")
#define DELAY_COLUMNS(C) \
    STRETCH_COLUMNS(C, from, SPAN(to - from), cpu, thread, "when the other thread began to run") \
    BY_COLUMNS(C, by, "the thread that ran; empty: unknown, or an idle one", \
               "1: the CPU slept or was just waking up")
/* clang-format on */

static bool wants_on(struct scheduling *scheduling, const struct model_thread *thread, uint32_t cpu)
{
    return !thread->is_idle && analysis_wants_on(scheduling->making.analysis, thread, cpu);
}

static struct record *record_of(struct scheduling *scheduling, const struct model_thread *thread)
{
    return slots_at(&scheduling->records, thread->number);
}

/* Whether the begin of the thread's current state was seen. */
static bool is_begin_known(const struct scheduling *scheduling, const struct model_thread *thread)
{
    return thread->since > thread->begin && thread->since >= scheduling->making.analysis->from;
}

static void give_wait(struct scheduling *scheduling, const struct ended *wait, bool is_ended)
{
    struct record *record = record_of(scheduling, wait->thread);
    MAKING_GIVE(&scheduling->making, WAIT, wait->since, WAIT_COLUMNS);
    record->by = NULL;
    record->by_ticks = 0;
}

static void flush_wait(struct scheduling *scheduling)
{
    if (scheduling->ended.thread != NULL)
        give_wait(scheduling, &scheduling->ended, true);
    scheduling->ended.thread = NULL;
}

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct scheduling *scheduling = MAKING_OF(self, struct scheduling);
    delays_segment(&scheduling->delays, thread, from, to);
    if (thread == scheduling->ended.thread)
        flush_wait(scheduling);
}

static const char *reason_of(struct scheduling *scheduling, const struct model_thread *thread,
                             enum model_state state)
{
    const struct record *record = record_of(scheduling, thread);
    const struct model_frame *top =
        thread->depth != 0 && thread->depth <= MODEL_DEPTH_MAX ? &thread->frames[thread->depth - 1] : NULL;
    if (state != MODEL_READY)
        return model_state_names[state];
    if (thread->has_pending_wakeup)
        return "woken before it waited";
    if (record->moved != 0 && record->moved >= thread->since)
        return "moved to another CPU";
    if (record->quantum_end != 0 && record->quantum_end >= thread->since)
        return "time slice used up";
    if (top != NULL && top->kind == ACTIVITY_SYSCALL && top->detail == scheduling->yield)
        return "yielded";
    return "preempted";
}

static void end_run(struct scheduling *scheduling, uint32_t cpu, const struct model_thread *thread,
                    enum model_state state, uint64_t ticks)
{
    bool is_whole = thread->state == MODEL_RUNNING && is_begin_known(scheduling, thread);
    const char *reason = reason_of(scheduling, thread, state);
    record_of(scheduling, thread)->is_woken = thread->has_pending_wakeup && state == MODEL_READY;
    MAKING_GIVE(&scheduling->making, RUN, thread->since, RUN_COLUMNS);
}

static void end_wait(struct scheduling *scheduling, uint32_t cpu, const struct model_thread *thread,
                     uint64_t ticks)
{
    struct record *record = record_of(scheduling, thread);
    if (thread->state == MODEL_READY && is_begin_known(scheduling, thread))
        scheduling->ended = (struct ended){.thread = thread,
                                           .waker = record->is_woken ? thread->waker : NULL,
                                           .cpu = cpu,
                                           .since = thread->since,
                                           .ticks = ticks - thread->since,
                                           .is_woken = record->is_woken};
    record->is_woken = false;
}

static void on_switch(struct model_observer *self, uint32_t cpu, const struct model_thread *prev,
                      enum model_state new_state, const struct model_thread *next, uint64_t ticks)
{
    struct scheduling *scheduling = MAKING_OF(self, struct scheduling);
    const struct model *model = scheduling->making.analysis->model;
    flush_wait(scheduling);
    if (prev == next)
        return;
    if (wants_on(scheduling, prev, cpu) && !model_leaves_out(model, prev))
        end_run(scheduling, cpu, prev, new_state, ticks);
    if (wants_on(scheduling, next, cpu) && !model_leaves_out(model, next))
        end_wait(scheduling, cpu, next, ticks);
}

static void on_wakeup(struct model_observer *self, const struct model_thread *by,
                      const struct model_thread *thread, uint64_t ticks, bool direct)
{
    struct scheduling *scheduling = MAKING_OF(self, struct scheduling);
    if (!direct)
        record_of(scheduling, thread)->is_woken = true;
}

static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *thread)
{
    struct scheduling *scheduling = MAKING_OF(self, struct scheduling);
    delays_event(&scheduling->delays, cursor);
    if (cursor->event.type == scheduling->quantum_end && scheduling->quantum_end != NULL)
        record_of(scheduling, thread)->quantum_end = cursor->ticks;
    if (cursor->event.type == scheduling->migrate && scheduling->migrate_tid != NULL &&
        field_integer(scheduling->migrate_tid, cursor->event.bytes) == thread->tid)
        record_of(scheduling, thread)->moved = cursor->ticks;
}

static void on_delay(struct delays *delays, const struct model_thread *thread, const struct model_thread *by,
                     uint32_t cpu, uint64_t from, uint64_t to)
{
    struct scheduling *scheduling = OUTER(delays, struct scheduling, delays);
    struct record *record;
    if (!wants_on(scheduling, thread, cpu))
        return;
    record = record_of(scheduling, thread);
    if (to - from > record->by_ticks) {
        record->by_ticks = to - from;
        record->by = by;
    }
    MAKING_GIVE(&scheduling->making, DELAY, from, DELAY_COLUMNS);
}

static void open_scheduling(struct making *making)
{
    struct scheduling *scheduling = (struct scheduling *)making;
    struct analysis *analysis = making->analysis;
    const struct field *numbers = model_detail_field(&analysis->trace->schema, ACTIVITY_SYSCALL);
    analysis_slots(analysis, &scheduling->records, sizeof(struct record));
    scheduling->quantum_end = schema_find_event(&analysis->trace->schema, "sched_quantum_end");
    scheduling->migrate = schema_find_event(&analysis->trace->schema, "sched_migrate_task");
    scheduling->migrate_tid = analysis_field(analysis, "sched_migrate_task", "tid");
    scheduling->yield = (uint32_t)field_label_value(numbers, "thread_yield", UINT32_MAX);
    delays_open(&scheduling->delays, analysis);
    scheduling->delays.delayed = on_delay;
}

/* Gives the waits that have not ended, too. */
static void finish_scheduling(struct making *making)
{
    struct scheduling *scheduling = (struct scheduling *)making;
    const struct model *model = making->analysis->model;
    flush_wait(scheduling);
    for (uint32_t i = 0; i < model->thread_count; i++) {
        const struct model_thread *thread = model->threads[i];
        if (thread != NULL && thread->state == MODEL_READY && wants_on(scheduling, thread, thread->cpu) &&
            is_begin_known(scheduling, thread) && thread->since < making->analysis->to)
            give_wait(scheduling,
                      &(struct ended){.thread = thread,
                                      .cpu = thread->cpu,
                                      .since = thread->since,
                                      .ticks = making->analysis->to - thread->since},
                      false);
    }
}

const struct maker scheduling_maker = {
    .relations = {MADE_RELATION("run", "runs of threads on a CPU, and why they ended", RUN_COLUMNS),
                  MADE_RELATION("wait", "times in which a thread was ready and waited for a CPU",
                                WAIT_COLUMNS),
                  MADE_RELATION("delay", "runs of a thread on a CPU for which another waited",
                                DELAY_COLUMNS)},
    .size = sizeof(struct scheduling),
    .observer = {.segment = on_segment, .switched = on_switch, .wakeup = on_wakeup, .event = on_event},
    .open = open_scheduling,
    .finish = finish_scheduling,
};
