/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threads.c - `tarn threads`: how long each thread ran, was ready, and waited for what.
 */
#include <string.h>
#include <tools/tarn/analysis/kinds.h>
#include <tools/tarn/analysis/rows.h>

enum { BY_THREAD, BY_STATE, BY_WAIT, BY_PROCESS, TABLES };

struct times {
    uint64_t ticks[MODEL_STATES];
    uint64_t times[MODEL_STATES]; /* number of intervals */
    uint64_t switches, migrations, wakeups;
    enum model_state last; /* state of the last segment, and its end: the next segment may continue it */
    uint64_t end;
    bool is_known;
};

struct threads {
    struct analysis analysis;
    struct slots slots; /* struct times, by thread number */
};

#define TIMES_COLUMNS                                                                       \
    TIME_COLUMN("running_ns"), TIME_COLUMN("ready_ns"), TIME_COLUMN("waiting_ns"),          \
        TIME_COLUMN("unknown_ns"), REAL_COLUMN("cpu_percent", 1), COUNT_COLUMN("switches"), \
        COUNT_COLUMN("migrations"), COUNT_COLUMN("wakeups")
static const struct table_column thread_columns[] = {
    NUMBER_COLUMN("tid"),    NUMBER_COLUMN("pid"),  NUMBER_COLUMN("prio"), TEXT_COLUMN("state"),
    WHEN_COLUMN("begin_ns"), WHEN_COLUMN("end_ns"), TIMES_COLUMNS};
static const struct table_column state_columns[] = {COUNT_COLUMN("stretches"), TIME_COLUMN("total_ns"),
                                                    REAL_COLUMN("percent", 2)};
static const struct table_column wait_columns[] = {
    NUMBER_COLUMN("tid"),           NUMBER_COLUMN("pid"),       TIME_COLUMN("waiting_ns"),
    TIME_COLUMN("send_ns"),         TIME_COLUMN("receive_ns"),  TIME_COLUMN("reply_ns"),
    TIME_COLUMN("notification_ns"), TIME_COLUMN("futex_ns"),    TIME_COLUMN("sleep_ns"),
    TIME_COLUMN("fault_ns"),        TIME_COLUMN("suspended_ns")};
static const struct table_column process_columns[] = {NUMBER_COLUMN("pid"), COUNT_COLUMN("threads"),
                                                      TIMES_COLUMNS};
static const struct table tables[TABLES] = {
    [BY_THREAD] = TABLE("thread", "thread", "threads", thread_columns, "running_ns", "threads"),
    [BY_STATE] = TABLE("state", "state", "states", state_columns, "total_ns", "time in each state"),
    [BY_WAIT] = TABLE_EXTRA("wait", "waiting thread", "threads", wait_columns, "waiting_ns",
                            "what threads waited for"),
    [BY_PROCESS] = TABLE_EXTRA("process", "process", "processes", process_columns, "running_ns",
                               "threads of each process"),
};

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct threads *threads = ANALYSIS_OF(self, struct threads);
    struct times *times;

    if (!analysis_wants(&threads->analysis, thread))
        return;
    times = slots_at(&threads->slots, thread->number);
    times->ticks[thread->state] += model_segment_ticks(thread, from, to);
    times->times[thread->state] += !times->is_known || times->last != thread->state || times->end != from;
    times->last = thread->state;
    times->end = to;
    times->is_known = true;
}

static void on_switch(struct model_observer *self, uint32_t cpu, const struct model_thread *prev,
                      enum model_state new_state, const struct model_thread *next, uint64_t ticks)
{
    struct threads *threads = ANALYSIS_OF(self, struct threads);
    struct times *times;

    if (!analysis_wants_on(&threads->analysis, next, cpu) || model_leaves_out(threads->analysis.model, next))
        return;
    times = slots_at(&threads->slots, next->number);
    times->switches++;
    times->migrations += next->has_run && next->cpu != cpu;
}

static void on_wakeup(struct model_observer *self, const struct model_thread *by,
                      const struct model_thread *thread, uint64_t ticks, bool direct)
{
    struct threads *threads = ANALYSIS_OF(self, struct threads);

    if (analysis_wants(&threads->analysis, thread))
        ((struct times *)slots_at(&threads->slots, thread->number))->wakeups++;
}

static bool open_threads(struct analysis *analysis, struct fail *fail)
{
    analysis_slots(analysis, &((struct threads *)analysis)->slots, sizeof(struct times));
    analysis->observer.segment = on_segment;
    analysis->observer.switched = on_switch;
    analysis->observer.wakeup = on_wakeup;
    return true;
}

static uint64_t waited(const struct times *times)
{
    uint64_t ticks = 0;

    for (int state = MODEL_BLOCKED_SEND; state <= MODEL_SUSPENDED; state++)
        ticks += times->ticks[state];
    return ticks;
}

static void add_times(const struct analysis *analysis, union table_cell *cells, const struct times *times)
{
    double seconds = analysis_seconds(analysis);
    uint64_t running = analysis_ns(analysis, times->ticks[MODEL_RUNNING]);

    (cells++)->count += running;
    (cells++)->count += analysis_ns(analysis, times->ticks[MODEL_READY]);
    (cells++)->count += analysis_ns(analysis, waited(times));
    (cells++)->count += analysis_ns(analysis, times->ticks[MODEL_UNKNOWN]);
    (cells++)->real += seconds > 0 ? (double)running / 1e7 / seconds : 0;
    (cells++)->count += times->switches;
    (cells++)->count += times->migrations;
    cells->count += times->wakeups;
}

static void add_thread(struct analysis *analysis, const struct model_thread *thread,
                       const struct times *times)
{
    struct table *table = &analysis->tables[BY_THREAD];
    struct table_row *row = row_of_thread(analysis, table, thread, NULL);
    uint64_t begin = thread->begin > analysis->from ? thread->begin : analysis->from;

    cells_put(row_cell(table, row, "prio"), {.count = thread->prio},
              {.text = model_state_names[thread->has_ended ? MODEL_DEAD : thread->state]},
              {.count = analysis_when(analysis, begin)},
              {.count = thread->has_ended ? analysis_when(analysis, thread->end) : (uint64_t)TABLE_NONE});
    add_times(analysis, row_cell(table, row, "running_ns"), times);
}

static void add_wait(struct analysis *analysis, const struct model_thread *thread, const struct times *times)
{
    struct table *table = &analysis->tables[BY_WAIT];
    struct table_row *row = row_of_thread(analysis, table, thread, NULL);
    union table_cell *cells = row_cell(table, row, "send_ns");

    row_set(table, row, "waiting_ns", analysis_ns(analysis, waited(times)));
    for (int state = MODEL_BLOCKED_SEND; state <= MODEL_SUSPENDED; state++)
        (cells++)->count = analysis_ns(analysis, times->ticks[state]);
}

static void add_process(struct analysis *analysis, const struct model_thread *thread,
                        const struct times *times)
{
    struct table *table = &analysis->tables[BY_PROCESS];
    struct table_row *row = row_of_process(analysis, table, thread->pid);

    row_cell(table, row, "threads")->count++;
    add_times(analysis, row_cell(table, row, "running_ns"), times);
}

static void fill_states(struct analysis *analysis, const struct times *sum)
{
    uint64_t all = 0;

    for (int state = 0; state < MODEL_STATES; state++)
        all += sum->ticks[state];
    for (int state = 0; state < MODEL_STATES; state++)
        if (sum->times[state] != 0) {
            struct table_row *row = table_add(&analysis->tables[BY_STATE], model_state_names[state]);

            cells_put(row->cells, {.count = sum->times[state]},
                      {.count = analysis_ns(analysis, sum->ticks[state])},
                      {.real = all ? 100.0 * (double)sum->ticks[state] / (double)all : 0});
        }
}

/* Idle threads are left out; `tarn sched` has the idle time. */
static void finish_threads(struct analysis *analysis)
{
    struct threads *threads = (struct threads *)analysis;
    struct times sum = {.times = {0}};

    for (uint32_t i = 0; i < analysis->model->thread_count && i < threads->slots.count; i++) {
        const struct model_thread *thread = analysis->model->threads[i];
        const struct times *times = slots_at(&threads->slots, i);

        if (thread == NULL || thread->is_idle || !times->is_known)
            continue;
        add_thread(analysis, thread, times);
        add_wait(analysis, thread, times);
        add_process(analysis, thread, times);
        for (int state = 0; state < MODEL_STATES; state++) {
            sum.ticks[state] += times->ticks[state];
            sum.times[state] += times->times[state];
        }
    }
    fill_states(analysis, &sum);
}

const struct analysis_kind threads_analysis = {
    .name = "threads",
    .summary = "threads: how long they ran, were ready, and waited for what",
    .tables = tables,
    .table_count = TABLES,
    .size = sizeof(struct threads),
    .open = open_threads,
    .finish = finish_threads,
};
