/* walk.c - a range of time; see walk.h. */
#include <tools/tarn/model/model_parts.h>
#include <tools/tarn/model/walk.h>

#define STEPS_BEFORE_STOP 65536u /* events between calls of GOES_ON: a few milliseconds */

void model_walk(struct model *model, struct merge *merge)
{
    struct cursor *cursor = merge_next(merge);
    walk_begin(model, merge);
    while (cursor != NULL && cursor->ticks < model->to)
        cursor = model_apply_next(model, merge, cursor);
}

bool model_walk_range(struct model *model, struct merge *merge, bool (*goes_on)(void *owner), void *owner)
{
    struct cursor *cursor = merge_next(merge);
    uint64_t steps = 0;
    model_begin_range(model);
    walk_begin(model, merge);
    for (; cursor != NULL && cursor->ticks < model->to; cursor = model_apply_next(model, merge, cursor))
        if (steps++ % STEPS_BEFORE_STOP == 0 && goes_on != NULL && !goes_on(owner))
            return false;
    model_finish_range(model, merge);
    return true;
}

/* Whether there is a gap before the next event, or until the stream's end. */
static bool comes_after_gap(const struct cursor *cursor, const struct model_cpu *cpu)
{
    return (cursor->at != NULL || cursor_lost_until(cursor) != 0) && cursor->has_gap &&
           cpu->packet_end != cursor->packet.header.timestamp_end;
}

/* Whether the stream ends before the trace does, so that events are missing behind it. */
static bool ends_early(const struct cursor *cursor)
{
    return cursor->at == NULL && (cursor->has_gap || cursor->is_broken || cursor->trace->ends_early ||
                                  stream_lacks_tail(cursor->stream));
}

void walk_look_ahead(struct model *model, const struct cursor *cursor)
{
    struct model_cpu *cpu = &model->cpus[cursor->rank];
    if (!cpu->is_dark && (comes_after_gap(cursor, cpu) || ends_early(cursor)))
        darken_processor(model, cpu, known_until(cpu, cursor));
}

void walk_begin(struct model *model, const struct merge *merge)
{
    for (unsigned i = 0; i < merge->trace->stream_count; i++)
        walk_look_ahead(model, &merge->cursors[i]);
}

uint64_t walk_limit(const struct merge *merge, const struct model *model, uint32_t rank, uint64_t end)
{
    const struct cursor *cursor = &merge->cursors[rank];
    const struct model_cpu *cpu = &model->cpus[rank];
    bool is_dark = cursor->at == NULL || comes_after_gap(cursor, cpu);
    return is_dark && known_until(cpu, cursor) < end ? known_until(cpu, cursor) : end;
}

/* After a gap, the time since the last known event is lost, up to TO or the end of the gap, and the threads
 * that may have run there become unknown, as when the next packet comes. */
static void finish_processor(struct model *model, struct model_cpu *cpu, const struct cursor *cursor,
                             uint64_t limit)
{
    uint64_t known = known_until(cpu, cursor), until = cursor_lost_until(cursor);
    if (cpu->thread != NULL && limit < model->to && comes_after_gap(cursor, cpu)) {
        lose_processor(model, cpu, known);
        forget_states(model, cpu, known);
        cpu->packet_end = until != 0 && until < model->to ? until : model->to;
    } else if (cpu->thread == NULL && cursor->at != NULL &&
               cursor->packet.header.timestamp_begin < model->to) {
        begin_packet(model, cpu, cursor); /* its packet has begun, but has no event yet */
    } else if (cpu->packet_end < limit) {
        cpu->packet_end = limit;
    }
}

void model_finish_range(struct model *model, const struct merge *merge)
{
    if (model->to != UINT64_MAX)
        model->now = model->to;
    for (unsigned i = 0; i < merge->trace->stream_count; i++)
        finish_processor(model, &model->cpus[i], &merge->cursors[i], walk_limit(merge, model, i, model->to));
    model_finish(model);
}
