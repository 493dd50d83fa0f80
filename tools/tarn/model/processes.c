/* SPDX-License-Identifier: BSD-2-Clause */
/* processes.c - what is known of processes; see model.h. */
#include <stdlib.h>
#include <tools/tarn/model/model_parts.h>

/* Returns PID's place, or a free one. */
static struct model_process **find_place(const struct model *model, uint32_t pid)
{
    for (uint32_t at = pid * 2654435761u >> 7;; at++) {
        struct model_process **place = &model->processes[at & (model->process_room - 1)];

        if (*place == NULL || (*place)->pid == pid)
            return place;
    }
}

static void grow(struct model *model)
{
    struct model_process **old = model->processes;
    uint32_t old_room = model->process_room;

    model->process_room = old_room == 0 ? 64 : 2 * old_room;
    model->processes = alloc_zero(model->process_room, sizeof(model->processes[0]));
    for (uint32_t i = 0; i < old_room; i++)
        if (old[i] != NULL)
            *find_place(model, old[i]->pid) = old[i];
    free(old);
}

static struct model_process *find_or_make(struct model *model, uint32_t pid)
{
    struct model_process **place;

    if (model->process_count * 2 >= model->process_room)
        grow(model);
    place = find_place(model, pid);
    if (*place == NULL) {
        if (model->process_count == MODEL_PROCESSES_MAX)
            return NULL;
        *place = arena_alloc(&model->arena, sizeof(**place));
        (*place)->pid = pid;
        (*place)->parent = MODEL_NOBODY;
        (*place)->begin = model->now;
        (*place)->is_changed = true;
        model->process_count++;
    }
    return *place;
}

struct model_process *process_know(struct model *model, uint32_t pid)
{
    struct model_process *process = find_or_make(model, pid);

    if (process != NULL)
        process->is_changed = true;
    return process;
}

void process_count_living(struct model *model, uint32_t pid, int more)
{
    struct model_process *process = pid != MODEL_NOBODY ? find_or_make(model, pid) : NULL;

    if (process != NULL)
        process->living += (uint32_t)more;
}

const struct model_process *model_process(const struct model *model, uint32_t pid)
{
    return model->process_room != 0 ? *find_place(model, pid) : NULL;
}

void processes_close(struct model *model)
{
    free(model->processes);
}
