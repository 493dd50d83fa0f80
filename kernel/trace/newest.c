/* SPDX-License-Identifier: BSD-2-Clause */
/* kernel/trace/newest.c - walks the newest packets in place. Interface: newest.h. */
#include <arch/trace.h>
#include <kernel/trace/control.h>
#include <kernel/trace/newest.h>

static bool begin_packet(uint32_t cpu, uint64_t number, struct trace_walk *walk)
{
    struct trace_reader reader = trace_reader_of(cpu);
    const struct trace_packet *packet = trace_packet_at(&reader, number);
    uint64_t index = __atomic_load_n(&trace_control_of(reader.ring)->index, __ATOMIC_ACQUIRE);
    const uint64_t used = trace_index_open_words(index, reader.eras.era[0].words);
    const uint64_t words = used && number == trace_eras_head(&reader.eras, index)
                               ? used
                               : trace_reader_bytes(&reader, number) / 8;
    if (packet->magic != TRACE_CTF_MAGIC || packet->packet_seq_num != number)
        return false;
    trace_walk_begin(walk, packet, words, arch_trace_clock());
    return true;
}

static bool next_packet(void *context, uint32_t cpu, struct trace_walk *walk)
{
    struct trace_newest *newest = context;
    while (newest->range[cpu].number <= newest->range[cpu].head)
        if (begin_packet(cpu, newest->range[cpu].number++, walk))
            return true;
    return false;
}

void trace_newest_again(struct trace_newest *newest)
{
    for (uint32_t cpu = 0; cpu < trace_info_page.cpu_count; cpu++)
        newest->range[cpu].number = newest->range[cpu].first;
    trace_merge_begin(&newest->merge, trace_info_page.cpu_count, next_packet, newest);
}

void trace_newest_begin(struct trace_newest *newest, uint64_t cpus, uint64_t packets)
{
    const struct trace_info *info = &trace_info_page;
    for (uint32_t cpu = 0; cpu < info->cpu_count; cpu++) {
        const struct trace_reader reader = trace_reader_of(cpu);
        const uint64_t index = trace_trusted_index(cpu), head = trace_eras_newest(&reader.eras, index);
        const uint64_t oldest = trace_eras_oldest(&reader.eras, index);
        newest->range[cpu].head = head;
        newest->range[cpu].first = !(cpus >> cpu & 1)            ? head + 1
                                   : head + 1 - oldest > packets ? head + 1 - packets
                                                                 : oldest;
    }
    trace_newest_again(newest);
}
