/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/view/node.c - summaries, added up, written and read; see node.h. */
#include <stdlib.h>
#include <tools/tarn/view/node.h>

#define NEAR 16u /* so far back a list of who ran is searched */

void tally_open(struct tally *tally, const struct trace *trace)
{
    memset(tally, 0, sizeof(*tally));
    tally->cpu_count = trace->stream_count;
    tally->cpus = alloc_zero(tally->cpu_count + 1, sizeof(tally->cpus[0]));
    tally->event_count = trace->schema.event_count;
    tally->events = alloc_zero(tally->event_count + 1, sizeof(tally->events[0]));
    tally_begin(tally, 0);
}

void tally_close(struct tally *tally)
{
    for (unsigned i = 0; i < tally->cpu_count; i++)
        free(tally->cpus[i].ran);
    free(tally->cpus);
    free(tally->events);
    free(tally->threads);
    free(tally->touched);
}

void tally_begin(struct tally *tally, uint64_t begin)
{
    tally->begin = begin;
    tally->stamp++;
    tally->touched_count = 0;
    for (unsigned i = 0; i < tally->cpu_count; i++) {
        memset(tally->cpus[i].ticks, 0, sizeof(tally->cpus[i].ticks));
        tally->cpus[i].count = tally->cpus[i].recent = 0;
        tally->cpus[i].running = UINT32_MAX;
        memset(tally->cpus[i].run, 0, sizeof(tally->cpus[i].run));
    }
    memset(tally->events, 0, tally->event_count * sizeof(tally->events[0]));
}

struct tally_thread *tally_add_thread(struct tally *tally, uint32_t number)
{
    struct tally_thread *thread;

    if (number >= tally->thread_room) {
        uint32_t room = number < 128 ? 256 : 2 * number;

        tally->threads = alloc_more(tally->threads, room, sizeof(tally->threads[0]));
        memset(tally->threads + tally->thread_room, 0,
               (room - tally->thread_room) * sizeof(tally->threads[0]));
        tally->thread_room = room;
    }
    if (tally->touched_count == tally->touched_room) {
        tally->touched_room = tally->touched_room ? 2 * tally->touched_room : 64;
        tally->touched = alloc_more(tally->touched, tally->touched_room, sizeof(tally->touched[0]));
    }
    tally->touched[tally->touched_count++] = number;
    thread = &tally->threads[number];
    memset(thread, 0, sizeof(*thread));
    thread->stamp = tally->stamp;
    return thread;
}

void tally_run_other(struct tally_cpu *cpu, uint32_t thread, uint64_t ticks)
{
    for (uint32_t i = cpu->count; i-- > 0 && cpu->count - i <= NEAR;)
        if (cpu->ran[i].thread == thread) {
            cpu->ran[i].ticks += ticks;
            cpu->recent = i;
            return;
        }
    if (cpu->count == cpu->room) {
        cpu->room = cpu->room ? 2 * cpu->room : 32;
        cpu->ran = alloc_more(cpu->ran, cpu->room, sizeof(cpu->ran[0]));
    }
    cpu->recent = cpu->count++;
    cpu->ran[cpu->recent] = (struct tally_ran){ticks, thread};
}

/* The record of a thread whose segment begins at FROM. */
static struct tally_thread *touch(struct tally *tally, const struct model_thread *thread, enum node_kind kind,
                                  uint64_t from)
{
    bool is_new;
    struct tally_thread *sum = tally_touch(tally, thread->number, &is_new);

    if (is_new)
        sum->first = from <= tally->begin ? kind : NODE_ABSENT;
    return sum;
}

/* What is known of who runs there goes where it belongs. */
static void settle(struct tally *tally, struct tally_cpu *cpu)
{
    struct tally_thread *sum;
    uint64_t all = 0;

    if (cpu->running == UINT32_MAX)
        return;
    sum = &tally->threads[cpu->running];
    for (int kind = 0; kind <= NODE_INTERRUPT; kind++) {
        bool is_idle = kind == NODE_USER && cpu->is_idle;

        sum->ticks[kind] += cpu->run[kind];
        cpu->ticks[is_idle ? CPU_IDLE : (enum cpu_kind)kind] += cpu->run[kind];
        all += cpu->run[kind];
        cpu->run[kind] = 0;
    }
    if (all != 0)
        tally_run(cpu, cpu->running, all);
    cpu->running = UINT32_MAX;
}

void tally_segment_slowly(struct tally *tally, const struct model_thread *thread, uint64_t from, uint64_t to)
{
    enum node_kind kind = node_kind(thread);
    struct tally_thread *sum = touch(tally, thread, kind, from);

    if (from < tally->begin)
        from = tally->begin;
    if (kind == NODE_ABSENT || to <= from)
        return;
    if (kind <= NODE_INTERRUPT) {
        struct tally_cpu *cpu = &tally->cpus[thread->cpu];

        settle(tally, cpu);
        cpu->running = thread->number;
        cpu->is_idle = thread->is_idle;
        cpu->run[kind] = to - from;
    } else {
        sum->ticks[kind] += to - from;
    }
}

/* Who runs on, and no event told so. */
static void touch_running(struct tally *tally, const struct model *model, const uint64_t *limits)
{
    for (unsigned i = 0; i < tally->cpu_count; i++) {
        const struct model_thread *thread = model->cpus[i].thread;
        struct tally_thread *sum;
        bool is_new;

        if (thread == NULL || thread->state != MODEL_RUNNING || thread->segment >= limits[i] ||
            tally->begin >= limits[i])
            continue;
        sum = tally_touch(tally, thread->number, &is_new);
        if (is_new)
            sum->first = thread->segment <= tally->begin ? node_kind(thread) : NODE_ABSENT;
    }
}

void tally_open_segments(struct tally *tally, const struct model *model, const uint64_t *limits, uint64_t end)
{
    touch_running(tally, model, limits);
    for (uint32_t i = 0; i < tally->touched_count; i++) {
        const struct model_thread *thread = model->threads[tally->touched[i]];
        struct tally_thread *sum = &tally->threads[tally->touched[i]];
        uint64_t until = end;

        sum->last = NODE_ABSENT;
        sum->until = end;
        if (thread == NULL || thread->has_ended)
            continue;
        sum->last = node_kind(thread);
        if (thread->state == MODEL_RUNNING && limits[thread->cpu] < end) {
            until = limits[thread->cpu];
            sum->last = NODE_ABSENT; /* nothing is known from there on */
        }
        if (thread->segment < until)
            tally_segment(tally, thread, thread->segment > tally->begin ? thread->segment : tally->begin,
                          until);
    }
    for (unsigned i = 0; i < tally->cpu_count; i++)
        settle(tally, &tally->cpus[i]);
}

static void take_segment(struct model_observer *observer, const struct model_thread *thread, uint64_t from,
                         uint64_t to)
{
    const struct tally_observer *self = (struct tally_observer *)observer;

    if (!self->is_done)
        tally_segment(self->tally, thread, from, to);
}

/* One that is born has been absent, whatever it does next. */
static void take_thread(struct model_observer *observer, const struct model_thread *thread, bool has_ended,
                        uint64_t ticks)
{
    const struct tally_observer *self = (struct tally_observer *)observer;
    struct tally_thread *sum;
    bool is_new;

    if (self->is_done || thread->tid == MODEL_NOBODY)
        return;
    sum = tally_touch(self->tally, thread->number, &is_new);
    if (is_new)
        sum->first = NODE_ABSENT;
}

void tally_observe(struct tally_observer *self, struct tally *tally)
{
    *self =
        (struct tally_observer){.observer = {.segment = take_segment, .thread = take_thread}, .tally = tally};
}

/* ---- adding nodes up ----------------------------------------------------------------------------- */

struct adder {
    struct node_visitor visitor;
    struct tally *tally;
    uint64_t begin, end;
};

static void add_cpu(struct node_visitor *visitor, uint32_t rank, const uint64_t ticks[CPU_KINDS])
{
    struct tally *tally = ((struct adder *)visitor)->tally;

    for (int kind = 0; kind < CPU_KINDS; kind++)
        tally->cpus[rank].ticks[kind] += ticks[kind];
}

static void add_ran(struct node_visitor *visitor, uint32_t rank, uint32_t thread, uint64_t ticks)
{
    tally_run(&((struct adder *)visitor)->tally->cpus[rank], thread, ticks);
}

static void add_thread(struct node_visitor *visitor, uint32_t number, enum node_kind first,
                       enum node_kind last, const uint64_t ticks[NODE_KINDS])
{
    const struct adder *adder = (struct adder *)visitor;
    struct tally *tally = adder->tally;
    bool is_new;
    struct tally_thread *sum = tally_touch(tally, number, &is_new);

    if (is_new) {
        sum->first = sum->last = (uint8_t)first;
        sum->until = tally->begin;
    }
    if (sum->last != NODE_ABSENT && adder->begin > sum->until)
        sum->ticks[sum->last] += adder->begin - sum->until;
    for (int kind = 0; kind < NODE_KINDS; kind++)
        sum->ticks[kind] += ticks[kind];
    sum->until = adder->end;
    sum->last = (uint8_t)last;
}

static void add_events(struct node_visitor *visitor, uint32_t type, uint64_t count)
{
    ((struct adder *)visitor)->tally->events[type] += count;
}

void tally_node(struct tally *tally, struct buffer_reader node, uint64_t begin, uint64_t end)
{
    struct adder adder = {{add_cpu, add_ran, add_thread, add_events}, tally, begin, end};

    if (!node_visit(&adder.visitor, node, tally->cpu_count, tally->event_count))
        tally->is_broken = true;
}

void tally_extend(struct tally *tally, uint64_t end)
{
    for (uint32_t i = 0; i < tally->touched_count; i++) {
        struct tally_thread *sum = &tally->threads[tally->touched[i]];

        if (sum->last != NODE_ABSENT && end > sum->until)
            sum->ticks[sum->last] += end - sum->until;
        sum->until = end;
    }
}

/* ---- writing ------------------------------------------------------------------------------------- */

static int compare_ran(const void *left, const void *right)
{
    uint32_t a = ((const struct tally_ran *)left)->thread, b = ((const struct tally_ran *)right)->thread;

    return a < b ? -1 : a > b;
}

/* Each thread once. */
static void merge_ran(struct tally_cpu *cpu)
{
    uint32_t kept = 0;

    if (cpu->count <= NEAR) /* then tally_run has seen to that */
        return;
    qsort(cpu->ran, cpu->count, sizeof(cpu->ran[0]), compare_ran);
    for (uint32_t i = 0; i < cpu->count; i++) {
        if (kept > 0 && cpu->ran[kept - 1].thread == cpu->ran[i].thread)
            cpu->ran[kept - 1].ticks += cpu->ran[i].ticks;
        else
            cpu->ran[kept++] = cpu->ran[i];
    }
    cpu->count = kept;
    cpu->recent = 0;
}

static void encode_cpu(struct tally_cpu *cpu, struct buffer *out)
{
    merge_ran(cpu);
    for (int kind = 0; kind < CPU_KINDS; kind++)
        buffer_add_varint(out, cpu->ticks[kind]);
    buffer_add_varint(out, cpu->count);
    for (uint32_t i = 0; i < cpu->count; i++) {
        buffer_add_varint(out, cpu->ran[i].thread);
        buffer_add_varint(out, cpu->ran[i].ticks);
    }
}

static void encode_thread(uint32_t number, const struct tally_thread *sum, struct buffer *out)
{
    unsigned mask = 0;

    for (unsigned kind = 0; kind < NODE_KINDS; kind++)
        mask |= (unsigned)(sum->ticks[kind] != 0) << kind;
    buffer_add_varint(out, number);
    buffer_add_varint(out, (uint64_t)mask << 8 | (uint64_t)sum->first << 4 | sum->last);
    for (unsigned kind = 0; kind < NODE_KINDS; kind++)
        if (sum->ticks[kind] != 0)
            buffer_add_varint(out, sum->ticks[kind]);
}

void tally_encode(struct tally *tally, struct buffer *out)
{
    unsigned types = 0, previous = 0;

    for (unsigned i = 0; i < tally->cpu_count; i++)
        encode_cpu(&tally->cpus[i], out);
    buffer_add_varint(out, tally->touched_count);
    for (uint32_t i = 0; i < tally->touched_count; i++)
        encode_thread(tally->touched[i], &tally->threads[tally->touched[i]], out);
    for (unsigned i = 0; i < tally->event_count; i++)
        types += tally->events[i] != 0;
    buffer_add_varint(out, types);
    for (unsigned i = 0; i < tally->event_count; i++)
        if (tally->events[i] != 0) {
            buffer_add_varint(out, i - previous);
            buffer_add_varint(out, tally->events[i]);
            previous = i;
        }
}

/* ---- reading ------------------------------------------------------------------------------------- */

static bool visit_cpu(struct node_visitor *visitor, struct buffer_reader *node, uint32_t rank)
{
    uint64_t ticks[CPU_KINDS], count;

    for (int kind = 0; kind < CPU_KINDS; kind++)
        ticks[kind] = buffer_get_varint(node);
    if (visitor->cpu != NULL && !node->failed)
        visitor->cpu(visitor, rank, ticks);
    count = buffer_get_varint(node);
    for (uint64_t i = 0; i < count && !node->failed; i++) {
        uint64_t thread = buffer_get_varint(node), ran = buffer_get_varint(node);

        if (thread >= NODE_THREADS_MAX)
            return false;
        if (visitor->ran != NULL && !node->failed)
            visitor->ran(visitor, rank, (uint32_t)thread, ran);
    }
    return !node->failed;
}

static bool visit_thread(struct node_visitor *visitor, struct buffer_reader *node)
{
    uint64_t number = buffer_get_varint(node), head = buffer_get_varint(node), ticks[NODE_KINDS];
    unsigned mask = (unsigned)(head >> 8), first = head >> 4 & 15, last = head & 15;

    for (unsigned kind = 0; kind < NODE_KINDS; kind++)
        ticks[kind] = mask >> kind & 1 ? buffer_get_varint(node) : 0;
    if (node->failed || number >= NODE_THREADS_MAX || first > NODE_ABSENT || last > NODE_ABSENT)
        return false;
    if (visitor->thread != NULL)
        visitor->thread(visitor, (uint32_t)number, (enum node_kind)first, (enum node_kind)last, ticks);
    return true;
}

static bool visit_events(struct node_visitor *visitor, struct buffer_reader *node, unsigned types)
{
    uint64_t count = buffer_get_varint(node), type = 0;

    for (uint64_t i = 0; i < count && !node->failed; i++) {
        uint64_t events;

        type += buffer_get_varint(node);
        events = buffer_get_varint(node);
        if (node->failed || type >= types)
            return false;
        visitor->events(visitor, (uint32_t)type, events);
    }
    return !node->failed;
}

bool node_visit(struct node_visitor *visitor, struct buffer_reader node, unsigned cpus, unsigned types)
{
    uint64_t threads;

    for (unsigned i = 0; i < cpus; i++)
        if (!visit_cpu(visitor, &node, i))
            return false;
    if (visitor->thread == NULL && visitor->events == NULL)
        return true;
    threads = buffer_get_varint(&node);
    for (uint64_t i = 0; i < threads; i++)
        if (!visit_thread(visitor, &node))
            return false;
    return visitor->events == NULL || visit_events(visitor, &node, types);
}
