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

/* The packets of one processor that are still to be walked. */
static struct range {
    uint64_t number, head;
} ranges[TRACE_CPUS_MAX];

static struct trace_merge merge; /* too large for a stack; trace_dump_tail lets one in at a time */

static bool begin_packet(uint32_t cpu, uint64_t number, struct trace_walk *walk)
{
    struct trace_reader reader = trace_reader_of(cpu);
    const struct trace_info *info = reader.info;
    uint64_t start = number * (info->buffer_mask + 1);
    const struct trace_packet *packet = trace_packet_at(&reader, number);
    uint64_t index = __atomic_load_n(&((const struct trace_control *)reader.window)->index, __ATOMIC_ACQUIRE);
    uint64_t words = index - start < info->buffer_mask ? index - start : info->buffer_mask + 1;
    if (packet->magic != TRACE_CTF_MAGIC || packet->packet_seq_num != number)
        return false;
    trace_walk_begin(walk, packet, words, arch_trace_clock());
    return true;
}

static bool next_packet(void *context, uint32_t cpu, struct trace_walk *walk)
{
    struct range *range = &ranges[cpu];
    while (range->number <= range->head)
        if (begin_packet(cpu, range->number++, walk))
            return true;
    return false;
}

static void begin_merge(void)
{
    for (uint32_t cpu = 0; cpu < trace_info_page.cpu_count; cpu++) {
        uint64_t head = trace_trusted_index(cpu) / (trace_info_page.buffer_mask + 1);
        ranges[cpu] = (struct range){head >= PACKETS_BACK ? head - PACKETS_BACK : 0, head};
    }
    trace_merge_begin(&merge, trace_info_page.cpu_count, next_packet, NULL);
}

void trace_dump_tail(uint32_t count)
{
    static bool busy; /* an NMI reaches all processors at once: one prints for all */
    if (__atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE))
        return;
    const uint64_t mask = __atomic_exchange_n(&trace_info_page.mask, 0, __ATOMIC_RELAXED); /* hold still */
    struct trace_moment moment;
    char line[200];
    uint64_t total = 0;
    for (begin_merge(); trace_merge_next(&merge, &moment);)
        total++;
    log_line("trace: the last %u of %u events in the newest packets",
             (unsigned)(total < count ? total : count), (unsigned)total);
    for (begin_merge(); trace_merge_next(&merge, &moment);) {
        if (total-- <= count) {
            trace_print_moment(line, sizeof(line), &moment, trace_info_page.clock_hz, NULL);
            log_line("%s", line);
        }
    }
    __atomic_store_n(&trace_info_page.mask, mask, __ATOMIC_RELAXED);
    __atomic_store_n(&busy, false, __ATOMIC_RELEASE); /* pairs with the exchange */
}
