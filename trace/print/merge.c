/* trace/print/merge.c - merges CPUs by time; see merge.h. Freestanding, no allocation. */
#include <trace/print/merge.h>

static void advance(struct trace_merge *merge, uint32_t cpu)
{
    struct trace_walk *walk = &merge->source[cpu].walk;
    const struct trace_header *event = walk->packet ? trace_walk_next(walk) : 0;
    while (!event && merge->next_packet(merge->context, cpu, walk))
        event = trace_walk_next(walk);
    merge->source[cpu].event = event;
}

void trace_merge_begin(struct trace_merge *merge, uint32_t cpu_count, trace_next_packet *next_packet,
                       void *context)
{
    merge->next_packet = next_packet;
    merge->context = context;
    merge->cpu_count = cpu_count;
    for (uint32_t cpu = 0; cpu < cpu_count; cpu++) {
        merge->source[cpu].walk.packet = 0;
        advance(merge, cpu);
    }
}

bool trace_merge_next(struct trace_merge *merge, struct trace_moment *moment)
{
    uint32_t best = merge->cpu_count;
    for (uint32_t cpu = 0; cpu < merge->cpu_count; cpu++)
        if (merge->source[cpu].event &&
            (best == merge->cpu_count || merge->source[cpu].walk.time < merge->source[best].walk.time))
            best = cpu;
    if (best == merge->cpu_count)
        return false;
    const struct trace_walk *walk = &merge->source[best].walk;
    const struct trace_header *event = merge->source[best].event;
    *moment = (struct trace_moment){
        .event = event,
        .words = walk->limit - (uint64_t)((const char *)event - walk->packet) / 8,
        .time = walk->time,
        .cpu = best,
    };
    advance(merge, best);
    return true;
}
