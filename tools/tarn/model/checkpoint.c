/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * checkpoint.c - saves and restores the model; see model.h.
 *
 * Threads refer to each other by number. Besides the living threads, a checkpoint has the names of the few
 * ended ones that living ones refer to (as waker, as server). The data may be damaged: every field is
 * validated when read.
 */
#include <tools/tarn/model/model_parts.h>

#define NONE UINT32_MAX

struct saved_head {
    uint64_t now;
    uint32_t cpus, thread_count, nobody, live, ended;
    uint32_t lock_classes; /* the number of them that follow; then a struct model_limit for each event type,
                              the CPUs */
    uint32_t tells_sleep, event_types;
};

struct saved_cpu {
    uint32_t thread, is_lost, expired_tid, exception_action;
    uint64_t is_dark, in_timer, since, last, packet_end, busy, boot, idle, lost, switches, drained;
};

struct saved_name { /* of an ended thread */
    uint32_t number, tid, pid, cpu;
    char comm[TRACE_NAME_BYTES];
};

struct saved_thread { /* followed by its frames */
    uint32_t number, tid, pid, cpu, prio, state, depth;
    /* thread numbers; serving and outer: the clients of those calls */
    uint32_t waker, server, outer, serving;
    uint8_t has_run, was_created, is_stack_known, has_pending_wakeup, is_calling, is_asleep, is_booting,
        is_sleep_guessed;
    uint64_t drains; /* bit 0: the thread; bit 1: its call is the drain's */
    char comm[TRACE_NAME_BYTES];
    uint64_t begin, since, segment, woken, ran, switches, migrations;
    struct model_call call; /* its pointers are not valid */
};

/* The fields that are copied unchanged, in both directions; a flag that is not 0 is true. */
#define COPY_CPU(to, from)                                                                           \
    ((to)->is_lost = (from)->is_lost, (to)->is_dark = (from)->is_dark != 0,                          \
     (to)->expired_tid = (from)->expired_tid, (to)->exception_action = (from)->exception_action,     \
     (to)->in_timer = (from)->in_timer != 0, (to)->since = (from)->since, (to)->last = (from)->last, \
     (to)->packet_end = (from)->packet_end, (to)->busy = (from)->busy, (to)->idle = (from)->idle,    \
     (to)->boot = (from)->boot, (to)->lost = (from)->lost, (to)->switches = (from)->switches,        \
     (to)->drained = (from)->drained)
#define COPY_NAME(to, from)                                                           \
    ((to)->number = (from)->number, (to)->tid = (from)->tid, (to)->pid = (from)->pid, \
     (to)->cpu = (from)->cpu, memcpy((to)->comm, (from)->comm, TRACE_NAME_BYTES))
#define COPY_THREAD(to, from)                                                                           \
    ((to)->prio = (from)->prio, (to)->state = (from)->state, (to)->has_run = (from)->has_run,           \
     (to)->was_created = (from)->was_created, (to)->is_stack_known = (from)->is_stack_known,            \
     (to)->is_asleep = (from)->is_asleep, (to)->is_booting = (from)->is_booting,                        \
     (to)->is_sleep_guessed = (from)->is_sleep_guessed,                                                 \
     (to)->has_pending_wakeup = (from)->has_pending_wakeup, (to)->begin = (from)->begin,                \
     (to)->since = (from)->since, (to)->segment = (from)->segment, (to)->woken = (from)->woken,         \
     (to)->ran = (from)->ran, (to)->switches = (from)->switches, (to)->migrations = (from)->migrations, \
     (to)->call = (from)->call)

static uint32_t frames_kept(uint32_t depth)
{
    return depth < MODEL_DEPTH_MAX ? depth : MODEL_DEPTH_MAX;
}

/* ---- saving ---- */

static uint32_t number_of(const struct model_thread *thread)
{
    return thread != NULL ? thread->number : NONE;
}

static void save_cpu(const struct model_cpu *cpu, struct buffer *out)
{
    struct saved_cpu saved = {.thread = number_of(cpu->thread)};

    COPY_CPU(&saved, cpu);
    buffer_add(out, &saved, sizeof(saved));
}

/* Several threads may refer to it, so it may be saved more than once, which is harmless. */
static uint32_t save_name(const struct model_thread *thread, struct buffer *out)
{
    struct saved_name saved;

    if (thread == NULL || thread->is_listed)
        return 0;
    COPY_NAME(&saved, thread);
    buffer_add(out, &saved, sizeof(saved));
    return 1;
}

static void save_thread(const struct model_thread *thread, struct buffer *out)
{
    const struct model_call *outer = thread->call.outer;
    struct saved_thread saved;

    memset(&saved, 0, sizeof(saved));
    COPY_NAME(&saved, thread);
    COPY_THREAD(&saved, thread);
    saved.depth = thread->depth;
    saved.waker = number_of(thread->waker);
    saved.server = thread->calling != NULL ? number_of(thread->call.server) : NONE;
    saved.outer = thread->calling != NULL && outer != NULL && outer->client->calling == outer &&
                          outer->id == thread->call.outer_id
                      ? outer->client->number
                      : NONE;
    saved.serving = thread->serving != NULL ? thread->serving->client->number : NONE;
    saved.is_calling = thread->calling != NULL;
    saved.drains = thread->drains | (uint64_t)thread->call.is_drain << 1;
    saved.call.is_drain = false;
    saved.call.client = saved.call.server = NULL;
    saved.call.outer = NULL;
    buffer_add(out, &saved, sizeof(saved));
    if (thread->depth != 0)
        buffer_add(out, thread->frames, frames_kept(thread->depth) * sizeof(thread->frames[0]));
}

static uint32_t count_lock_classes(const struct model *model)
{
    uint32_t count = MODEL_LOCK_CLASSES;

    while (count > 0 && model->lock_classes[count - 1].name[0] == '\0')
        count--;
    return count;
}

size_t model_save(const struct model *model, struct buffer *out)
{
    struct saved_head head = {.now = model->now,
                              .cpus = model->trace->stream_count,
                              .thread_count = model->thread_count,
                              .nobody = number_of(model->nobody),
                              .live = model->live_count,
                              .lock_classes = count_lock_classes(model),
                              .tells_sleep = model->tells_sleep,
                              .event_types = model->trace->schema.event_count};
    const struct model_thread *last = model->live;
    size_t start = out->used;

    buffer_add(out, &head, sizeof(head));
    buffer_add(out, model->lock_classes, head.lock_classes * sizeof(model->lock_classes[0]));
    buffer_add(out, model->limits, head.event_types * sizeof(model->limits[0]));
    for (uint32_t i = 0; i < head.cpus; i++)
        save_cpu(&model->cpus[i], out);
    for (const struct model_thread *thread = model->live; thread != NULL; thread = thread->next) {
        head.ended += save_name(thread->waker, out);
        head.ended += save_name(thread->calling != NULL ? thread->call.server : NULL, out);
        last = thread;
    }
    memcpy(out->bytes + start, &head, sizeof(head));
    /* Backwards, because restoring a thread puts it at the front of the list. */
    for (const struct model_thread *thread = last; thread != NULL; thread = thread->previous)
        save_thread(thread, out);
    return out->used - start;
}

/* ---- restoring ---- */

static bool is_number(const struct model *model, uint32_t number)
{
    return number == NONE || (number < model->thread_count && model->threads[number] != NULL);
}

static struct model_thread *thread_of(const struct model *model, uint32_t number)
{
    return number != NONE ? model->threads[number] : NULL;
}

static bool restore_cpu(struct model *model, struct model_cpu *cpu, const struct saved_cpu *saved)
{
    if (!is_number(model, saved->thread))
        return false;
    *cpu = (struct model_cpu){.thread = thread_of(model, saved->thread)};
    COPY_CPU(cpu, saved);
    return true;
}

static bool restore_name(struct model *model, const struct saved_name *saved)
{
    struct model_thread *thread;

    if (saved->number >= model->thread_count)
        return false;
    thread = thread_record(model, saved->number);
    if (thread == model->nobody)
        return false;
    if (thread->has_ended && thread->tid == saved->tid)
        return true; /* the model already knows more */
    memset(thread, 0, sizeof(*thread));
    COPY_NAME(thread, saved);
    thread->has_ended = true;
    thread->state = MODEL_DEAD;
    thread->segment = UINT64_MAX;
    return true;
}

/* Any byte may stand there. */
static void clean_flag(bool *flag)
{
    uint8_t byte;

    memcpy(&byte, flag, sizeof(byte));
    *flag = byte & 1;
}

static bool restore_frames(struct model_thread *thread, uint32_t depth, struct buffer_reader *reader)
{
    uint32_t kept = frames_kept(depth);

    if (kept != 0) {
        activities_reserve(thread, MODEL_DEPTH_MAX);
        buffer_get(reader, thread->frames, kept * sizeof(thread->frames[0]));
    }
    for (uint32_t i = 0; i < kept; i++) {
        if (thread->frames[i].kind >= ACTIVITIES)
            return false;
        clean_flag(&thread->frames[i].is_cut);
        clean_flag(&thread->frames[i].is_implied);
        clean_flag(&thread->frames[i].is_drain);
    }
    activities_set_depth(thread, depth);
    return true;
}

static bool restore_thread(struct model *model, const struct saved_thread *saved,
                           struct buffer_reader *reader)
{
    struct model_thread *thread;

    if (saved->number >= model->thread_count || saved->cpu >= model->trace->stream_count ||
        saved->state >= MODEL_STATES || thread_find(model, saved->tid, saved->cpu) != NULL)
        return false;
    thread = thread_record(model, saved->number);
    if (thread == model->nobody || thread->is_listed)
        return false;
    thread = thread_revive(model, saved->number, saved->tid, saved->cpu);
    COPY_NAME(thread, saved);
    COPY_THREAD(thread, saved);
    process_count_living(model, saved->pid, 1);
    thread->call.client = thread;
    thread->drains = saved->drains & 1;
    thread->call.is_drain = saved->drains >> 1 & 1;
    return restore_frames(thread, saved->depth, reader) && !reader->failed;
}

static bool is_calling(const struct model *model, uint32_t number)
{
    return number == NONE || (is_number(model, number) && model->threads[number]->calling != NULL);
}

/* Sets the references to other threads, once all are restored. */
static bool connect_thread(struct model *model, const struct saved_thread *saved)
{
    struct model_thread *thread = model->threads[saved->number];

    if (!is_number(model, saved->waker) || !is_number(model, saved->server) ||
        !is_calling(model, saved->serving) || !is_calling(model, saved->outer))
        return false;
    thread->waker = thread_of(model, saved->waker);
    thread->call.server = thread_of(model, saved->server);
    thread->call.outer = saved->outer != NONE ? &model->threads[saved->outer]->call : NULL;
    set_serving(thread, saved->serving != NONE ? &model->threads[saved->serving]->call : NULL);
    return true;
}

static void skip_frames(struct buffer_reader *reader, uint32_t depth)
{
    buffer_skip(reader, frames_kept(depth) * sizeof(struct model_frame)); /* restored before */
}

static bool restore_threads(struct model *model, const struct saved_head *head, struct buffer_reader *reader)
{
    struct buffer_reader again;
    struct saved_thread saved;
    struct saved_name name;

    for (uint32_t i = 0; i < head->ended; i++) {
        buffer_get(reader, &name, sizeof(name));
        if (reader->failed || !restore_name(model, &name))
            return false;
    }
    again = *reader;
    for (uint32_t i = 0; i < head->live; i++) {
        buffer_get(reader, &saved, sizeof(saved));
        if (reader->failed || !restore_thread(model, &saved, reader))
            return false;
        if (saved.is_calling)
            model->threads[saved.number]->calling = &model->threads[saved.number]->call;
    }
    for (uint32_t i = 0; i < head->live; i++) {
        buffer_get(&again, &saved, sizeof(saved));
        skip_frames(&again, saved.depth);
        if (!connect_thread(model, &saved))
            return false;
    }
    return reader->left == 0;
}

static void forget_all(struct model *model)
{
    while (model->live != NULL)
        thread_forget(model, model->live);
    memset(model->cpus, 0, model->trace->stream_count * sizeof(model->cpus[0]));
    model->dark_cpus = model->trace->missing_count;
    model->nobody = NULL;
    model->thread_count = 0;
}

static bool restore_lock_classes(struct model *model, uint32_t count, struct buffer_reader *reader)
{
    if (count > MODEL_LOCK_CLASSES)
        return false;
    memset(model->lock_classes, 0, sizeof(model->lock_classes));
    buffer_get(reader, model->lock_classes, count * sizeof(model->lock_classes[0]));
    for (uint32_t i = 0; i < count; i++)
        model->lock_classes[i].name[sizeof(model->lock_classes[i].name) - 1] = '\0';
    return !reader->failed;
}

static bool restore_limits(struct model *model, uint32_t types, struct buffer_reader *reader)
{
    if (types != model->trace->schema.event_count)
        return false;
    buffer_get(reader, model->limits, types * sizeof(model->limits[0]));
    return !reader->failed;
}

/* Resets the counts, as if the model had taken all earlier events outside its range. */
static void forget_counts(struct model *model)
{
    for (unsigned i = 0; i < model->trace->stream_count; i++) {
        struct model_cpu *cpu = &model->cpus[i];

        cpu->busy = cpu->boot = cpu->idle = cpu->lost = cpu->switches = cpu->drained = 0;
    }
    for (struct model_thread *thread = model->live; thread != NULL; thread = thread->next) {
        thread->ran = 0;
        for (uint32_t i = 0; i < frames_kept(thread->depth); i++)
            thread->frames[i].ran = thread->frames[i].inner = thread->frames[i].interrupts =
                thread->frames[i].uncounted = 0;
    }
    if (model->nobody != NULL)
        model->nobody->ran = 0;
}

bool model_restore(struct model *model, const void *bytes, size_t size, struct fail *fail)
{
    struct buffer_reader reader = {.at = bytes, .left = size}, cpus;
    struct saved_head head;
    struct saved_cpu cpu;
    bool ok;

    forget_all(model);
    buffer_get(&reader, &head, sizeof(head));
    ok = !reader.failed && head.cpus == model->trace->stream_count &&
         head.thread_count <= MODEL_THREADS_MAX + head.cpus + 1 &&
         (head.nobody == NONE || head.nobody < head.thread_count) &&
         restore_lock_classes(model, head.lock_classes, &reader) &&
         restore_limits(model, head.event_types, &reader) && reader.left / sizeof(cpu) >= head.cpus;
    if (!ok)
        return fail_set(fail, "a checkpoint of the model is damaged");
    model->now = head.now;
    model->tells_sleep = head.tells_sleep;
    if (head.nobody != NONE) {
        model->thread_count = head.nobody;
        thread_nobody(model);
    }
    model->thread_count = head.thread_count;
    threads_reserve(model, head.thread_count); /* the last threads may have ended, and have no record */
    cpus = reader;
    buffer_skip(&reader, head.cpus * sizeof(cpu));
    ok = restore_threads(model, &head, &reader);
    for (uint32_t i = 0; ok && i < head.cpus; i++) {
        buffer_get(&cpus, &cpu, sizeof(cpu));
        ok = restore_cpu(model, &model->cpus[i], &cpu);
        model->dark_cpus += model->cpus[i].is_dark;
    }
    if (!ok)
        return fail_set(fail, "a checkpoint of the model is damaged");
    if (model->now < model->from)
        forget_counts(model);
    return true;
}
