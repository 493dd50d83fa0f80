/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/model/model.c - events to states; see model.h. */
#include <stdlib.h>
#include <tools/tarn/model/model.h>

enum model_event { EVENT_OTHER, EVENT_CONTEXT, EVENT_SWITCH };

void model_open(struct model *model, const struct trace *trace, uint64_t from)
{
    const struct known_events *known = &trace->schema.known;

    memset(model, 0, sizeof(*model));
    model->trace = trace;
    model->from = from;
    names_open(&model->names, &trace->schema);
    model->cpus = alloc_zero(trace->stream_count + 1, sizeof(model->cpus[0]));
    model->kinds = alloc_zero(trace->schema.event_count + 1, sizeof(model->kinds[0]));
    if (known->context != NULL)
        model->kinds[known->context->index] = EVENT_CONTEXT;
    if (known->switched != NULL)
        model->kinds[known->switched->index] = EVENT_SWITCH;
    model->place_count = 256;
    model->places = alloc_zero(model->place_count, sizeof(model->places[0]));
}

void model_close(struct model *model)
{
    names_close(&model->names);
    free(model->cpus);
    free(model->kinds);
    free(model->threads);
    free(model->places);
    arena_free(&model->arena);
}

/* The place of a thread in the hash table, or the free place where it would go. The table is never full.
 * Thread 0 is the idle thread of processor CPU, a stream's rank. */
static uint32_t *find_place(const struct model *model, uint32_t tid, uint32_t cpu)
{
    for (uint32_t at = (tid != 0 ? tid : ~cpu) * 2654435761u;; at++) {
        uint32_t *place = &model->places[at & (model->place_count - 1)];
        const struct model_thread *thread;

        if (*place == 0)
            return place;
        thread = model->threads[*place - 1];
        if (thread->tid == tid && (tid != 0 || thread->cpu == cpu))
            return place;
    }
}

static void grow_places(struct model *model)
{
    model->place_count *= 2;
    free(model->places);
    model->places = alloc_zero(model->place_count, sizeof(model->places[0]));
    for (uint32_t i = 0; i < model->thread_count; i++)
        *find_place(model, model->threads[i]->tid, model->threads[i]->cpu) = i + 1;
}

static struct model_thread *add_thread(struct model *model, uint32_t tid, uint32_t cpu)
{
    struct model_thread *thread = arena_alloc(&model->arena, sizeof(*thread));
    uint32_t number = model->thread_count;

    if ((number & (number - 1)) == 0)
        model->threads = alloc_more(model->threads, number ? 2 * number : 1, sizeof(model->threads[0]));
    thread->tid = tid;
    thread->cpu = cpu;
    thread->number = number;
    model->threads[number] = thread;
    model->thread_count++;
    if (model->thread_count * 2 > model->place_count)
        grow_places(model);
    *find_place(model, tid, cpu) = number + 1;
    return thread;
}

/* The thread of a number, called and placed as the event at hand says. */
static struct model_thread *find_thread(struct model *model, const struct running *running, uint32_t cpu)
{
    static const struct running nobody = {
        .pid = MODEL_NOBODY, .tid = MODEL_NOBODY, .comm = "(unknown)", .comm_length = 9, .is_known = true};
    uint32_t place = *find_place(model, running->tid, cpu);
    struct model_thread *thread;

    if (!running->is_known || (place == 0 && running->tid != 0 && model->thread_count >= MODEL_THREADS_MAX)) {
        running = &nobody;
        place = *find_place(model, running->tid, cpu);
    }
    thread = place != 0 ? model->threads[place - 1] : add_thread(model, running->tid, cpu);
    thread->pid = running->pid;
    thread->is_idle = running->tid == 0;
    if (running->comm_length != 0)
        memcpy(thread->comm, running->comm, sizeof(thread->comm));
    return thread;
}

/* Time up to NOW goes to the thread that runs, or is lost. */
static void count_time(struct model_cpu *cpu, uint64_t now, bool is_lost)
{
    uint64_t ticks = now > cpu->since ? now - cpu->since : 0;

    if (is_lost) {
        cpu->lost += ticks;
    } else {
        cpu->thread->ran += ticks;
        *(cpu->thread->is_idle ? &cpu->idle : &cpu->busy) += ticks;
    }
    cpu->since = now > cpu->since ? now : cpu->since;
}

static void run_thread(struct model_cpu *cpu, struct model_thread *thread, uint32_t rank)
{
    if (thread->has_run && thread->cpu != rank)
        thread->migrations++;
    if (!thread->is_idle)
        thread->cpu = rank;
    thread->has_run = true;
    cpu->thread = thread;
}

static struct model_thread *take_switch(struct model *model, struct model_cpu *cpu,
                                        const struct cursor *cursor)
{
    const struct known_events *known = &model->trace->schema.known;
    const struct event *event = &cursor->event;
    struct model_thread *before = cpu->thread;
    uint32_t rank = cursor->stream->rank;
    struct running running;
    struct model_thread *next;

    running_set(&running, event, known->next_pid, known->next_tid, known->next_comm);
    next = find_thread(model, &running, rank);
    count_time(cpu, cursor->ticks, false);
    run_thread(cpu, next, rank);
    next->switches++;
    cpu->switches++;
    return before;
}

struct model_thread *model_take_known(struct model *model, const struct cursor *cursor)
{
    struct model_cpu *cpu = &model->cpus[cursor->stream->rank];
    const struct packet *packet = &cursor->packet;
    enum model_event kind = model->kinds[cursor->event.type->index];
    uint32_t rank = cursor->stream->rank;

    if (cpu->thread == NULL || kind == EVENT_CONTEXT) {
        struct model_thread *thread = find_thread(model, &cursor->running, rank);

        if (cpu->thread == NULL) {
            cpu->since = packet->header.timestamp_begin;
            if (cpu->since < model->from)
                cpu->since = model->from;
        } else if (thread != cpu->thread) {
            count_time(cpu, cpu->packet_end, false);
            count_time(cpu, cursor->ticks, true);
        }
        if (thread != cpu->thread)
            run_thread(cpu, thread, rank);
    }
    cpu->packet_end = packet->header.timestamp_end;
    return kind == EVENT_SWITCH ? take_switch(model, cpu, cursor) : cpu->thread;
}

void model_finish(struct model *model, uint64_t to)
{
    for (unsigned i = 0; i < model->trace->stream_count; i++) {
        struct model_cpu *cpu = &model->cpus[i];
        uint64_t end = cpu->packet_end > cpu->last ? cpu->packet_end : cpu->last;

        if (cpu->thread != NULL)
            count_time(cpu, end < to ? end : to, false);
    }
}

const char *model_thread_name(const struct model *model, const struct model_thread *thread)
{
    const char *name = thread->comm[0] != '\0' ? thread->comm : names_find(&model->names, thread->pid);

    return name != NULL ? name : "(unknown)";
}
