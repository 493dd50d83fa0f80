/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/control/dump.c - the last events of all processors on the raw console, in order of time.
 *
 * For panic, and for a kernel that can do nothing else yet: reads the rings where they lie, takes no lock,
 * allocates nothing. Others may still be logging; what they overwrite meanwhile shows as a packet that ends
 * early.
 */
#include <arch/trace.h>
#include <kernel/kernel.h>
#include <trace/control/control.h>
#include <trace/event/print.h>

#define PACKETS_BACK 2 /* per processor: the open one and those before it */

/* Where the walk over one processor's last packets stands. */
static struct source {
    struct trace_walk walk;
    const struct trace_header *event; /* next one; NULL: no more */
    uint64_t number, head;
} sources[TRACE_CPUS_MAX];

static bool begin_packet(uint32_t cpu, struct source *source)
{
    struct trace_reader reader = trace_reader_of(cpu);
    const struct trace_info *info = reader.info;
    uint64_t start = source->number * (info->buffer_mask + 1);
    const struct trace_packet *packet =
        (const struct trace_packet *)(reader.window + TRACE_BUFFERS_OFFSET + (start & info->packet_mask) * 8);
    uint64_t index = __atomic_load_n(&((const struct trace_control *)reader.window)->index, __ATOMIC_ACQUIRE);
    uint64_t words = index - start < info->buffer_mask ? index - start : info->buffer_mask + 1;
    if (packet->magic != TRACE_CTF_MAGIC || packet->packet_seq_num != source->number)
        return false;
    trace_walk_begin(&source->walk, packet, words, arch_trace_clock());
    return true;
}

/* The next event of a processor, through the end of one packet into the following. */
static void advance(uint32_t cpu, struct source *source)
{
    source->event = source->walk.packet ? trace_walk_next(&source->walk) : NULL;
    while (!source->event && source->number < source->head) {
        source->number++;
        source->event = begin_packet(cpu, source) ? trace_walk_next(&source->walk) : NULL;
    }
}

static void begin_sources(void)
{
    for (uint32_t cpu = 0; cpu < trace_info_page.cpu_count; cpu++) {
        struct trace_reader reader = trace_reader_of(cpu);
        struct source *source = &sources[cpu];
        source->head = trace_trusted_index(cpu) / (reader.info->buffer_mask + 1);
        source->number = source->head >= PACKETS_BACK ? source->head - PACKETS_BACK : 0;
        source->walk.packet = NULL;
        source->event = begin_packet(cpu, source) ? trace_walk_next(&source->walk) : NULL;
        if (!source->event)
            advance(cpu, source);
    }
}

/* The processor with the earliest event, or -1. */
static int find_earliest(void)
{
    int best = -1;
    for (uint32_t cpu = 0; cpu < trace_info_page.cpu_count; cpu++)
        if (sources[cpu].event && (best < 0 || sources[cpu].walk.time < sources[best].walk.time))
            best = (int)cpu;
    return best;
}

static void print_event(uint32_t cpu, const struct source *source)
{
    char line[200];
    const uint64_t hz = trace_info_page.clock_hz, time = source->walk.time;
    trace_print_event(line, sizeof(line), source->event,
                      source->walk.limit - (source->walk.position - source->event->length));
    if (hz)
        log_line("%6u.%06u cpu %u %s", (unsigned)(time / hz), (unsigned)(time % hz * 1000000 / hz), cpu,
                 line);
    else
        log_line("%llu cpu %u %s", (unsigned long long)time, cpu, line);
}

void trace_dump_tail(uint32_t count)
{
    const uint64_t mask = __atomic_exchange_n(&trace_info_page.mask, 0, __ATOMIC_RELAXED); /* hold still */
    uint64_t total = 0;
    int cpu;
    for (begin_sources(); (cpu = find_earliest()) >= 0; advance((uint32_t)cpu, &sources[cpu]))
        total++;
    log_line("trace: the last %u of %u events in the newest packets",
             (unsigned)(total < count ? total : count), (unsigned)total);
    for (begin_sources(); (cpu = find_earliest()) >= 0; advance((uint32_t)cpu, &sources[cpu]))
        if (total-- <= count)
            print_event((uint32_t)cpu, &sources[cpu]);
    __atomic_store_n(&trace_info_page.mask, mask, __ATOMIC_RELAXED);
}
