/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/checkpoint.c - makes, chooses and ends checkpoints; see checkpoint.h. */
#include <tools/tarn/goto/checkpoint.h>
#include <tools/tarn/goto/checkpoint_list.h>
#include <tools/tarn/goto/checkpoint_process.h>
#include <tools/tarn/goto/child.h>
#include <tools/tarn/goto/clone.h>
#include <tools/tarn/goto/tracee.h>
#include <tools/tarn/source/source.h>
#include <trace/format/layout.h>
#include <unistd.h>

/* ---- limits ---- */

uint64_t checkpoints_bytes(const struct checkpoints *set)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < set->count; i++)
        bytes += process_bytes(set->all[i].pid);
    return bytes;
}

static void thin_out(struct checkpoints *set)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < set->count; i++)
        if (i % 2 == 1 || set->count == 1) /* keep the first: before it, the rings had to be found */
            process_kill(set->all[i].pid, set->all[i].born);
        else
            set->all[kept++] = set->all[i];
    set->count = kept;
    set->spacing *= 2;
}

/* To measure the checkpoints, the system walks their page tables, which takes seconds for many large guests.
 * So the next measurement waits ten times as long as this one took. */
static void keep_limit(struct checkpoints *set)
{
    double begin = now_seconds();

    if (begin < set->next_look)
        return;
    while (set->count > 0 && checkpoints_bytes(set) > set->bytes_most)
        thin_out(set);
    set->next_look = now_seconds() + 10 * (now_seconds() - begin);
}

bool checkpoints_open(struct checkpoints *set, const struct recipe *recipe, uint64_t bytes_most,
                      struct fail *fail)
{
    *set = (struct checkpoints){.bytes_most = bytes_most};
    checkpoint_list_name(set, recipe);
    if (bytes_most == 0)
        return true;
    int list = checkpoint_list_open(set, fail);
    if (list < 0) {
        set->bytes_most = 0;
        return false;
    }
    bool ok = checkpoint_list_read(set, list, fail);
    if (!ok)
        checkpoint_list_remove(set, list);
    unsigned before = set->count;
    keep_limit(set);
    if (set->count == 0)
        set->spacing = CHECKPOINT_FIRST_SPACING; /* an earlier journey may have had another limit */
    if (set->count != before)
        ok = checkpoint_list_write(set, list, fail) && ok;
    close(list);
    return ok;
}

/* ---- using them ---- */

bool checkpoint_passed(uint64_t index, uint64_t words)
{
    return trace_index_words(index) + (index >> 63) > words;
}

const struct checkpoint *checkpoints_find(const struct checkpoints *set, unsigned cpu, uint64_t words)
{
    const struct checkpoint *best = NULL;

    for (unsigned i = 0; i < set->count; i++) {
        const struct checkpoint *one = &set->all[i];
        if (cpu < one->cpus && !checkpoint_passed(one->index[cpu], words) &&
            (best == NULL || one->seconds > best->seconds))
            best = one;
    }
    return best;
}

bool checkpoint_visit(const struct checkpoint *checkpoint, struct freezer *copy, struct fail *fail)
{
    struct freezer process;
    bool not_now = false;

    *copy = (struct freezer){0};
    if (process_born(checkpoint->pid) != checkpoint->born)
        return fail_set(fail, "it has ended");
    bool is_open = freezer_open(&process, checkpoint->pid, fail);
    bool ok = is_open && process_wind_up(&process, checkpoint->timer, fail) &&
              clone_make(&process, copy, &not_now, fail);
    if (ok)
        process_offer_memory(copy->pid, false);
    if (is_open)
        process_leave(&process);
    else
        freezer_close(&process);
    return ok;
}

/* ---- making them ---- */

bool checkpoints_are_due(const struct checkpoints *set, double seconds)
{
    double last = 0;

    for (unsigned i = 0; i < set->count; i++)
        last = set->all[i].seconds > last ? set->all[i].seconds : last;
    return set->bytes_most > 0 && seconds >= last + set->spacing;
}

/* By seconds. */
static void insert(struct checkpoints *set, const struct checkpoint *checkpoint)
{
    unsigned at = set->count++;

    for (; at > 0 && set->all[at - 1].seconds > checkpoint->seconds; at--)
        set->all[at] = set->all[at - 1];
    set->all[at] = *checkpoint;
}

static void take_out(struct checkpoints *set, pid_t pid)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < set->count; i++)
        if (set->all[i].pid != pid)
            set->all[kept++] = set->all[i];
    set->count = kept;
}

/* Changes the list while tarn still traces the process: if tarn is killed meanwhile, both end. */
static bool enter(struct checkpoints *set, int list, const struct freezer *process,
                  const struct checkpoint *here, struct fail *fail)
{
    struct checkpoint checkpoint = *here;

    checkpoint.pid = process->pid;
    if (!process_set_free(process, list, &checkpoint.timer, fail) || !checkpoint_list_read(set, list, fail))
        return false;
    if (set->count == CHECKPOINTS_MAX)
        thin_out(set);
    checkpoint.born = process_born(checkpoint.pid);
    process_offer_memory(checkpoint.pid, true);
    insert(set, &checkpoint);
    keep_limit(set);
    return checkpoint_list_write(set, list, fail);
}

/* LIST: the locked directory. False: FAIL; no process is left. */
static bool add(struct checkpoints *set, int list, struct freezer *emulator, const struct checkpoint *here,
                struct fail *fail)
{
    struct freezer process;
    bool not_now;

    if (!clone_make(emulator, &process, &not_now, fail))
        return not_now;
    if (enter(set, list, &process, here, fail)) {
        process_leave(&process);
        return true;
    }
    tracee_end(process.pid);
    take_out(set, process.pid);
    return false;
}

void checkpoints_add(struct checkpoints *set, struct freezer *emulator, const struct checkpoint *here)
{
    struct fail fail;
    int list = checkpoint_list_open(set, &fail);
    bool ok = list >= 0 && add(set, list, emulator, here, &fail);

    if (list >= 0)
        close(list);
    if (ok)
        return;
    set->bytes_most = 0;
    if (!tracee_is_killed(emulator->pid) && !child_is_interrupted())
        complain("makes no more checkpoints: %s", fail.text);
}

void checkpoints_forget(struct checkpoints *set)
{
    struct fail fail;
    int list = access(set->path, F_OK) == 0 ? checkpoint_list_open(set, &fail) : -1;

    if (list < 0)
        return;
    if (checkpoint_list_read(set, list, &fail))
        for (unsigned i = 0; i < set->count; i++)
            process_kill(set->all[i].pid, set->all[i].born);
    set->count = 0;
    checkpoint_list_remove(set, list);
    close(list);
}
