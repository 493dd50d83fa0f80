/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * noise.c - `tarn noise`: time taken from computations, by what, and their durations without that.
 *
 * A computation is a thread. What it does itself, in its program and in its system calls, is work. What it
 * did not request is noise: interrupts, faults, other threads that ran instead, and the time to get back to
 * a CPU after a wait. Waiting is neither.
 *
 * There are two methods:
 *
 *     - Fixed work quantum: cut the work into equal parts and measure how long each took. Without noise, all
 *       would take the same time. Since each tick of a part has a cause, the effect of each cause can be
 *       subtracted.
 *     - Fixed time quantum: cut the time, without waiting, and measure the work in each slice.
 */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/analysis/noise_tables.h>

#define QUANTUM_US 1000u /* default amount of work */

static const struct command_option options[] = {
    {COUNT("quantum", "US", struct noises, quantum_us, 1, 1e9,
           "length of the equal parts of work, in microseconds (1000)")},
    {.name = NULL}};

static struct noise_thread *record_of(struct noises *noises, const struct model_thread *thread)
{
    struct noise_thread *record = slots_at(&noises->threads, thread->number);

    record->is_known = true;
    return record;
}

/* Classifies a segment; WORK for work, NOISES for what is neither. */
static enum noise kind_of(struct noise_thread *record, const struct model_thread *thread)
{
    static const uint8_t kinds[ACTIVITIES] = {
        [ACTIVITY_LIBC] = WORK,     [ACTIVITY_SYSCALL] = WORK,      [ACTIVITY_REQUEST] = WORK,
        [ACTIVITY_DRAIN] = WORK,    [ACTIVITY_FAULT] = NOISE_FAULT, [ACTIVITY_EXCEPTION] = NOISE_EXCEPTION,
        [ACTIVITY_IRQ] = NOISE_IRQ, [ACTIVITY_IPI] = NOISE_IPI};

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
    distribution_add(&noises->with_all, &noises->analysis.arena, all);
    distribution_add(&noises->with_none, &noises->analysis.arena, noises->quantum);
    for (int i = 0; i < NOISES; i++)
        distribution_add(&noises->quanta[i], &noises->analysis.arena, all - record->lost[i]);
    memset(record->lost, 0, sizeof(record->lost));
    record->done = 0;
}

/* Adds COUNT quanta that are inside one stretch of work, and so without noise. */
static void add_quiet(struct noises *noises, uint64_t count)
{
    distribution_add_many(&noises->with_all, &noises->analysis.arena, noises->quantum, count);
    distribution_add_many(&noises->with_none, &noises->analysis.arena, noises->quantum, count);
    for (int i = 0; i < NOISES; i++)
        distribution_add_many(&noises->quanta[i], &noises->analysis.arena, noises->quantum, count);
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

/* Adds time in which the thread was not waiting, as work or noise. */
static void add_slice(struct noises *noises, struct noise_thread *record, bool is_work, uint64_t ticks)
{
    uint64_t left = noises->quantum - record->passed;

    if (ticks < left) {
        record->passed += ticks;
        record->slice_work += is_work ? ticks : 0;
        return;
    }
    distribution_add(&noises->slices, &noises->analysis.arena, record->slice_work + (is_work ? left : 0));
    ticks -= left;
    if (ticks / noises->quantum != 0)
        distribution_add_many(&noises->slices, &noises->analysis.arena, is_work ? noises->quantum : 0,
                              ticks / noises->quantum);
    record->passed = ticks % noises->quantum;
    record->slice_work = is_work ? record->passed : 0;
}

static void add_cause(struct noises *noises, const struct model_thread *thread, enum noise kind,
                      uint64_t detail, uint64_t begin, uint64_t ticks)
{
    distribution_add(map_at(&noises->causes, kind, detail, 0), &noises->causes.arena, ticks);
    longest_add(
        &noises->longest,
        &(struct longest){.ticks = ticks, .begin = begin, .thread = thread, .what = detail, .args = {kind}});
}

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct noises *noises = ANALYSIS_OF(self, struct noises);
    struct noise_thread *record;
    uint64_t ticks = model_segment_ticks(thread, from, to);
    enum noise kind;

    delays_segment(&noises->delays, thread, from, to);
    if (thread->is_idle || !analysis_wants(&noises->analysis, thread))
        return;
    record = record_of(noises, thread);
    kind = kind_of(record, thread);
    if (kind != NOISES)
        add_slice(noises, record, kind == WORK, ticks);
    if (kind == WORK) {
        add_work(noises, record, ticks);
    } else if (kind < NOISES) {
        record->taken[kind] += ticks;
        record->lost[kind] += ticks;
        if (kind == NOISE_FAULT)
            record->fault += ticks;
        if (kind == NOISE_PREEMPTED || kind == NOISE_DISPATCH)
            add_cause(noises, thread, kind, 0, from, ticks);
    }
}

static void leave(struct model_observer *self, const struct model_thread *thread,
                  const struct model_frame *frame, uint64_t end)
{
    struct noises *noises = ANALYSIS_OF(self, struct noises);

    if (thread->is_idle || !analysis_wants(&noises->analysis, thread))
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

static void on_delay(struct delays *delays, const struct model_thread *thread, const struct model_thread *by,
                     uint32_t cpu, uint64_t from, uint64_t to)
{
    struct noises *noises = delays->owner;

    if (!analysis_wants_on(&noises->analysis, thread, cpu))
        return;
    tally_add(map_at(&noises->culprits, by != NULL ? by->number : UINT32_MAX, by != NULL && by->is_idle, 0),
              to - from);
}

static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *thread)
{
    struct noises *noises = ANALYSIS_OF(self, struct noises);

    delays_event(&noises->delays, cursor);
}

static bool open_noises(struct analysis *analysis, struct fail *fail)
{
    struct noises *noises = (struct noises *)analysis;
    uint64_t us = noises->quantum_us ? noises->quantum_us : QUANTUM_US;
    unsigned __int128 ticks = (unsigned __int128)us * analysis->trace->schema.clock_freq / 1000000;

    noises->quantum = ticks == 0 ? 1 : ticks > INT64_MAX ? INT64_MAX : (uint64_t)ticks;
    analysis_slots(analysis, &noises->threads, sizeof(struct noise_thread));
    analysis_map(analysis, &noises->causes, sizeof(struct distribution))->limit = MAP_DISTRIBUTIONS_MAX;
    analysis_map(analysis, &noises->culprits, sizeof(struct tally));
    irq_names_open(&noises->irqs, analysis);
    delays_open(&noises->delays, analysis);
    noises->delays.delayed = on_delay;
    noises->delays.owner = noises;
    noises->fault_kinds = model_detail_field(&analysis->trace->schema, ACTIVITY_FAULT);
    analysis->observer.segment = on_segment;
    analysis->observer.leave = leave;
    analysis->observer.event = on_event;
    return true;
}

const struct analysis_kind noise_analysis = {
    .name = "noise",
    .summary = "what interrupts, faults and other threads cost a computation, cause by cause",
    .options = options,
    .tables = noise_tables,
    .table_count = NOISE_TABLES,
    .totals = &noise_totals,
    .size = sizeof(struct noises),
    .open = open_noises,
    .finish = noise_fill,
};
