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

static struct value cpu_value(const struct scheduling *scheduling, uint32_t rank)
{
    return VALUE_NUMBER(scheduling->making.analysis->trace->streams[rank].cpu);
}

static void give_wait(struct scheduling *scheduling, const struct ended *wait, bool is_ended)
{
    struct record *record = record_of(scheduling, wait->thread);
    const struct model_thread *by = record->by != NULL && !record->by->is_idle ? record->by : NULL;
    MAKING_GIVE(&scheduling->making, WAIT, wait->since, VALUE_OF(VALUE_WHEN, wait->since),
                VALUE_TICKS(wait->ticks, 0), cpu_value(scheduling, wait->cpu), value_of_thread(wait->thread),
                VALUE_NUMBER(is_ended), VALUE_NUMBER(wait->is_woken), value_of_thread(wait->waker),
                value_of_thread(by), VALUE_NUMBER(record->by != NULL && by == NULL),
                VALUE_TICKS(record->by_ticks, 0));
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
    MAKING_GIVE(&scheduling->making, RUN, thread->since, VALUE_OF(VALUE_WHEN, thread->since),
                VALUE_IF(is_whole, VALUE_TICKS(model_state_ticks(thread, ticks), 0)),
                cpu_value(scheduling, cpu), value_of_thread(thread), value_text(reason),
                VALUE_NUMBER(*reason == 't' || strcmp(reason, "preempted") == 0), VALUE_NUMBER(!is_whole));
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
    MAKING_GIVE(&scheduling->making, DELAY, from, VALUE_OF(VALUE_WHEN, from), VALUE_TICKS(to - from, 0),
                cpu_value(scheduling, cpu), value_of_thread(thread),
                value_of_thread(by != NULL && !by->is_idle ? by : NULL),
                VALUE_NUMBER(by != NULL && by->is_idle));
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
    making->observer.segment = on_segment;
    making->observer.switched = on_switch;
    making->observer.wakeup = on_wakeup;
    making->observer.event = on_event;
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

/* clang-format off */
#define STRETCH_COLUMNS(ts_)                                        \
    MADE_COLUMN("ts", UNIT_WHEN, ts_),                              \
    MADE_COLUMN("dur", UNIT_SPAN, "duration"),                      \
    MADE_COLUMN("cpu", UNIT_NUMBER, "the CPU's number"),            \
    MADE_COLUMN("utid", UNIT_NUMBER, "the thread that ran or waited")
static const struct relation_column run_columns[] = {
    STRETCH_COLUMNS("when the run began"),
    MADE_COLUMN("end_reason", UNIT_TEXT, "why it ended: what the thread then waited for, or preempted, time slice used up, ..."),
    MADE_COLUMN("is_preempted", UNIT_NUMBER, "1: the thread was still runnable: for another thread, or at the end of its time slice"),
    MADE_COLUMN("is_cut", UNIT_NUMBER, "1: its begin was not seen, and dur is empty"),
};
static const struct relation_column wait_columns[] = {
    STRETCH_COLUMNS("when the thread became ready"),
    MADE_COLUMN("is_ended", UNIT_NUMBER, "0: the thread was still ready at the end of the range"),
    MADE_COLUMN("is_woken", UNIT_NUMBER, "1: it began with a wake-up"),
    MADE_COLUMN("waker_utid", UNIT_NUMBER, "thread that woke it; empty: a timer or an interrupt"),
    MADE_COLUMN("by_utid", UNIT_NUMBER, "thread that ran longest on the CPU meanwhile; empty: unknown, or an idle one"),
    MADE_COLUMN("by_idle", UNIT_NUMBER, "1: it was an idle thread"),
    MADE_COLUMN("by_dur", UNIT_SPAN, "run time of that thread meanwhile"),
};
static const struct relation_column delay_columns[] = {
    STRETCH_COLUMNS("when the other thread began to run"),
    MADE_COLUMN("by_utid", UNIT_NUMBER, "the thread that ran; empty: unknown, or an idle one"),
    MADE_COLUMN("by_idle", UNIT_NUMBER, "1: the CPU slept or was just waking up"),
};
/* clang-format on */

const struct maker scheduling_maker = {
    .relations = {MADE_RELATION("run", "runs of threads on a CPU, and why they ended", run_columns),
                  MADE_RELATION("wait", "times in which a thread was ready and waited for a CPU",
                                wait_columns),
                  MADE_RELATION("delay", "runs of a thread on a CPU for which another waited",
                                delay_columns)},
    .size = sizeof(struct scheduling),
    .open = open_scheduling,
    .finish = finish_scheduling,
};
