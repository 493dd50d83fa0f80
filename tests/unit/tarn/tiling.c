/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/unit/tarn/tiling.c - checks what the model tells; see tiling.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tests/unit/tarn/tiling.h>

static void complain_about(struct tiling *tiling, const struct model_thread *thread, const char *what,
                           uint64_t expected, uint64_t found)
{
    if (tiling->problems++ == 0)
        snprintf(tiling->problem, sizeof(tiling->problem),
                 "thread %" PRIu32 " (number %" PRIu32 "), state %s: %s: %" PRIu64 ", not %" PRIu64,
                 thread->tid, thread->number, model_state_names[thread->state], what, found, expected);
}

static void expect(struct tiling *tiling, const struct model_thread *thread, const char *what,
                   uint64_t expected, uint64_t found)
{
    if (expected != found)
        complain_about(tiling, thread, what, expected, found);
}

static void add(struct tiling *tiling, uint64_t value)
{
    tiling->checksum = (tiling->checksum ^ value) * 0x9e3779b97f4a7c15u;
    tiling->checksum ^= tiling->checksum >> 29;
}

static struct tiling_thread *record(struct tiling *tiling, const struct model_thread *thread)
{
    if (thread->number >= tiling->thread_capacity) {
        uint32_t capacity = 2 * thread->number + 64;

        tiling->threads = alloc_more(tiling->threads, capacity, sizeof(tiling->threads[0]));
        memset(tiling->threads + tiling->thread_capacity, 0,
               (capacity - tiling->thread_capacity) * sizeof(tiling->threads[0]));
        tiling->thread_capacity = capacity;
    }
    return &tiling->threads[thread->number];
}

static struct tiling *self_of(struct model_observer *observer)
{
    return (struct tiling *)(void *)observer; /* its first member */
}

static uint64_t later(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

static void check_processor(struct tiling *tiling, const struct model_thread *thread, uint64_t from,
                            uint64_t to)
{
    struct tiling_cpu *cpu = &tiling->cpus[thread->cpu];

    if (tiling->model->cpus[thread->cpu].thread != thread)
        complain_about(tiling, thread, "runs on a processor that runs another", 0, from);
    if (cpu->end == 0)
        cpu->begin = cpu->end = from;
    if (from < cpu->end)
        complain_about(tiling, thread, "begins to run while another does", cpu->end, from);
    cpu->gaps += from - cpu->end;
    cpu->ran += to - from;
    cpu->end = to;
}

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct tiling *tiling = self_of(self);
    struct tiling_thread *known = record(tiling, thread);
    uint64_t begin = known->is_known ? known->end : later(thread->begin, tiling->model->from);

    expect(tiling, thread, "a segment begins", begin, from);
    if (to <= from || to > tiling->model->to)
        complain_about(tiling, thread, "a segment ends", from, to);
    if (known->has_ended)
        complain_about(tiling, thread, "a segment after the end", 0, from);
    known->is_known = true;
    known->end = to;
    known->total += to - from;
    tiling->segments++;
    if (thread->state == MODEL_UNKNOWN)
        tiling->unknown += to - from;
    if (thread->state == MODEL_RUNNING) {
        known->ran += to - from;
        check_processor(tiling, thread, from, to);
    }
    add(tiling, thread->number);
    add(tiling, from);
    add(tiling, to);
    add(tiling, thread->state);
    add(tiling, thread->depth);
    add(tiling, thread->calling != NULL ? thread->calling->id : 0);
    add(tiling, thread->serving != NULL ? thread->serving->id : 0);
    for (uint32_t i = 0; i < thread->depth && i < MODEL_DEPTH_MAX; i++)
        add(tiling, thread->frames[i].detail + ((uint64_t)thread->frames[i].kind << 32));
}

static void on_enter(struct model_observer *self, const struct model_thread *thread,
                     const struct model_frame *frame)
{
    struct tiling *tiling = self_of(self);

    record(tiling, thread)->depth++;
    tiling->entered++;
    add(tiling, frame->begin);
}

static void on_leave(struct model_observer *self, const struct model_thread *thread,
                     const struct model_frame *frame, uint64_t end)
{
    struct tiling *tiling = self_of(self);
    struct tiling_thread *known = record(tiling, thread);
    bool is_unseen = known->depth <= thread->depth; /* it was never on the stack */

    tiling->left++;
    tiling->cut += frame->is_cut;
    if (is_unseen && (!frame->is_cut || frame->begin != end))
        complain_about(tiling, thread, "an activity is left that was not entered", 0, known->depth);
    known->depth -= !is_unseen;
    tiling->unseen += is_unseen;
    if (frame->begin > end || frame->ran > end - frame->begin || frame->inner > frame->ran ||
        frame->interrupts > frame->inner)
        complain_about(tiling, thread, "an activity ran", end - frame->begin, frame->ran);
    add(tiling, frame->begin);
    add(tiling, end);
    add(tiling, frame->ran);
    add(tiling, frame->inner);
    add(tiling, (uint64_t)frame->result + frame->is_cut);
}

static void on_wakeup(struct model_observer *self, const struct model_thread *by,
                      const struct model_thread *thread, uint64_t ticks, bool is_direct)
{
    struct tiling *tiling = self_of(self);

    tiling->wakeups++;
    add(tiling, by != NULL ? by->number : UINT64_MAX);
    add(tiling, thread->number);
    add(tiling, ticks + is_direct);
}

static void on_switched(struct model_observer *self, uint32_t cpu, const struct model_thread *prev,
                        enum model_state state, const struct model_thread *next, uint64_t ticks)
{
    struct tiling *tiling = self_of(self);

    tiling->switches++;
    add(tiling, cpu);
    add(tiling, prev->number);
    add(tiling, state);
    add(tiling, next->number);
    add(tiling, ticks);
}

static void on_call(struct model_observer *self, const struct model_call *call, uint64_t ticks,
                    bool has_ended)
{
    struct tiling *tiling = self_of(self);

    tiling->calls += call->called == ticks && call->received == 0 && !has_ended;
    tiling->calls_ended += has_ended;
    if ((call->received != 0 && call->received < call->called) ||
        (call->replied != 0 && call->replied < call->received) || (call->returned != 0 && !has_ended))
        complain_about(tiling, call->client, "a call's times", call->called, call->received);
    add(tiling, call->id);
    add(tiling, ticks);
    add(tiling, call->server != NULL ? call->server->number : UINT64_MAX);
    add(tiling, call->outer_id);
}

static void on_thread(struct model_observer *self, const struct model_thread *thread, bool has_ended,
                      uint64_t ticks)
{
    struct tiling *tiling = self_of(self);
    struct tiling_thread *known = record(tiling, thread);

    if (has_ended) {
        known->has_ended = true;
        expect(tiling, thread, "ends with its last segment", known->is_known ? known->end : thread->end,
               thread->end);
        expect(tiling, thread, "is in activities after its end", 0, thread->depth);
    }
    add(tiling, ticks);
}

void tiling_open(struct tiling *tiling, struct model *model)
{
    memset(tiling, 0, sizeof(*tiling));
    tiling->model = model;
    tiling->cpus = alloc_zero(model->trace->stream_count + 1, sizeof(tiling->cpus[0]));
    tiling->observer = (struct model_observer){.segment = on_segment,
                                               .enter = on_enter,
                                               .leave = on_leave,
                                               .wakeup = on_wakeup,
                                               .switched = on_switched,
                                               .call = on_call,
                                               .thread = on_thread};
    model_observe(model, &tiling->observer);
}

static void check_thread(struct tiling *tiling, const struct model_thread *thread)
{
    const struct tiling_thread *known = record(tiling, thread);

    if (!known->is_known || (tiling->was_restored && thread->has_ended))
        return;
    expect(tiling, thread, "ran", known->ran, thread->ran);
    expect(tiling, thread, "the last segment ends", thread->end, known->end);
    expect(tiling, thread, "lasts", thread->end - later(thread->begin, tiling->model->from), known->total);
    expect(tiling, thread, "activities not left", 0, known->depth);
}

static void check_cpu(struct tiling *tiling, unsigned rank)
{
    const struct model_cpu *known = &tiling->model->cpus[rank];
    const struct tiling_cpu *cpu = &tiling->cpus[rank];

    /* Time is lost before the first and after the last segment, too. */
    if (tiling->problems == 0 && (cpu->ran != known->busy + known->idle || cpu->gaps > known->lost)) {
        tiling->problems++;
        snprintf(tiling->problem, sizeof(tiling->problem),
                 "processor %u: ran %" PRIu64 ", not %" PRIu64 "; gaps %" PRIu64 ", not %" PRIu64, rank,
                 cpu->ran, known->busy + known->idle, cpu->gaps, known->lost);
    }
}

bool tiling_check(struct tiling *tiling)
{
    const struct model *model = tiling->model;

    for (uint32_t i = 0; i < model->thread_count; i++)
        if (model->threads[i] != NULL && model->threads[i] != model->nobody)
            check_thread(tiling, model->threads[i]);
    for (unsigned i = 0; i < model->trace->stream_count; i++)
        check_cpu(tiling, i);
    return tiling->problems == 0;
}

void tiling_close(struct tiling *tiling)
{
    free(tiling->threads);
    free(tiling->cpus);
}
