/*
 * noise.c - the relations `interruption`, `work`, `work_part` and `work_slice`: what took time from
 * computations, and how long these would have taken without.
 *
 * A computation is a thread. What it does itself, in its program and in its system calls, is work. What it
 * did not request is noise: interrupts, faults, other threads that ran instead, and the time to get back to
 * a CPU after a wait. Waiting is neither. Idle threads are left out.
 *
 * There are two methods:
 *
 *     - Fixed work quantum: cut the work into equal parts and measure how long each took. Without noise, all
 *       would take the same time. Since each tick of a part has a cause, the effect of each cause can be
 *       subtracted.
 *     - Fixed time quantum: cut the time, without waiting, and measure the work in each slice.
 */
#include <tools/tarn/relation/maker.h>

#define QUANTUM_US     1000u /* default amount of work */
#define QUANTUM_US_MAX 1000000000u

enum { INTERRUPTION, WORK_OF_THREAD, WORK_PART, WORK_SLICE };

enum noise {
    NOISE_IRQ,
    NOISE_IPI,
    NOISE_FAULT,
    NOISE_EXCEPTION,
    NOISE_PREEMPTED,
    NOISE_DISPATCH,
    NOISES,
    WORK = NOISES,
    WAITING
};
static const char *const names[] = {"interrupts",    "inter-processor interrupts", "faults", "exceptions",
                                    "other threads", "delay after a wait",         "work",   "waiting"};
static const enum noise noises_of_activity[ACTIVITIES] = {
    [ACTIVITY_LIBC] = WORK,     [ACTIVITY_SYSCALL] = WORK,      [ACTIVITY_REQUEST] = WORK,
    [ACTIVITY_DRAIN] = WORK,    [ACTIVITY_FAULT] = NOISE_FAULT, [ACTIVITY_EXCEPTION] = NOISE_EXCEPTION,
    [ACTIVITY_IRQ] = NOISE_IRQ, [ACTIVITY_IPI] = NOISE_IPI};
/* How long a part takes: without the noise of this number, with all, with none. */
enum { WITH_ALL = NOISES, WITH_NONE, VARIANTS };
static const char *const variants[VARIANTS] = {
    "without interrupts",    "without inter-processor interrupts", "without faults", "without exceptions",
    "without other threads", "without delay after a wait",         "as measured",    "the work alone"};

struct noise_thread {
    bool is_known;
    uint64_t taken[WAITING]; /* ticks, by enum noise */
    /* what it did before it became ready */
    enum { BEFORE_UNKNOWN, BEFORE_RUNNING, BEFORE_FAULT, BEFORE_WAITING } before;
    uint64_t fault; /* ticks taken by the current fault */
    /* the current quantum */
    uint64_t done, lost[NOISES];
    /* the current time slice: time passed, and work in it */
    uint64_t passed, slice_work;
};

struct noises {
    struct making making; /* first */
    uint64_t quantum;     /* ticks */
    struct slots threads; /* struct noise_thread, by thread number */
};

/* clang-format off */
#define QUANTUM(C) \
    C("quantum_us", PARAMETER(0, TEXT), NOTHING, "length of the parts and slices, in microseconds (1000)")
#define INTERRUPTION_COLUMNS(C) \
    C("ts", WHEN, WHEN(begin), "when it began") \
    C("dur", SPAN, SPAN(ticks), "time that it took from the work") \
    C("utid", NUMBER, THREAD_OF(thread), "thread whose work was interrupted") \
    C("kind", TEXT, STRING(names[kind]), \
      "interrupts, inter-processor interrupts, faults, exceptions, other threads, delay after a wait") \
    C("detail", NUMBER, NUMBER(detail), "number of the interrupt, exception or fault type") \
    C("name", TEXT, STRING(labels != NULL && detail != UINT32_MAX ? label_of(labels, detail, text) : NULL), \
      "name of the number") \
    QUANTUM(C)
#define WORK_COLUMNS(C) \
    C("utid", NUMBER, THREAD_OF(making->analysis->model->threads[i]), "the thread") \
    C("kind", TEXT, STRING(names[kind]), "work, or what took time from it: see interruption") \
    C("dur", SPAN, SPAN(record->taken[kind]), "its time") \
    QUANTUM(C)
#define PART_COLUMNS(C) \
    C("variant", TEXT, STRING(variants[variant]), \
      "as measured, without one kind of interruption, or the work alone") \
    C("dur", SPAN, SPAN(ticks), "duration of the part, measured or without the interruption") \
    C("times", NUMBER, NUMBER(times), "number of such parts") \
    QUANTUM(C)
#define SLICE_COLUMNS(C) \
    C("dur", SPAN, SPAN(work), "work in the slice") \
    C("times", NUMBER, NUMBER(times), "number of such slices") \
    QUANTUM(C)
/* clang-format on */

/* Classifies a segment. */
static enum noise kind_of(struct noise_thread *record, const struct model_thread *thread)
{
    switch (thread->state) {
    case MODEL_RUNNING:
        record->before = BEFORE_RUNNING;
        if (thread->depth == 0 || thread->depth > MODEL_DEPTH_MAX)
            return WORK;
        return noises_of_activity[thread->frames[thread->depth - 1].kind];
    case MODEL_READY:
        return record->before == BEFORE_RUNNING ? NOISE_PREEMPTED
               : record->before == BEFORE_FAULT ? NOISE_FAULT
                                                : NOISE_DISPATCH;
    case MODEL_BLOCKED_FAULT:
        record->before = BEFORE_FAULT;
        return NOISE_FAULT;
    default:
        record->before = BEFORE_WAITING;
        return WAITING;
    }
}

static const uint64_t quiet[NOISES];

/* Gives parts from which the noise took LOST. */
static void give_parts(struct noises *noises, const uint64_t *lost, uint64_t times)
{
    uint64_t all = noises->quantum;
    for (unsigned i = 0; i < NOISES; i++)
        all += lost[i];
    for (unsigned variant = 0; variant < VARIANTS; variant++) {
        uint64_t ticks = variant < NOISES ? all - lost[variant] : variant == WITH_ALL ? all : noises->quantum;
        MAKING_GIVE(&noises->making, WORK_PART, noises->making.analysis->from, PART_COLUMNS);
    }
}

static void add_work(struct noises *noises, struct noise_thread *record, uint64_t ticks)
{
    uint64_t left = noises->quantum - record->done;
    if (ticks < left) {
        record->done += ticks;
        return;
    }
    give_parts(noises, record->lost, 1);
    memset(record->lost, 0, sizeof(record->lost));
    ticks -= left;
    if (ticks / noises->quantum != 0) /* parts inside of one stretch of work */
        give_parts(noises, quiet, ticks / noises->quantum);
    record->done = ticks % noises->quantum;
}

static void give_slice(struct noises *noises, uint64_t work, uint64_t times)
{
    MAKING_GIVE(&noises->making, WORK_SLICE, noises->making.analysis->from, SLICE_COLUMNS);
}

/* Adds time in which the thread was not waiting, as work or noise. */
static void add_slice(struct noises *noises, struct noise_thread *record, bool is_work, uint64_t ticks)
{
    uint64_t left = noises->quantum - record->passed;
    if (ticks < left) {
        record->passed += ticks;
        record->slice_work += is_work ? ticks : 0;
        return;
    }
    give_slice(noises, record->slice_work + (is_work ? left : 0), 1);
    ticks -= left;
    if (ticks / noises->quantum != 0)
        give_slice(noises, is_work ? noises->quantum : 0, ticks / noises->quantum);
    record->passed = ticks % noises->quantum;
    record->slice_work = is_work ? record->passed : 0;
}

/* LABELS: of DETAIL, or NULL. */
static void give_interruption(struct noises *noises, const struct model_thread *thread, enum noise kind,
                              const struct field *labels, uint64_t detail, uint64_t begin, uint64_t ticks)
{
    char text[ANALYSIS_NAME_BYTES];
    MAKING_GIVE(&noises->making, INTERRUPTION, begin, INTERRUPTION_COLUMNS);
}

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct noises *noises = MAKING_OF(self, struct noises);
    struct noise_thread *record;
    uint64_t ticks = model_segment_ticks(thread, from, to);
    enum noise kind;
    if (thread->is_idle || !analysis_wants(noises->making.analysis, thread))
        return;
    record = slots_at(&noises->threads, thread->number);
    record->is_known = true;
    kind = kind_of(record, thread);
    if (kind == WAITING)
        return;
    add_slice(noises, record, kind == WORK, ticks);
    record->taken[kind] += ticks;
    if (kind == WORK) {
        add_work(noises, record, ticks);
        return;
    }
    record->lost[kind] += ticks;
    if (kind == NOISE_FAULT)
        record->fault += ticks;
    if (kind == NOISE_PREEMPTED || kind == NOISE_DISPATCH)
        give_interruption(noises, thread, kind, NULL, 0, from, ticks);
}

static void on_leave(struct model_observer *self, const struct model_thread *thread,
                     const struct model_frame *frame, uint64_t end)
{
    struct noises *noises = MAKING_OF(self, struct noises);
    const struct field *labels = model_detail_field(&noises->making.analysis->trace->schema, frame->kind);
    enum noise kind = noises_of_activity[frame->kind];
    uint64_t ticks = frame->ran - frame->inner;
    struct noise_thread *record;
    if (kind == WORK || thread->is_idle || !analysis_wants(noises->making.analysis, thread))
        return;
    if (kind == NOISE_FAULT) {
        record = slots_at(&noises->threads, thread->number);
        record->is_known = true;
        ticks = record->fault;
        record->fault = 0;
    }
    give_interruption(noises, thread, kind, labels, frame->detail, frame->begin, ticks);
}

static void open_noises(struct making *making)
{
    struct noises *noises = (struct noises *)making;
    const char *quantum = making->parameters[0];
    uint64_t us = QUANTUM_US;
    struct fail fail;
    unsigned __int128 ticks;
    if (quantum != NULL && (!option_count(quantum, &us, &fail) || us == 0 || us > QUANTUM_US_MAX))
        fail_set(&making->relations->fail, "--quantum %.40s: expected a number from 1 to %u", quantum,
                 QUANTUM_US_MAX);
    ticks = (unsigned __int128)us * making->analysis->trace->schema.clock_freq / 1000000;
    noises->quantum = ticks == 0 ? 1 : ticks > INT64_MAX ? INT64_MAX : (uint64_t)ticks;
    analysis_slots(making->analysis, &noises->threads, sizeof(struct noise_thread));
}

static void finish_noises(struct making *making)
{
    struct noises *noises = (struct noises *)making;
    give_parts(noises, quiet, 0); /* each variant has a row, even if there is no part */
    for (uint32_t i = 0; i < making->analysis->model->thread_count && i < noises->threads.count; i++) {
        const struct noise_thread *record = slots_find(&noises->threads, i);
        for (unsigned kind = 0; record->is_known && kind < WAITING; kind++)
            MAKING_GIVE(making, WORK_OF_THREAD, making->analysis->from, WORK_COLUMNS);
    }
}

const struct maker noise_maker = {
    .relations = {MADE_RELATION("interruption", "interruptions of the work of threads", INTERRUPTION_COLUMNS),
                  MADE_RELATION("work", "work of each thread, and what was taken from it", WORK_COLUMNS),
                  MADE_RELATION("work_part", "equal parts of work: how long each took", PART_COLUMNS),
                  MADE_RELATION("work_slice", "equal slices of time without waiting: the work in each",
                                SLICE_COLUMNS)},
    .size = sizeof(struct noises),
    .observer = {.segment = on_segment, .leave = on_leave},
    .open = open_noises,
    .finish = finish_noises,
};
