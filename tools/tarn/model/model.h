/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/model/model.h - stage "model": events to states. Which thread ran on which processor, and how
 * long.
 *
 * Fed with the events of all processors in order (order.h), one by one. A thread's time on a processor begins
 * and ends with sched_switch. Every packet's context event says anew who runs: if that is not the thread that
 * should run, a switch was lost, and the time since the last event before is nobody's (`lost`), not guessed.
 *
 * Threads are found by number; idle threads, which all have number 0, by their processor. What is remembered
 * is bounded: threads beyond MODEL_THREADS_MAX are one, MODEL_NOBODY, and so is who ran when no event tells.
 * Records stay where they are until model_close. Next stage: an analysis such as stats.c.
 */
#ifndef TARN_MODEL_H
#define TARN_MODEL_H

#include <tools/tarn/read/decode.h>
#include <tools/tarn/read/names.h>

#define MODEL_THREADS_MAX 262144u
#define MODEL_NOBODY      UINT32_MAX /* pid and tid */

struct model_thread {
    uint32_t tid, pid;
    uint32_t cpu; /* where it ran last */
    bool is_idle, has_run;
    char comm[TRACE_NAME_BYTES + 1];
    uint64_t ran;        /* ticks on a processor */
    uint64_t switches;   /* times it was switched to */
    uint64_t migrations; /* of these: to another processor than before */
    uint32_t number;     /* index in model.threads */
};

struct model_cpu {
    struct model_thread *thread; /* who runs; NULL before the first event */
    uint64_t since;              /* ticks: from when on its time is not yet counted */
    uint64_t last;               /* of the last event */
    uint64_t packet_end;         /* of that event's packet */
    uint64_t busy, idle, lost;   /* ticks */
    uint64_t switches;
};

struct model {
    const struct trace *trace;
    struct names names;
    uint64_t from;          /* ticks; time before is not counted */
    struct model_cpu *cpus; /* by the stream's rank */
    struct model_thread **threads;
    uint32_t thread_count;
    uint32_t *places; /* hash table: index in threads + 1 */
    uint32_t place_count;
    uint8_t *kinds; /* by event index: enum model_event of model.c, 0 for most */
    struct arena arena;
};

void model_open(struct model *model, const struct trace *trace, uint64_t from);
/* Slow path of model_take. */
struct model_thread *model_take_known(struct model *model, const struct cursor *cursor);
/* Counts the time up to TO (ticks), or to the end of what each processor logged. */
void model_finish(struct model *model, uint64_t to);
void model_close(struct model *model);

/* What a thread is called: its own name, else its process's. */
const char *model_thread_name(const struct model *model, const struct model_thread *thread);

/* Takes the event that CURSOR stands at; the thread that ran when it was logged. */
static inline struct model_thread *model_take(struct model *model, const struct cursor *cursor)
{
    struct model_cpu *cpu = &model->cpus[cursor->stream->rank];

    names_learn(&model->names, &cursor->event);
    cpu->last = cursor->ticks;
    if (__builtin_expect(cpu->thread == NULL || model->kinds[cursor->event.type->index] != 0, 0))
        return model_take_known(model, cursor);
    return cpu->thread;
}

#endif
