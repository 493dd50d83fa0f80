/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/noise.c - `tarn noise`: what was taken from computations, by whom, and what they would
 * have been without.
 *
 * A computation is a thread. What it does itself, in its program and in the system calls that it makes, is
 * work. What it did not ask for is noise: interrupts, faults, other threads that ran in its place, and the
 * way back to a processor after a wait. Waiting itself is neither. The idea of a fixed work quantum: cut the
 * work into equal parts and look at how long each took; without noise all would take the same time. Since
 * every tick of a part has its cause, each cause can be taken away.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/answer/delays.h>
#include <tools/tarn/answer/irq_names.h>
#include <tools/tarn/answer/kinds.h>
#include <tools/tarn/answer/spans.h>

#define QUANTUM_US 1000u /* of work, unless asked otherwise */

enum { BY_CAUSE, BY_THREAD, BY_QUANTUM, BY_WHO, BY_DURATION, BY_LONGEST, TABLES };

enum noise {
    NOISE_IRQ,
    NOISE_IPI,
    NOISE_FAULT,
    NOISE_EXCEPTION,
    NOISE_PREEMPTED,
    NOISE_DISPATCH,
    NOISES,
    WORK
};
static const char *const noise_names[NOISES] = {"interrupts",    "inter-processor interrupts",
                                                "faults",        "exceptions",
                                                "other threads", "the way back after a wait"};

/* What a thread did before it became ready. */
enum before { BEFORE_UNKNOWN, BEFORE_RUNNING, BEFORE_FAULT, BEFORE_WAITING };

struct noise_thread {
    bool is_known;
    uint64_t work, taken[NOISES]; /* ticks */
    enum before before;
    uint64_t fault; /* taken by the fault under way */
    /* the quantum under way */
    uint64_t done, lost[NOISES];
};

/* Who ran in the place of others. */
struct culprit {
    uint64_t times, total, max;
};

struct noises {
    struct answer answer;
    uint64_t quantum_us, quantum; /* of work; ticks */
    struct slots threads;         /* struct noise_thread by thread number */
    struct map causes;            /* struct distribution by enum noise and detail */
    struct map culprits;          /* struct culprit by thread number, UINT32_MAX: not known */
    /* how long quanta took: without each noise, with all, with none */
    struct distribution quanta[NOISES], with_all, with_none;
    struct longest_list longest;
    struct delays delays;
    struct irq_names irqs;
    const struct field *fault_kinds;
    struct arena arena;
};

enum { TOTAL_THREADS, TOTAL_WORK, TOTAL_TAKEN, TOTAL_PERCENT };
static const struct table_column total_columns[] = {
    COUNT_COLUMN("threads", "threads"), TIME_COLUMN("work", "work_ns"), TIME_COLUMN("taken", "taken_ns"),
    MEAN_COLUMN("% of the work", "taken_percent", 2)};
static const struct table totals = TABLE("total", "total", "totals", total_columns, TABLE_AS_FILLED);
enum { CAUSE_GROUP, CAUSE_PERCENT, CAUSE_TIMES };
static const struct table_column cause_columns[] = {TEXT_COLUMN("kind", "kind"),
                                                    REAL_COLUMN("% of work", "percent", 3),
                                                    DISTRIBUTION_COLUMNS("times", "times")};
enum { THREAD_TID, THREAD_PID, THREAD_WORK, THREAD_TAKEN, THREAD_PERCENT, THREAD_NOISES };
static const struct table_column thread_columns[] = {NUMBER_COLUMN("tid", "tid"),
                                                     NUMBER_COLUMN("pid", "pid"),
                                                     TIME_COLUMN("work", "work_ns"),
                                                     TIME_COLUMN("taken", "taken_ns"),
                                                     MEAN_COLUMN("% of work", "percent", 2),
                                                     TIME_COLUMN("irq", "irq_ns"),
                                                     TIME_COLUMN("ipi", "ipi_ns"),
                                                     TIME_COLUMN("fault", "fault_ns"),
                                                     TIME_COLUMN("exception", "exception_ns"),
                                                     TIME_COLUMN("preempted", "preempted_ns"),
                                                     TIME_COLUMN("dispatch", "dispatch_ns")};
enum { QUANTUM_DURATIONS, QUANTUM_SLOWDOWN = DISTRIBUTION_COLUMN_COUNT };
static const struct table_column quantum_columns[] = {DISTRIBUTION_COLUMNS("quanta", "quanta"),
                                                      MEAN_COLUMN("slowdown %", "slowdown_percent", 3)};
enum { WHO_TID, WHO_PID, WHO_TIMES, WHO_TOTAL, WHO_MAX };
static const struct table_column who_columns[] = {
    NUMBER_COLUMN("tid", "tid"), NUMBER_COLUMN("pid", "pid"), COUNT_COLUMN("times", "times"),
    TIME_COLUMN("total", "total_ns"), TIME_LARGEST("max", "max_ns")};
static const struct table_column longest_columns[] = {LONGEST_COLUMNS};
static const struct table tables[TABLES] = {
    [BY_CAUSE] = TABLE("cause", "cause", "causes", cause_columns, CAUSE_TIMES + 1),
    [BY_THREAD] = TABLE("thread", "thread", "threads", thread_columns, THREAD_TAKEN),
    [BY_QUANTUM] =
        TABLE_AS("quantum", "equal parts of work", "rows", quantum_columns, TABLE_AS_FILLED, false, true),
    [BY_WHO] = TABLE("who", "who ran in its place", "threads", who_columns, WHO_TOTAL),
    [BY_DURATION] = HISTOGRAM_TABLE_EXTRA("duration", "part of the work took"),
    [BY_LONGEST] =
        TABLE_EXTRA("longest", "longest interruptions", "interruptions", longest_columns, TABLE_AS_FILLED),
};

static const struct answer_option options[] = {
    {"quantum", true, " US        the equal parts into which work is cut, microseconds (1000)"},
    {NULL, false, NULL}};

static bool set_option(struct answer *answer, const char *option, const char *value, struct fail *fail)
{
    struct noises *noises = (struct noises *)answer;
    char *end;

    noises->quantum_us = strtoull(value, &end, 0);
    if (*value < '0' || *value > '9' || *end != '\0' || noises->quantum_us == 0 ||
        noises->quantum_us > 1000000000)
        return fail_set(fail, "--quantum %.40s: microseconds, 1 to 1000000000", value);
    return true;
}

static struct noise_thread *record_of(struct noises *noises, const struct model_thread *thread)
{
    struct noise_thread *record = slots_at(&noises->threads, thread->number);

    record->is_known = true;
    return record;
}

/* ---- while the model tells ---- */

/* What a segment is; WORK for work, NOISES for what is neither. */
static enum noise kind_of(struct noise_thread *record, const struct model_thread *thread)
{
    static const uint8_t kinds[ACTIVITIES] = {[ACTIVITY_LIBC] = WORK,
                                              [ACTIVITY_SYSCALL] = WORK,
                                              [ACTIVITY_REQUEST] = WORK,
                                              [ACTIVITY_FAULT] = NOISE_FAULT,
                                              [ACTIVITY_EXCEPTION] = NOISE_EXCEPTION,
                                              [ACTIVITY_IRQ] = NOISE_IRQ,
                                              [ACTIVITY_IPI] = NOISE_IPI};

    switch (thread->state) {
    case MODEL_RUNNING:
        record->before = BEFORE_RUNNING;
        if (thread->depth == 0 || thread->depth > MODEL_DEPTH_MAX)
            return WORK;
        return kinds[thread->frames[thread->depth - 1].kind];
    case MODEL_READY:
        return record->before == BEFORE_RUNNING ? NOISE_PREEMPTED
               : record->before == BEFORE_FAULT ? NOISE_FAULT
                                                : NOISE_DISPATCH;
    case MODEL_BLOCKED_FAULT:
        record->before = BEFORE_FAULT;
        return NOISE_FAULT;
    default:
        record->before = BEFORE_WAITING;
        return NOISES;
    }
}

static void end_quantum(struct noises *noises, struct noise_thread *record)
{
    uint64_t all = noises->quantum;

    for (int i = 0; i < NOISES; i++)
        all += record->lost[i];
    distribution_add(&noises->with_all, &noises->arena, all);
    distribution_add(&noises->with_none, &noises->arena, noises->quantum);
    for (int i = 0; i < NOISES; i++)
        distribution_add(&noises->quanta[i], &noises->arena, all - record->lost[i]);
    memset(record->lost, 0, sizeof(record->lost));
    record->done = 0;
}

/* Quanta that lie within one stretch of work have no noise. */
static void add_quiet(struct noises *noises, uint64_t count)
{
    distribution_add_many(&noises->with_all, &noises->arena, noises->quantum, count);
    distribution_add_many(&noises->with_none, &noises->arena, noises->quantum, count);
    for (int i = 0; i < NOISES; i++)
        distribution_add_many(&noises->quanta[i], &noises->arena, noises->quantum, count);
}

static void add_work(struct noises *noises, struct noise_thread *record, uint64_t ticks)
{
    uint64_t left = noises->quantum - record->done;

    record->work += ticks;
    if (ticks < left) {
        record->done += ticks;
        return;
    }
    end_quantum(noises, record);
    ticks -= left;
    if (ticks / noises->quantum != 0)
        add_quiet(noises, ticks / noises->quantum);
    record->done = ticks % noises->quantum;
}

static void add_cause(struct noises *noises, const struct model_thread *thread, enum noise kind,
                      uint64_t detail, uint64_t begin, uint64_t ticks)
{
    distribution_add(map_at(&noises->causes, kind, detail, 0), &noises->causes.arena, ticks);
    longest_add(
        &noises->longest,
        &(struct longest){.ticks = ticks, .begin = begin, .thread = thread, .what = detail, .args = {kind}});
}

static void take_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                         uint64_t to)
{
    struct noises *noises = ANSWER_OF(self, struct noises);
    struct noise_thread *record;
    enum noise kind;

    delays_segment(&noises->delays, thread, from, to);
    if (thread->is_idle || !answer_wants(&noises->answer, thread))
        return;
    record = record_of(noises, thread);
    kind = kind_of(record, thread);
    if (kind == WORK) {
        add_work(noises, record, to - from);
    } else if (kind < NOISES) {
        record->taken[kind] += to - from;
        record->lost[kind] += to - from;
        if (kind == NOISE_FAULT)
            record->fault += to - from;
        if (kind == NOISE_PREEMPTED || kind == NOISE_DISPATCH)
            add_cause(noises, thread, kind, 0, from, to - from);
    }
}

static void leave(struct model_observer *self, const struct model_thread *thread,
                  const struct model_frame *frame, uint64_t end)
{
    struct noises *noises = ANSWER_OF(self, struct noises);

    if (thread->is_idle || !answer_wants(&noises->answer, thread))
        return;
    switch (frame->kind) {
    case ACTIVITY_IRQ:
        add_cause(noises, thread, NOISE_IRQ, irq_key(frame), frame->begin, frame->ran - frame->inner);
        break;
    case ACTIVITY_IPI:
        add_cause(noises, thread, NOISE_IPI, irq_key(frame), frame->begin, frame->ran - frame->inner);
        break;
    case ACTIVITY_EXCEPTION:
        add_cause(noises, thread, NOISE_EXCEPTION, frame->detail, frame->begin, frame->ran - frame->inner);
        break;
    case ACTIVITY_FAULT:
        add_cause(noises, thread, NOISE_FAULT, frame->detail, frame->begin, record_of(noises, thread)->fault);
        record_of(noises, thread)->fault = 0;
        break;
    default:
        break;
    }
}

static void take_delay(struct delays *delays, const struct model_thread *thread,
                       const struct model_thread *by, uint32_t cpu, uint64_t from, uint64_t to)
{
    struct noises *noises = delays->owner;
    struct culprit *culprit;

    if (!answer_wants(&noises->answer, thread))
        return;
    culprit = map_at(&noises->culprits, by != NULL ? by->number : UINT32_MAX, by != NULL && by->is_idle, 0);
    culprit->times++;
    culprit->total += to - from;
    if (to - from > culprit->max)
        culprit->max = to - from;
}

static void take_event(struct model_observer *self, const struct cursor *cursor,
                       const struct model_thread *thread)
{
    struct noises *noises = ANSWER_OF(self, struct noises);

    delays_event(&noises->delays, cursor);
    irq_names_event(&noises->irqs, &cursor->event);
}

static bool open_noises(struct answer *answer, struct fail *fail)
{
    struct noises *noises = (struct noises *)answer;
    uint64_t us = noises->quantum_us ? noises->quantum_us : QUANTUM_US;
    unsigned __int128 ticks = (unsigned __int128)us * answer->trace->schema.clock_freq / 1000000;

    noises->quantum = ticks == 0 ? 1 : ticks > INT64_MAX ? INT64_MAX : (uint64_t)ticks;
    slots_open(&noises->threads, sizeof(struct noise_thread));
    map_open(&noises->causes, sizeof(struct distribution));
    map_open(&noises->culprits, sizeof(struct culprit));
    irq_names_open(&noises->irqs, answer);
    delays_open(&noises->delays, answer);
    noises->delays.delayed = take_delay;
    noises->delays.owner = noises;
    noises->fault_kinds = answer_field(answer, "fault_exit", "kind");
    answer->observer.segment = take_segment;
    answer->observer.leave = leave;
    answer->observer.event = take_event;
    return true;
}

static void close_noises(struct answer *answer)
{
    struct noises *noises = (struct noises *)answer;

    slots_close(&noises->threads);
    map_close(&noises->causes);
    map_close(&noises->culprits);
    irq_names_close(&noises->irqs);
    delays_close(&noises->delays);
    arena_free(&noises->arena);
}

/* ---- tables ---- */

static const char *cause_name(const struct noises *noises, enum noise kind, uint64_t detail,
                              char text[ANSWER_NAME_BYTES])
{
    char label[ANSWER_NAME_BYTES];

    switch (kind) {
    case NOISE_IRQ:
    case NOISE_IPI:
        return irq_name(&noises->irqs, detail, text);
    case NOISE_FAULT:
        snprintf(text, ANSWER_NAME_BYTES, "fault %.40s",
                 detail == UINT32_MAX ? "(not seen)" : label_of(noises->fault_kinds, detail, label));
        return text;
    case NOISE_EXCEPTION:
        snprintf(text, ANSWER_NAME_BYTES, "exception %u", (unsigned)detail);
        return text;
    case NOISE_PREEMPTED:
        return "another thread ran";
    case NOISE_DISPATCH:
        return "woken, not yet running";
    default:
        return "(others)";
    }
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void fill_causes(struct noises *noises, uint64_t work)
{
    struct answer *answer = &noises->answer;
    char text[ANSWER_NAME_BYTES];

    for (size_t i = 0; i < map_total(&noises->causes); i++) {
        const struct map_entry *entry = map_entry(&noises->causes, i);
        const struct distribution *durations = (const void *)entry->value;
        enum noise kind = entry->key[0] < NOISES ? (enum noise)entry->key[0] : NOISES;
        struct table_row *row =
            table_add(&answer->tables[BY_CAUSE], cause_name(noises, kind, entry->key[1], text));

        row->cells[CAUSE_GROUP].text = kind < NOISES ? noise_names[kind] : NULL;
        row->cells[CAUSE_PERCENT].real = percent(durations->total, work);
        distribution_fill(durations, &answer->trace->schema, &row->cells[CAUSE_TIMES]);
    }
}

static void add_thread(struct answer *answer, const struct model_thread *thread,
                       const struct noise_thread *record, uint64_t taken)
{
    struct table_row *row = table_add(&answer->tables[BY_THREAD], answer_thread_name(answer, thread));

    row->cells[THREAD_TID].count = thread->tid;
    row->cells[THREAD_PID].count = thread->pid;
    row->cells[THREAD_WORK].count = answer_ns(answer, record->work);
    row->cells[THREAD_TAKEN].count = answer_ns(answer, taken);
    row->cells[THREAD_PERCENT].real = percent(taken, record->work);
    for (int i = 0; i < NOISES; i++)
        row->cells[THREAD_NOISES + i].count = answer_ns(answer, record->taken[i]);
}

/* Returns all work. */
static uint64_t fill_threads(struct noises *noises)
{
    struct answer *answer = &noises->answer;
    union table_cell *total = answer->total->cells;
    uint64_t work = 0, all_taken = 0;

    for (uint32_t i = 0; i < answer->model->thread_count && i < noises->threads.count; i++) {
        const struct model_thread *thread = answer->model->threads[i];
        const struct noise_thread *record = slots_find(&noises->threads, i);
        uint64_t taken = 0;

        if (thread == NULL || !record->is_known)
            continue;
        for (int n = 0; n < NOISES; n++)
            taken += record->taken[n];
        add_thread(answer, thread, record, taken);
        work += record->work;
        all_taken += taken;
        total[TOTAL_THREADS].count++;
    }
    total[TOTAL_WORK].count = answer_ns(answer, work);
    total[TOTAL_TAKEN].count = answer_ns(answer, all_taken);
    total[TOTAL_PERCENT].real = percent(all_taken, work);
    return work;
}

static void add_quantum(struct noises *noises, const char *name, const struct distribution *durations)
{
    struct table_row *row = table_add(&noises->answer.tables[BY_QUANTUM], name);
    double quantum = (double)noises->quantum * (double)durations->count;

    distribution_fill(durations, &noises->answer.trace->schema, &row->cells[QUANTUM_DURATIONS]);
    row->cells[QUANTUM_SLOWDOWN].real =
        durations->count ? 100.0 * ((double)durations->total - quantum) / quantum : 0;
}

/* Causes that took nothing are left out. */
static void fill_quanta(struct noises *noises)
{
    char name[80];

    add_quantum(noises, "as it was", &noises->with_all);
    for (int i = 0; i < NOISES; i++) {
        snprintf(name, sizeof(name), "without %s", noise_names[i]);
        if (noises->quanta[i].total != noises->with_all.total)
            add_quantum(noises, name, &noises->quanta[i]);
    }
    add_quantum(noises, "the work alone", &noises->with_none);
}

static void fill_culprits(struct noises *noises)
{
    struct answer *answer = &noises->answer;
    const struct model *model = answer->model;
    struct map sums;

    map_open(&sums, sizeof(struct culprit)); /* the idle threads are one */
    for (size_t i = 0; i < map_total(&noises->culprits); i++) {
        const struct map_entry *entry = map_entry(&noises->culprits, i);
        const struct culprit *culprit = (const void *)entry->value;
        bool is_idle = entry->key[1] == 1;
        struct culprit *sum = map_at(&sums, is_idle ? 0 : entry->key[0], is_idle, 0);

        sum->times += culprit->times;
        sum->total += culprit->total;
        sum->max = culprit->max > sum->max ? culprit->max : sum->max;
    }
    for (size_t i = 0; i < sums.count; i++) {
        const struct culprit *culprit = (const void *)sums.entries[i]->value;
        uint64_t number = sums.entries[i]->key[0];
        bool is_idle = sums.entries[i]->key[1] != 0;
        const struct model_thread *thread =
            !is_idle && number < model->thread_count ? model->threads[number] : NULL;
        struct table_row *row = table_add(&answer->tables[BY_WHO], thread ? answer_thread_name(answer, thread)
                                                                   : is_idle ? "(idle: not yet awake)"
                                                                             : "(unknown)");

        row->cells[WHO_TID].count = thread ? thread->tid : (uint64_t)TABLE_NONE;
        row->cells[WHO_PID].count = thread ? thread->pid : (uint64_t)TABLE_NONE;
        row->cells[WHO_TIMES].count = culprit->times;
        row->cells[WHO_TOTAL].count = answer_ns(answer, culprit->total);
        row->cells[WHO_MAX].count = answer_ns(answer, culprit->max);
    }
    map_close(&sums);
}

static void fill_longest(struct noises *noises)
{
    struct table *table = &noises->answer.tables[BY_LONGEST];
    char text[ANSWER_NAME_BYTES];

    longest_sort(&noises->longest);
    for (unsigned i = 0; i < noises->longest.count; i++) {
        const struct longest *item = &noises->longest.items[i];

        longest_fill(&noises->answer, table,
                     table_add(table, cause_name(noises, (enum noise)item->args[0], item->what, text)), item);
    }
}

static void finish_noises(struct answer *answer)
{
    struct noises *noises = (struct noises *)answer;

    fill_causes(noises, fill_threads(noises));
    fill_quanta(noises);
    fill_culprits(noises);
    distribution_histogram(&noises->with_all, &answer->trace->schema, &answer->tables[BY_DURATION]);
    fill_longest(noises);
}

const struct answer_kind noise_answer = {
    .name = "noise",
    .summary = "what interrupts, faults and others took from computations, with and without each",
    .help =
        "What was taken from the chosen threads (--tid, --pid, --process) while they had work to do: by\n"
        "interrupts, faults, other threads in their place, and on the way back to a processor after a\n"
        "wait. Work is what a thread does itself, its system calls included; waiting is neither. The\n"
        "table quantum cuts the work into equal parts: how long they took, and would have without each.\n",
    .options = options,
    .tables = tables,
    .table_count = TABLES,
    .totals = &totals,
    .size = sizeof(struct noises),
    .set = set_option,
    .open = open_noises,
    .finish = finish_noises,
    .close = close_noises,
};
