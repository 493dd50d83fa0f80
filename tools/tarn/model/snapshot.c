/*
 * snapshot.c - saves and restores the model's long-lived facts, in pieces; see model.h.
 *
 * These are processes, executables, and names of processes, locks and interrupts. A piece contains only those
 * that changed.
 */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/model/model_parts.h>

#define PATH_BYTES 4096u

enum { KNOWN_PROCESS = 1, KNOWN_NAME, KNOWN_EXECUTABLE, KNOWN_SETTINGS };

/* Followed by a text: the path of a process's executable, a name, the path of a mapped executable, or the
 * settings. The thing that has a name is in `begin`. */
struct saved_known {
    uint32_t kind, pid, text_bytes;
    uint32_t parent, threads;
    int32_t status;
    uint8_t was_created, has_ended, has_path, reserved[5];
    uint64_t begin, end; /* of a process; base and size of an executable */
    uint8_t build_id[16];
};

/* In both directions; a flag that is not 0 is true. */
#define COPY_PROCESS(to, from)                                                                      \
    ((to)->parent = (from)->parent, (to)->threads = (from)->threads, (to)->status = (from)->status, \
     (to)->was_created = (from)->was_created, (to)->has_ended = (from)->has_ended,                  \
     (to)->begin = (from)->begin, (to)->end = (from)->end)

static void save(struct buffer *out, struct saved_known *saved, const char *text)
{
    saved->text_bytes = text != NULL ? (uint32_t)strnlen(text, PATH_BYTES) : 0;
    saved->has_path = text != NULL;
    buffer_add(out, saved, sizeof(*saved));
    if (saved->text_bytes != 0)
        buffer_add(out, text, saved->text_bytes);
}

static void save_process(const struct model_process *process, struct buffer *out)
{
    struct saved_known saved = {.kind = KNOWN_PROCESS, .pid = process->pid};
    COPY_PROCESS(&saved, process);
    save(out, &saved, process->path);
}

static void save_executable(const struct executable *executable, struct buffer *out)
{
    struct saved_known saved = {
        .kind = KNOWN_EXECUTABLE, .pid = executable->pid, .begin = executable->base, .end = executable->size};
    memcpy(saved.build_id, executable->build_id, sizeof(saved.build_id));
    save(out, &saved, executable->path);
}

static void save_settings(const struct model *model, struct buffer *out)
{
    struct buffer settings = {0};
    struct saved_known saved = {.kind = KNOWN_SETTINGS};
    settings_save(model, &settings);
    saved.text_bytes = (uint32_t)settings.used;
    buffer_add(out, &saved, sizeof(saved));
    buffer_add(out, settings.bytes, settings.used);
    free(settings.bytes);
}

void model_save_snapshot(struct model *model, struct buffer *out)
{
    for (size_t i = 0; i < model->processes.count; i++) {
        struct model_process *process = map_value(&model->processes, i);
        if (!process->is_changed)
            continue;
        if (out != NULL)
            save_process(process, out);
        process->is_changed = false;
    }
    for (size_t i = 0; i < model->names.table.count; i++) {
        struct known_name *name = map_value(&model->names.table, i);
        struct saved_known saved = {.kind = KNOWN_NAME, .pid = name->pid, .begin = name->thing};
        if (name->is_changed && out != NULL)
            save(out, &saved, name->name);
        name->is_changed = false;
    }
    for (; model->executables.saved < model->executables.all.count; model->executables.saved++)
        if (out != NULL)
            save_executable(map_value(&model->executables.all, model->executables.saved), out);
    if (model->has_news && out != NULL)
        save_settings(model, out);
    model->has_news = false;
}

static void restore_process(struct model *model, const struct saved_known *saved, const char *text)
{
    struct model_process *process = process_know(model, saved->pid);
    COPY_PROCESS(process, saved);
    if (saved->has_path)
        process->path = arena_string(&model->arena, text, saved->text_bytes);
}

static void restore_one(struct model *model, const struct saved_known *saved, const char *text)
{
    struct executable executable = {.pid = saved->pid, .base = saved->begin, .size = saved->end};
    switch (saved->kind) {
    case KNOWN_PROCESS:
        restore_process(model, saved, text);
        break;
    case KNOWN_NAME:
        names_set(&model->names, saved->pid, saved->begin, text, saved->text_bytes);
        break;
    case KNOWN_EXECUTABLE:
        memcpy(executable.build_id, saved->build_id, sizeof(executable.build_id));
        executables_add(&model->executables, &executable, text, saved->text_bytes);
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
        if (!only_lock_names || (saved.kind == KNOWN_NAME && saved.begin != 0))
            restore_one(model, &saved, (const char *)reader.at);
        buffer_skip(&reader, saved.text_bytes);
    }
}
