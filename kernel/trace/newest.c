/* kernel/trace/newest.c - walks the newest packets in place, and prints the last events for panics. */
#include <arch/trace.h>
#include <kernel/trace/control.h>
#include <trace/print/app_schema.h>
#include <trace/print/print.h>

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

static void walk_again(struct trace_newest *newest)
{
    for (uint32_t cpu = 0; cpu < trace_info_page.cpu_count; cpu++)
        newest->range[cpu].number = newest->range[cpu].first;
    trace_merge_begin(&newest->merge, trace_info_page.cpu_count, next_packet, newest);
}

static void begin_walk(struct trace_newest *newest, uint64_t cpus, uint64_t packets)
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
    walk_again(newest);
}

static bool next_event(struct trace_newest *newest, trace_event_filter *filter, struct trace_moment *moment,
                       const struct trace_event_info **info)
{
    while (trace_merge_next(&newest->merge, moment)) {
        *info = trace_find_event(trace_app_schemas(), moment->event->id);
        if (!filter || filter(moment, *info))
            return true;
    }
    return false;
}

uint64_t trace_newest_count(struct trace_newest *newest, uint64_t cpus, uint64_t packets,
                            trace_event_filter *filter)
{
    struct trace_moment moment;
    const struct trace_event_info *info;
    uint64_t total = 0;
    for (begin_walk(newest, cpus, packets); next_event(newest, filter, &moment, &info);)
        total++;
    return total;
}

void trace_newest_print(struct trace_newest *newest, uint64_t first, uint64_t end, trace_event_filter *filter,
                        trace_print_line *print)
{
    char line[200];
    struct trace_moment moment;
    const struct trace_event_info *info;
    walk_again(newest);
    for (uint64_t at = 0; at < end && next_event(newest, filter, &moment, &info); at++) {
        if (at < first)
            continue;
        trace_print_moment(line, sizeof(line), &moment, trace_info_page.clock_hz, info);
        print("%s\n", line);
    }
}

/* ---- for a report --------------------------------------------------------------------------------- */

#define PACKETS_BACK 3 /* per CPU: the open one and those before it */

void trace_dump_newest(uint64_t cpus, uint32_t count, trace_print_line *print)
{
    static struct trace_newest newest; /* too large for a stack */
    const uint64_t total = trace_newest_count(&newest, cpus, PACKETS_BACK, NULL);
    const unsigned shown = (unsigned)(total < count ? total : count);
    if (cpus & (cpus - 1))
        print("trace: the last %u of %lu events in the newest packets\n", shown, total);
    else
        print("trace: the last %u of cpu %d's %lu events in the newest packets\n", shown,
              __builtin_ctzll(cpus), total);
    trace_newest_print(&newest, total - shown, total, NULL, print);
}

void trace_stop(void)
{
    __atomic_store_n(&trace_info_page.mask, 0, __ATOMIC_RELAXED);
    trace_silence();
}
