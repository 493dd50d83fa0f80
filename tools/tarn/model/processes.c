/* SPDX-License-Identifier: BSD-2-Clause */
/* processes.c - the table of processes; see model.h. */
#include <tools/tarn/model/model_parts.h>

static struct model_process *find_or_make(struct model *model, uint32_t pid)
{
    bool is_new;
    struct model_process *process = map_add(&model->processes, pid, 0, 0, &is_new);

    if (is_new)
        *process = (struct model_process){
            .pid = pid, .parent = MODEL_NOBODY, .begin = model->now, .is_changed = true};
    return process;
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
    return map_find(&model->processes, pid, 0, 0);
}
