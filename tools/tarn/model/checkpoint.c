/*
 * checkpoint.c - saves and restores the model, and its long-lived facts in pieces; see model.h.
 *
 * Threads refer to each other by number. Besides the living threads, a checkpoint has the names of the few
 * ended ones that living ones refer to (as waker, as server). A piece has the processes, executables, and
 * names of processes, locks and interrupts that changed.
 */
#include <tools/tarn/model/model_parts.h>

#define NONE UINT32_MAX

struct saved_head {
    uint64_t now;
    uint32_t thread_count, nobody, live, ended, tells_sleep, reserved;
    /* the settings and the CPUs follow */
};

struct saved_cpu {
    struct model_cpu cpu; /* its pointer is not valid */
    uint32_t thread;
};

/* Of a living thread, followed by its frames; or the name of an ended one. */
struct saved_thread {
    /* thread numbers; serving and outer: the clients of those calls */
    uint32_t waker, server, outer, serving, is_calling;
    struct model_thread thread; /* only up to `call`, whose pointers are not valid */
};
#define SAVED_BYTES (offsetof(struct saved_thread, thread) + offsetof(struct model_thread, waker))

static uint32_t frames_kept(uint32_t depth)
{
    return depth < MODEL_DEPTH_MAX ? depth : MODEL_DEPTH_MAX;
}

/* ---- saving ---- */

static uint32_t number_of(const struct model_thread *thread)
{
    return thread != NULL ? thread->number : NONE;
}

/* Several threads may refer to it, so it may be saved more than once, which is harmless. */
static uint32_t save_name(const struct model_thread *thread, struct buffer *out)
{
    if (thread == NULL || thread->is_listed)
        return 0;
    buffer_add(out, &(struct saved_thread){.thread = *thread}, SAVED_BYTES);
    return 1;
}

static void save_thread(const struct model_thread *thread, struct buffer *out)
{
    const struct model_call *outer = thread->calling != NULL ? thread->call.outer : NULL;
    bool has_outer = outer != NULL && outer->client->calling == outer && outer->id == thread->call.outer_id;
    struct saved_thread saved = {.waker = number_of(thread->waker),
                                 .server = thread->calling != NULL ? number_of(thread->call.server) : NONE,
                                 .outer = has_outer ? outer->client->number : NONE,
                                 .serving = thread->serving != NULL ? thread->serving->client->number : NONE,
                                 .is_calling = thread->calling != NULL,
                                 .thread = *thread};
    saved.thread.call.client = saved.thread.call.server = NULL;
    saved.thread.call.outer = NULL;
    buffer_add(out, &saved, SAVED_BYTES);
    if (thread->depth != 0)
        buffer_add(out, thread->frames, frames_kept(thread->depth) * sizeof(thread->frames[0]));
}

/* The settings in the trace: of lock classes, and which events are sampled or not logged. */
static void settings_save(const struct model *model, struct buffer *out)
{
    uint32_t classes = MODEL_LOCK_CLASSES;
    while (classes > 0 && model->lock_classes[classes - 1].name[0] == '\0')
        classes--;
    buffer_add(out, &classes, sizeof(classes));
    buffer_add(out, model->lock_classes, classes * sizeof(model->lock_classes[0]));
    buffer_add(out, model->limits, model->trace->schema.event_count * sizeof(model->limits[0]));
    buffer_add(out, &model->sampling, sizeof(model->sampling));
}

static void settings_restore(struct model *model, struct buffer_reader *reader)
{
    uint32_t classes;
    memset(model->lock_classes, 0, sizeof(model->lock_classes));
    buffer_get(reader, &classes, sizeof(classes));
    buffer_get(reader, model->lock_classes, classes * sizeof(model->lock_classes[0]));
    buffer_get(reader, model->limits, model->trace->schema.event_count * sizeof(model->limits[0]));
    buffer_get(reader, &model->sampling, sizeof(model->sampling));
}

size_t model_save(const struct model *model, struct buffer *out)
{
    struct saved_head head = {.now = model->now,
                              .thread_count = model->thread_count,
                              .nobody = number_of(model->nobody),
                              .live = model->live_count,
                              .tells_sleep = model->tells_sleep};
    const struct model_thread *last = model->live;
    size_t start = out->used;
    buffer_add(out, &head, sizeof(head));
    settings_save(model, out);
    for (uint32_t i = 0; i < model->trace->stream_count; i++) {
        struct saved_cpu saved = {.cpu = model->cpus[i], .thread = number_of(model->cpus[i].thread)};
        saved.cpu.thread = NULL;
        buffer_add(out, &saved, sizeof(saved));
    }
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

/* It may be restored later. */
static struct model_thread *thread_of(struct model *model, uint32_t number)
{
    return number != NONE ? thread_record(model, number) : NULL;
}

static const struct model_call *call_of(struct model *model, uint32_t number)
{
    return number != NONE ? &thread_record(model, number)->call : NULL;
}

void model_restore_ended(struct model *model, const struct model_thread *ended)
{
    struct model_thread *thread = thread_record(model, ended->number);
    if (thread->is_listed)
        return; /* it had not ended yet */
    *(const struct model_thread **)map_at(&model->ended, ended->tid, 0, 0) = thread;
    if (thread->has_ended && thread->tid == ended->tid)
        return; /* the model already knows more */
    *thread = (struct model_thread){.number = ended->number, .state = MODEL_DEAD, .segment = UINT64_MAX};
    thread->tid = ended->tid;
    thread->pid = ended->pid;
    thread->cpu = ended->cpu;
    thread->prio = ended->prio;
    thread->has_ended = true;
    thread->begin = ended->begin;
    thread->end = ended->end;
    memcpy(thread->comm, ended->comm, sizeof(thread->comm));
}

static void restore_thread(struct model *model, const struct saved_thread *saved,
                           struct buffer_reader *reader)
{
    const struct model_thread *from = &saved->thread;
    struct model_thread *thread = thread_revive(model, from->number, from->tid, from->cpu);
    memcpy(thread, from, offsetof(struct model_thread, waker));
    process_count_living(model, thread->pid, 1);
    thread->call.client = thread;
    thread->calling = saved->is_calling ? &thread->call : NULL;
    thread->waker = thread_of(model, saved->waker);
    thread->call.server = thread_of(model, saved->server);
    thread->call.outer = call_of(model, saved->outer);
    thread->serving = call_of(model, saved->serving);
    if (thread->depth != 0) {
        activities_reserve(thread, MODEL_DEPTH_MAX);
        buffer_get(reader, thread->frames, frames_kept(thread->depth) * sizeof(thread->frames[0]));
    }
    activities_set_depth(thread, thread->depth);
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

void model_restore(struct model *model, const void *bytes, size_t size)
{
    struct buffer_reader reader = {.at = bytes, .left = size};
    const struct trace *trace = model->trace;
    struct saved_thread saved;
    struct saved_head head;
    struct saved_cpu cpu;
    forget_all(model);
    buffer_get(&reader, &head, sizeof(head));
    settings_restore(model, &reader);
    model->now = head.now;
    model->tells_sleep = head.tells_sleep;
    if (head.nobody != NONE) {
        model->thread_count = head.nobody;
        thread_nobody(model);
    }
    model->thread_count = head.thread_count;
    threads_reserve(model, head.thread_count); /* the last threads may have ended, and have no record */
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        buffer_get(&reader, &cpu, sizeof(cpu));
        model->cpus[i] = cpu.cpu;
        model->cpus[i].thread = thread_of(model, cpu.thread);
        model->dark_cpus += model->cpus[i].is_dark;
    }
    for (uint32_t i = 0; i < head.ended; i++) {
        buffer_get(&reader, &saved, SAVED_BYTES);
        model_restore_ended(model, &saved.thread);
    }
    for (uint32_t i = 0; i < head.live; i++) {
        buffer_get(&reader, &saved, SAVED_BYTES);
        restore_thread(model, &saved, &reader);
    }
    if (model->now < model->from)
        forget_counts(model);
}

/* ---- long-lived facts ---- */

enum { KNOWN_PROCESS = 1, KNOWN_NAME, KNOWN_EXECUTABLE, KNOWN_SETTINGS };

/* Followed by a text: the path of a process's executable, a name, the path of a mapped executable, or the
 * settings. Pointers are not valid. */
struct saved_known {
    uint32_t kind, text_bytes;
    bool has_text;
    union {
        struct model_process process;
        struct executable executable;
        struct {
            uint32_t pid;
            uint64_t thing;
        } name;
    };
};

static void save(struct buffer *out, struct saved_known saved, const void *text, size_t length)
{
    saved.text_bytes = (uint32_t)length;
    saved.has_text = text != NULL;
    buffer_add(out, &saved, sizeof(saved));
    if (text != NULL)
        buffer_add(out, text, length);
}

void model_save_snapshot(struct model *model, struct buffer *out)
{
    struct buffer settings = {0};
    for (size_t i = 0; i < model->processes.count; i++) {
        struct model_process *process = map_value(&model->processes, i), plain = *process;
        plain.path = NULL;
        if (process->is_changed && out != NULL)
            save(out, (struct saved_known){.kind = KNOWN_PROCESS, .process = plain}, process->path,
                 process->path != NULL ? strlen(process->path) : 0);
        process->is_changed = false;
    }
    for (size_t i = 0; i < model->names.table.count; i++) {
        struct known_name *name = map_value(&model->names.table, i);
        if (name->is_changed && out != NULL)
            save(out, (struct saved_known){.kind = KNOWN_NAME, .name = {name->pid, name->thing}}, name->name,
                 strlen(name->name));
        name->is_changed = false;
    }
    for (; model->executables.saved < model->executables.all.count; model->executables.saved++) {
        const struct executable *executable = map_value(&model->executables.all, model->executables.saved);
        struct executable plain = *executable;
        plain.path = NULL;
        plain.next = NULL;
        if (out != NULL)
            save(out, (struct saved_known){.kind = KNOWN_EXECUTABLE, .executable = plain}, executable->path,
                 strlen(executable->path));
    }
    if (model->has_news && out != NULL) {
        settings_save(model, &settings);
        save(out, (struct saved_known){.kind = KNOWN_SETTINGS}, settings.bytes, settings.used);
        free(settings.bytes);
    }
    model->has_news = false;
}

static void restore_one(struct model *model, const struct saved_known *saved, const char *text)
{
    struct model_process *process, was;
    switch (saved->kind) {
    case KNOWN_PROCESS:
        process = process_know(model, saved->process.pid);
        was = *process;
        *process = saved->process;
        process->living = was.living;
        process->path = saved->has_text ? arena_string(&model->arena, text, saved->text_bytes) : was.path;
        break;
    case KNOWN_NAME:
        names_set(&model->names, saved->name.pid, saved->name.thing, text, saved->text_bytes);
        break;
    case KNOWN_EXECUTABLE:
        executables_add(&model->executables, &saved->executable, text, saved->text_bytes);
        break;
    default: /* KNOWN_SETTINGS */
        settings_restore(model,
                         &(struct buffer_reader){.at = (const uint8_t *)text, .left = saved->text_bytes});
    }
}

void model_restore_snapshot(struct model *model, const void *bytes, size_t size, bool only_lock_names)
{
    struct buffer_reader reader = {.at = bytes, .left = size};
    struct saved_known saved;
    while (reader.left > 0) {
        buffer_get(&reader, &saved, sizeof(saved));
        if (!only_lock_names || (saved.kind == KNOWN_NAME && saved.name.thing != 0))
            restore_one(model, &saved, (const char *)reader.at);
        buffer_skip(&reader, saved.text_bytes);
    }
}
