/*
 * snapshot.c - saves and restores the model's long-lived facts, in pieces; see model.h.
 *
 * These are processes, executables, and names of processes, locks and interrupts. A piece contains only those
 * that changed.
 */
#include <tools/tarn/model/model_parts.h>

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

static void save(struct buffer *out, struct saved_known saved, const char *text)
{
    saved.text_bytes = text != NULL ? (uint32_t)strlen(text) : 0;
    saved.has_text = text != NULL;
    buffer_add(out, &saved, sizeof(saved));
    if (text != NULL)
        buffer_add(out, text, saved.text_bytes);
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
        struct model_process *process = map_value(&model->processes, i), plain = *process;
        plain.path = NULL;
        if (process->is_changed && out != NULL)
            save(out, (struct saved_known){.kind = KNOWN_PROCESS, .process = plain}, process->path);
        process->is_changed = false;
    }
    for (size_t i = 0; i < model->names.table.count; i++) {
        struct known_name *name = map_value(&model->names.table, i);
        if (name->is_changed && out != NULL)
            save(out, (struct saved_known){.kind = KNOWN_NAME, .name = {name->pid, name->thing}}, name->name);
        name->is_changed = false;
    }
    for (; model->executables.saved < model->executables.all.count; model->executables.saved++) {
        const struct executable *executable = map_value(&model->executables.all, model->executables.saved);
        struct executable plain = *executable;
        plain.path = NULL;
        plain.next = NULL;
        if (out != NULL)
            save(out, (struct saved_known){.kind = KNOWN_EXECUTABLE, .executable = plain}, executable->path);
    }
    if (model->has_news && out != NULL)
        save_settings(model, out);
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
