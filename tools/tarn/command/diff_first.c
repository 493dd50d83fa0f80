/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * diff_first.c - `tarn diff --first A B`: finds the first event in which two traces of the same run differ.
 *
 * Compares the events of each CPU in order (read/lockstep.h). The first difference is the one with the
 * earliest time, so each CPU is compared only up to the earliest difference found so far.
 */
#include <stdlib.h>
#include <tools/tarn/command/diff_first.h>

static const struct stream *find_stream(const struct run *run, uint32_t cpu)
{
    for (unsigned i = 0; i < run->trace.stream_count; i++)
        if (run->trace.streams[i].cpu == cpu && (run->filter.streams == NULL || run->filter.streams[i]))
            return &run->trace.streams[i];
    return NULL;
}

static struct lockstep *find_pair(const struct diff_first *first, uint32_t cpu)
{
    for (unsigned i = 0; i < first->count; i++)
        if (first->pairs[i].cpu == cpu)
            return &first->pairs[i];
    return NULL;
}

static void add_pair(struct diff_first *first, uint32_t cpu)
{
    struct lockstep *pair = &first->pairs[first->count++];

    *pair = (struct lockstep){.cpu = cpu, .types = &first->types};
    for (unsigned side = 0; side < 2; side++)
        pair->sides[side] = (struct lockstep_side){.trace = &first->runs[side]->trace,
                                                   .filter = &first->runs[side]->filter,
                                                   .stream = find_stream(first->runs[side], cpu),
                                                   .only_order = first->diff->only_order};
}

static int by_cpu(const void *a, const void *b)
{
    const struct lockstep *one = a, *other = b;

    return (one->cpu > other->cpu) - (one->cpu < other->cpu);
}

static void add_pairs(struct diff_first *first)
{
    first->pairs = alloc_zero(first->runs[0]->trace.stream_count + first->runs[1]->trace.stream_count + 1,
                              sizeof(first->pairs[0]));
    for (unsigned side = 0; side < 2; side++) {
        const struct run *run = first->runs[side];

        for (unsigned i = 0; i < run->trace.stream_count; i++)
            if ((run->filter.streams == NULL || run->filter.streams[i]) && run->trace.streams[i].cpu != ~0u &&
                find_pair(first, run->trace.streams[i].cpu) == NULL)
                add_pair(first, run->trace.streams[i].cpu);
    }
    qsort(first->pairs, first->count, sizeof(first->pairs[0]), by_cpu);
}

static void walk_pairs(struct diff_first *first, struct diff *diff)
{
    struct reporter *const reporters[2] = {&diff->runs[0]->losses.reporter, &diff->runs[1]->losses.reporter};

    for (unsigned i = 0; i < first->count; i++) {
        struct lockstep *pair = &first->pairs[i];

        lockstep_walk(pair, first->differs != NULL ? first->differs->ticks : UINT64_MAX, reporters);
        first->alike += pair->alike;
        if (pair->difference != LOCKSTEP_ALIKE &&
            (first->differs == NULL || pair->ticks < first->differs->ticks))
            first->differs = pair;
    }
}

static int complain_of(const struct fail *fail, int status)
{
    complain("%s", fail->text);
    return status;
}

/* Opens both traces. Times refer to A for both: B may begin later. */
static int open_runs(struct diff *diff)
{
    struct filter *filters[2] = {&diff->runs[0]->filter, &diff->runs[1]->filter};
    struct fail fail;

    for (unsigned side = 0; side < 2; side++)
        if (!diff_open_run(diff, diff->runs[side], &fail))
            return complain_of(&fail, diff->runs[side]->is_missing ? EXIT_DAMAGE : EXIT_USAGE);
    filters[1]->from_ticks = filters[0]->from_ticks;
    filters[1]->to_ticks = filters[0]->to_ticks;
    return EXIT_OK;
}

static int find_and_show(struct diff *diff, struct diff_first *first)
{
    bool is_joint = false;
    struct fail fail;
    int status;

    add_pairs(first);
    walk_pairs(first, diff);
    for (unsigned i = 0; i < first->count; i++)
        is_joint |= first->pairs[i].is_joint;
    for (unsigned side = 0; side < 2; side++)
        diff_tell_losses(diff->runs[side], side == 0 ? "A" : "B");
    if (!is_joint) {
        complain("%s and %s have no packet in common, so they cannot be compared", diff->runs[0]->directory,
                 diff->runs[1]->directory);
        return EXIT_USAGE;
    }
    if (!diff_first_print(first, &fail))
        return complain_of(&fail, EXIT_USAGE);
    status = losses_status(&diff->runs[0]->losses);
    if (status == EXIT_OK)
        status = losses_status(&diff->runs[1]->losses);
    return first->differs != NULL ? EXIT_DAMAGE : status;
}

int diff_first(struct diff *diff)
{
    struct diff_first first = {.diff = diff, .runs = {diff->runs[0], diff->runs[1]}};
    int status = open_runs(diff);

    if (status != EXIT_OK)
        return status;
    lockstep_types_open(&first.types, &diff->runs[0]->trace.schema, &diff->runs[1]->trace.schema);
    status = find_and_show(diff, &first);
    for (unsigned i = 0; i < first.count; i++)
        lockstep_close(&first.pairs[i]);
    free(first.pairs);
    lockstep_types_close(&first.types);
    return status;
}
