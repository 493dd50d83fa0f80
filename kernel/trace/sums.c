/* kernel/trace/sums.c - checksums of packets, to detect changes by a reset and the following boot. When, and
 * why not by writers: README.md, "After a reset". */
#include <arch/mmu.h>
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <kernel/trace/control.h>
#include <trace/format/sum.h>

/* ---- the running system --------------------------------------------------------------------------- */

static bool is_whole(const struct trace_packet *packet, uint64_t number, uint64_t words)
{
    /* acquires: as in trace_packet_state() */
    return __atomic_load_n(&packet->packet_seq_num, __ATOMIC_ACQUIRE) == number &&
           __atomic_load_n(&packet->committed, __ATOMIC_ACQUIRE) == words;
}

/* Returns the bytes read. If the packet is overwritten meanwhile it gets no sum; the old entry's number
 * matches no packet soon. */
static uint64_t sum_packet(const struct trace_packet *packet, uint64_t number, uint64_t words,
                           uint64_t *entry)
{
    struct trace_sum sum = {0};
    if (!is_whole(packet, number, words))
        return 0;
    trace_sum_add(&sum, (const uint64_t *)packet, words);
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* the words before the second check */
    if (is_whole(packet, number, words))
        __atomic_store_n(entry, trace_sum_entry(&sum, number), __ATOMIC_RELAXED);
    return words * 8;
}

void trace_sum_ring(uint32_t cpu, uint64_t bytes_most)
{
    const struct trace_reader reader = trace_reader_of(cpu);
    const uint64_t index = trace_trusted_index(cpu), head = trace_eras_head(&reader.eras, index);
    const uint64_t count = head - trace_eras_oldest(&reader.eras, index);
    const uint64_t most = count < TRACE_SUMS ? count : TRACE_SUMS;
    uint64_t *sums = trace_control_of(trace_ring(cpu))->sums;
    uint64_t done = 0;
    for (uint64_t back = 1; back <= most && done < bytes_most; back++) {
        uint64_t number = head - back, *entry = &sums[number % TRACE_SUMS];
        if (!trace_sum_is_of(__atomic_load_n(entry, __ATOMIC_RELAXED), number))
            done += sum_packet(trace_packet_at(&reader, number), number,
                               trace_reader_bytes(&reader, number) / 8, entry);
    }
}

/* ---- the system before ---------------------------------------------------------------------------- */

/* A complete ring in the frames that a store lists. */
struct dead_ring {
    const struct trace_store *store;
    uint32_t cpu;
    struct trace_eras eras;
    uint64_t first, newest; /* packets that may be there; the newest may be open */
};

static void *page_at(const struct dead_ring *ring, uint64_t offset)
{
    for (uint32_t i = 0; i < ring->store->extent_count; i++) {
        const struct trace_extent *extent = &ring->store->extents[i];
        if (extent->kind == TRACE_EXTENT_RING && extent->number == ring->cpu && offset >= extent->offset &&
            offset - extent->offset < extent->bytes)
            return phys_to_virt(extent->physical + (offset - extent->offset));
    }
    panic("trace: a ring of the previous trace is not complete");
}

static uint64_t offset_of(const struct dead_ring *ring, uint64_t number)
{
    return TRACE_BUFFERS_OFFSET + trace_eras_place(&ring->eras, trace_eras_start(&ring->eras, number));
}

static uint64_t bytes_of(const struct dead_ring *ring, uint64_t number)
{
    return trace_eras_words(&ring->eras, number) * 8;
}

static struct trace_packet *header_at(const struct dead_ring *ring, uint64_t number)
{
    return page_at(ring, offset_of(ring, number));
}

static bool has_header(const struct dead_ring *ring, uint64_t number)
{
    const struct trace_packet *packet = header_at(ring, number);
    return packet->magic == TRACE_CTF_MAGIC && packet->packet_seq_num == number &&
           packet->cpu_id == ring->cpu && packet->packet_size == bytes_of(ring, number) * 8;
}

/* The newest packet by the headers, for an index that leads to none. */
static void find_newest(struct dead_ring *ring)
{
    ring->newest = 0;
    for (uint64_t at = 0; at < ring->eras.ring_words; at += ring->eras.era[0].words) {
        const struct trace_packet *packet = page_at(ring, TRACE_BUFFERS_OFFSET + at * 8);
        const uint64_t number = packet->packet_seq_num;
        if (number > ring->newest && has_header(ring, number) && header_at(ring, number) == packet)
            ring->newest = number;
    }
}

static struct dead_ring open_dead_ring(const struct trace_store *store, uint32_t cpu)
{
    struct dead_ring ring = {.store = store, .cpu = cpu};
    const struct trace_control *control = page_at(&ring, TRACE_CONTROL_OFFSET);
    trace_eras_load(&ring.eras, control, trace_geometry_word(store->buffer_bytes, store->buffer_count, 0));
    ring.newest = trace_eras_newest(&ring.eras, control->index);
    if (!has_header(&ring, ring.newest) && !(ring.newest > 0 && has_header(&ring, ring.newest - 1)))
        find_newest(&ring);
    const uint64_t end = trace_eras_start(&ring.eras, ring.newest) + ring.eras.era[0].words;
    ring.first = trace_eras_number(&ring.eras, end > ring.eras.ring_words ? end - ring.eras.ring_words : 0);
    return ring;
}

static bool sum_is_right(const struct dead_ring *ring, uint64_t number, uint64_t entry)
{
    struct trace_sum sum = {0};
    for (uint64_t at = 0; at < bytes_of(ring, number); at += FRAME_SIZE)
        trace_sum_add(&sum, page_at(ring, offset_of(ring, number) + at), FRAME_SIZE / 8);
    return trace_sum_entry(&sum, number) == entry;
}

static void verify_packet(const struct dead_ring *ring, uint64_t number, struct trace_store_kept *kept)
{
    const struct trace_control *control = page_at(ring, TRACE_CONTROL_OFFSET);
    const uint64_t entry = control->sums[number % TRACE_SUMS];
    const bool is_summed = trace_sum_is_of(entry, number);
    if (is_summed && !sum_is_right(ring, number, entry)) {
        header_at(ring, number)->packet_seq_num = TRACE_NO_PACKET;
        kept->damaged++;
    } else if (is_summed || has_header(ring, number)) {
        kept->packets++;
        kept->unsummed += !is_summed;
    }
}

struct trace_store_kept trace_sums_verify(const struct trace_store *store)
{
    struct trace_store_kept kept = {0};
    for (uint32_t cpu = 0; cpu < store->cpu_count; cpu++) {
        const struct dead_ring ring = open_dead_ring(store, cpu);
        for (uint64_t number = ring.first; number <= ring.newest; number++)
            verify_packet(&ring, number, &kept);
    }
    return kept;
}
