/* SPDX-License-Identifier: BSD-2-Clause */
/* interval.c - consecutive intervals of a trace; see interval.h. */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/model/walk.h>
#include <tools/tarn/top/interval.h>

void intervals_open(struct intervals *intervals, const struct trace *trace)
{
    *intervals = (struct intervals){.trace = trace, .from = trace->begin};
    intervals->positions = alloc_zero(trace->stream_count + 1, sizeof(intervals->positions[0]));
    names_open(&intervals->names, &trace->schema);
}

void intervals_close(struct intervals *intervals)
{
    names_close(&intervals->names);
    free(intervals->positions);
    free(intervals->model.bytes);
}

static void go_on(struct intervals *intervals, struct model *model, struct merge *merge,
                  struct reporter *reporter)
{
    if (!intervals->has_begun) {
        merge_open(merge, intervals->trace, NULL, 0, reporter);
        return;
    }
    merge_open_at(merge, intervals->trace, intervals->positions, reporter);
    names_copy(&model->names, &intervals->names); /* the saved model has none */
    model_restore(model, intervals->model.bytes, intervals->model.used);
}

static void keep(struct intervals *intervals, const struct model *model, const struct merge *merge)
{
    intervals->model.used = 0;
    model_save(model, &intervals->model);
    merge_save(merge, intervals->positions);
    names_copy(&intervals->names, &model->names);
    intervals->has_begun = true;
}

bool intervals_ask(struct intervals *intervals, uint64_t to, struct analysis **analyses, unsigned count,
                   struct filter *filter, struct reporter *reporter, struct fail *fail)
{
    struct model model;
    struct merge merge;
    bool ok;

    filter->from_ticks = intervals->from;
    filter->to_ticks = to;
    model_open(&model, intervals->trace, intervals->from, to);
    go_on(intervals, &model, &merge, reporter);
    ok = analyses_open(analyses, count, &model, filter, NULL, fail);
    if (ok) {
        model_walk(&model, &merge);
        keep(intervals, &model, &merge);
        model_finish_range(&model, &merge);
        analyses_finish(analyses, count);
        intervals->from = to;
    }
    merge_close(&merge);
    model_close(&model);
    return ok;
}
