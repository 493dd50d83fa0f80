/* trace_rings.c - reads the rings; see trace_rings.h. For the rules see trace/ring/read.c. */
#include <stdlib.h>
#include <tarn/abi.h>

#include <arch/trace.h>
#include <user/bin/trace_rings.h>

struct trace_reader ring_of(uint32_t cpu)
{
    const char *ring = (const char *)(USER_TRACE_RINGS + ((uint64_t)cpu << TRACE_RING_SHIFT));
    return trace_reader_open(arch_trace_info(), ring, cpu, 0);
}

bool copy_packet(const struct trace_reader *ring, uint64_t number, void *copy, struct ring_findings *findings)
{
    enum trace_packet_state state = trace_packet_copy(ring, number, copy);
    if (state == TRACE_PACKET_OPEN && trace_packet_snapshot(ring, copy))
        return findings->packets++, true;
    if (state == TRACE_PACKET_OPEN) /* it was closed just now, or is empty */
        state = trace_packet_copy(ring, number, copy);
    if (state == TRACE_PACKET_INCOMPLETE) /* a program has written over it */
        state = trace_packet_cut(ring, number, copy) ? TRACE_PACKET_WHOLE : TRACE_PACKET_GONE;
    findings->packets += state == TRACE_PACKET_WHOLE;
    findings->lost += state == TRACE_PACKET_GONE;
    findings->cut += state == TRACE_PACKET_WHOLE && ((struct trace_packet *)copy)->flags & TRACE_PACKET_CUT;
    return state == TRACE_PACKET_WHOLE;
}

void walk_packet(struct trace_walk *walk, const void *copy)
{
    const struct trace_packet *packet = copy;
    trace_walk_begin(walk, packet, packet->content_size / 64, packet->timestamp_end);
}

bool visit_rings(visit_event *visit, void *context, struct ring_findings *findings)
{
    const struct trace_info *info = arch_trace_info();
    const uint32_t generation = info->generation;
    *findings = (struct ring_findings){0};
    void *copy = malloc(TRACE_BUFFER_BYTES_MAX); /* for any geometry */
    if (!copy)
        return false;
    for (uint32_t cpu = 0; cpu < info->cpu_count; cpu++) {
        struct trace_reader ring = ring_of(cpu);
        const uint64_t head = trace_reader_head(&ring); /* later events are not read */
        for (uint64_t number = trace_reader_tail(&ring); number <= head; number++) {
            struct trace_walk walk;
            const struct trace_header *event;
            findings->restarted = __atomic_load_n(&info->generation, __ATOMIC_ACQUIRE) != generation;
            if (findings->restarted)
                break;
            if (!copy_packet(&ring, number, copy, findings))
                continue;
            for (walk_packet(&walk, copy); (event = trace_walk_next(&walk));)
                visit(context, cpu, event, walk.time);
        }
    }
    free(copy);
    return true;
}
