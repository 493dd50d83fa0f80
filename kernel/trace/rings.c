/*
 * kernel/trace/rings.c - every CPU's ring and tables: their memory, starting over. resize.c changes the
 * sizes.
 *
 * A page once mapped in a ring stays there: a smaller ring leaves its surplus mapped and unused, and a
 * later larger one uses it again. So no TLB shootdown is ever needed. The price is that trace memory only
 * grows.
 *
 * The tables of counters (trace/format/table.h) are mapped and zeroed once, at boot. They count from then on:
 * nothing clears them. Before that, or if there is no memory for them, trace_info.table_bytes is 0, and
 * updates do nothing.
 *
 * When the rings start over each CPU stops and opens its own: nobody else may write its index. The indices
 * continue beyond the old ones.
 */
#include "trace/events.h" /* generated */
#include <arch/boot.h>
#include <arch/mmu.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/smp_call.h>
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <kernel/sched/sched.h>
#include <kernel/trace/control.h>
#include <tarn/error.h>
#include <trace/print/words.h>
#include <trace/ring/ring.h>

#define RING_BYTES_LEAST       (TRACE_BOOT_BUFFERS * (uint64_t)TRACE_BUFFER_BYTES_DEFAULT)
#define RING_BYTES_DEFAULT_MAX (4ull << 20)
#define TABLES_PART            16 /* all tables together take at most this fraction of memory */

static LOCK_CLASS(trace_lock_class, "trace");
struct spinlock trace_lock = SPINLOCK(&trace_lock_class);

static uint64_t mapped_pages[TRACE_CPUS_MAX]; /* of each ring, from its start; under trace_lock */
static bool windows_work;
uint64_t trace_boot_buffers;
char trace_ring_refused[160];

char *trace_ring(uint32_t cpu)
{
    if (!windows_work)
        return (char *)cpus[0].block.ring - TRACE_BUFFERS_OFFSET;
    return (char *)(ARCH_TRACE_RINGS + ((uint64_t)cpu << TRACE_RING_SHIFT));
}

struct trace_reader trace_reader_of(uint32_t cpu)
{
    struct trace_reader reader = {&trace_info_page, trace_ring(cpu), cpu, 0,
                                  .geometry = trace_geometry_of(&trace_info_page)};
    trace_trusted_eras(cpu, reader.geometry, &reader.eras);
    return reader;
}

/* Returns how many of the consecutive frames were mapped. */
static uint64_t map_run(uint32_t cpu, uint64_t offset, paddr_t run, uint64_t pages)
{
    uint64_t mapped = 0;
    memset(phys_to_virt(run), 0, pages * FRAME_SIZE);
    while (mapped < pages &&
           !arch_trace_map(((uint64_t)cpu << TRACE_RING_SHIFT) + offset + mapped * FRAME_SIZE,
                           run + mapped * FRAME_SIZE))
        mapped++;
    if (mapped > 0)
        trace_store_add_ring(cpu, offset, run, mapped * FRAME_SIZE);
    return mapped;
}

/* Allocates consecutive frames, at most `pages`; returns how many. None if the store cannot list them. */
static uint64_t take_run(uint64_t pages, paddr_t *run)
{
    *run = FRAME_NONE;
    if (!trace_store_has_space())
        return 0;
    while (pages > 0 && (*run = frame_alloc_run(pages, trace_store_place(0))) == FRAME_NONE)
        pages /= 2;
    return pages;
}

uint64_t trace_missing_pages(uint32_t cpu, uint64_t pages)
{
    pages += TRACE_SLACK_BYTES / FRAME_SIZE;
    return pages > mapped_pages[cpu] ? pages - mapped_pages[cpu] : 0;
}

/* Adds consecutive frames to the ring; returns how many pages, 0: no memory. */
static uint64_t add_run(uint32_t cpu, uint64_t offset, uint64_t pages)
{
    paddr_t run;
    const uint64_t count = take_run(pages, &run), mapped = count ? map_run(cpu, offset, run, count) : 0;
    frame_free_run(run + mapped * FRAME_SIZE, count - mapped);
    return mapped;
}

/* False: no memory; mapped pages stay. */
static bool map_tables(uint32_t cpu)
{
    for (uint64_t at = 0, pages; at < TRACE_TABLES_BYTES; at += pages * FRAME_SIZE) {
        pages = add_run(cpu, TRACE_TABLES_OFFSET + at, (TRACE_TABLES_BYTES - at) / FRAME_SIZE);
        if (pages == 0)
            return false;
    }
    return true;
}

int trace_extend_ring(uint32_t cpu, uint64_t pages, uint64_t most)
{
    pages += TRACE_SLACK_BYTES / FRAME_SIZE;
    most += mapped_pages[cpu];
    pages = pages < most ? pages : most;
    while (mapped_pages[cpu] < pages) {
        const uint64_t added =
            add_run(cpu, TRACE_BUFFERS_OFFSET + mapped_pages[cpu] * FRAME_SIZE, pages - mapped_pages[cpu]);
        mapped_pages[cpu] += added;
        if (added == 0)
            return -E_NO_MEMORY;
    }
    return 0;
}

/* Copies the boot ring's packets to their places in the larger ring. Its buffers hold the last
 * TRACE_BOOT_BUFFERS packet numbers, so no two have the same place in a ring that is not smaller. Nothing may
 * log meanwhile. */
static void copy_boot_ring(uint64_t buffer_count)
{
    struct trace_reader reader = trace_reader_of(0);
    const uint64_t first = trace_reader_oldest(&reader);
    char *ring = (char *)ARCH_TRACE_RINGS;
    memcpy(trace_control_of(ring), trace_control_of(reader.ring), sizeof(struct trace_control));
    for (uint64_t number = first; number < first + TRACE_BOOT_BUFFERS; number++) {
        uint64_t place = number & (buffer_count - 1);
        memcpy(ring + TRACE_BUFFERS_OFFSET + place * TRACE_BUFFER_BYTES_DEFAULT,
               trace_packet_at(&reader, number), TRACE_BUFFER_BYTES_DEFAULT);
    }
}

/* The size in the boot option; 0: absent, or no size. */
static uint64_t asked_ring_bytes(const char *text)
{
    uint64_t bytes;
    const bool is_size = trace_parse_number(text, strlen(text), &bytes) && bytes >= RING_BYTES_LEAST &&
                         bytes <= TRACE_RING_BYTES_MAX && !(bytes & (bytes - 1));
    return is_size ? bytes : 0;
}

/* Ring size from the boot options, or all rings together a sixteenth of memory, within bounds. A size that is
 * refused is reported on the console and in the metadata. A quarter of the free memory stays free. */
static uint64_t choose_ring_bytes(void)
{
    const uint64_t cpus = boot_info.cpu_count;
    const uint64_t share = frame_count_total() * FRAME_SIZE / 16 / cpus;
    const uint64_t most = frame_count_free() / 4 * 3 * FRAME_SIZE / cpus;
    uint64_t bytes = RING_BYTES_LEAST, wanted;
    char text[24] = "";
    const bool is_option = boot_option("trace.ring=", text, sizeof(text));
    const uint64_t asked = asked_ring_bytes(text);
    wanted = asked ? asked : share < RING_BYTES_DEFAULT_MAX ? share : RING_BYTES_DEFAULT_MAX;
    while (bytes * 2 <= (wanted < most ? wanted : most))
        bytes *= 2;
    if (asked > bytes)
        format_text(trace_ring_refused, sizeof(trace_ring_refused),
                    "trace.ring=%s: %u rings of this size do not fit into memory; each has %lu KiB: give the "
                    "machine more memory or fewer CPUs",
                    text, boot_info.cpu_count, bytes >> 10);
    else if (is_option && !asked)
        format_text(trace_ring_refused, sizeof(trace_ring_refused),
                    "trace.ring=%s is no power of two from 256k to 512m; each ring has %lu KiB", text,
                    bytes >> 10);
    if (trace_ring_refused[0])
        log_line("trace: %s", trace_ring_refused);
    return bytes;
}

/* Returns the bytes of each CPU's tables, or 0: there are none. */
static uint32_t choose_table_bytes(void)
{
    const uint64_t bytes = (uint64_t)TRACE_TABLES_BYTES * boot_info.cpu_count;
    if (bytes <= frame_count_total() * FRAME_SIZE / TABLES_PART)
        return TRACE_TABLES_BYTES;
    log_line("trace: no tables of counters: %u KiB for %u CPUs are more than a sixteenth of memory",
             (unsigned)(bytes >> 10), boot_info.cpu_count);
    return 0;
}

/* The tables first: the store lists a ring in order. */
static void map_ring(uint32_t cpu, uint64_t ring_bytes, uint32_t table_bytes)
{
    if ((table_bytes > 0 && !map_tables(cpu)) || add_run(cpu, TRACE_CONTROL_OFFSET, 1) == 0 ||
        trace_extend_ring(cpu, ring_bytes / FRAME_SIZE, ~0ull >> 1))
        panic("trace: no memory for a ring of %u KiB on each of %u CPUs", (unsigned)(ring_bytes >> 10),
              boot_info.cpu_count);
}

/* Interrupts are off and no other CPU runs: no event is logged between these statements. */
static void leave_boot_ring(uint64_t buffer_count)
{
    struct trace_info *info = &trace_info_page;
    copy_boot_ring(buffer_count);
    windows_work = true;
    trace_set_masks(info, TRACE_BUFFER_BYTES_DEFAULT, buffer_count);
    info->geometry = trace_geometry_word(TRACE_BUFFER_BYTES_DEFAULT, buffer_count, 0);
    info->cpu_count = boot_info.cpu_count;
    for (uint32_t cpu = 0; cpu < boot_info.cpu_count; cpu++)
        cpus[cpu].block.ring = (uint64_t)trace_ring(cpu) + TRACE_BUFFERS_OFFSET;
}

/* Buffers keep their boot size; trace_control can change it later. */
void trace_init(void)
{
    uint64_t previous_id;
    paddr_t previous_place = trace_previous_place(&previous_id);
    trace_previous_keep();
    const uint64_t ring_bytes = choose_ring_bytes();
    trace_store_init(previous_place, previous_id);
    const uint32_t table_bytes = choose_table_bytes();
    for (uint32_t cpu = 0; cpu < boot_info.cpu_count; cpu++)
        map_ring(cpu, ring_bytes, table_bytes);
    trace_boot_buffers = ring_bytes / TRACE_BUFFER_BYTES_DEFAULT;
    leave_boot_ring(trace_boot_buffers);
    /* from now on updates find the tables; no other CPU runs yet */
    __atomic_store_n(&trace_info_page.table_bytes, table_bytes, __ATOMIC_RELAXED);
    for (uint32_t cpu = 1; cpu < boot_info.cpu_count; cpu++) {
        trace_ring_open(trace_ring(cpu), 0);
        trace_expect_index(cpu, trace_control_of(trace_ring(cpu))->index);
    }
    trace_metadata_init();
    trace_store_publish();
    trace_previous_increment_age();
}

/* Invalidates the packets in a ring's buffers. */
static void forget_packets(uint32_t cpu)
{
    const struct trace_reader reader = trace_reader_of(cpu);
    const uint64_t words = reader.eras.era[0].words;
    for (uint64_t at = 0; at < reader.eras.ring_words; at += words) {
        struct trace_packet *packet = (struct trace_packet *)(reader.ring + TRACE_BUFFERS_OFFSET + at * 8);
        __atomic_store_n(&packet->packet_seq_num, TRACE_NO_PACKET, __ATOMIC_RELAXED);
        __atomic_store_n(&packet->committed, words, __ATOMIC_RELAXED);
    }
}

/* start_over()'s orders to each CPU for its own ring. */
static uint64_t fresh_start[TRACE_CPUS_MAX];

void trace_stop_own_ring(void *unused)
{
    (void)unused;
    trace_ring_stop(trace_ring(this_cpu()->index));
}

static void open_own(void *unused)
{
    (void)unused;
    const uint32_t cpu = this_cpu()->index;
    char *ring = trace_ring(cpu);
    trace_ring_open(ring, fresh_start[cpu]);
    trace_expect_index(cpu, __atomic_load_n(&trace_control_of(ring)->index, __ATOMIC_RELAXED));
}

void trace_on_every_cpu(void (*function)(void *unused))
{
    smp_call_urgently(IPI_CALL,
                      atomic_load_explicit(&sched_online_cpus, memory_order_relaxed) & ~this_cpu()->bit,
                      function, NULL);
    function(NULL);
}

static void start_over(void)
{
    struct trace_info *info = &trace_info_page;
    const uint64_t buffer_bytes = trace_buffer_bytes(info), buffer_count = info->buffer_count;
    const uint32_t changes = trace_geometry_changes(info->geometry) + 1; /* odd */
    assert(spin_held(&trace_lock));
    uint64_t mask = __atomic_exchange_n(&info->mask, 0, __ATOMIC_ACQ_REL);
    trace_on_every_cpu(trace_stop_own_ring);
    uint64_t trusted[TRACE_CPUS_MAX] = {0};
    for (uint32_t cpu = 0; cpu < info->cpu_count; cpu++)
        trusted[cpu] = trace_trusted_index(cpu);
    __atomic_store_n(&info->geometry, trace_geometry_word(buffer_bytes, buffer_count, changes),
                     __ATOMIC_RELAXED);
    /* The word before what follows: a reader of anything in the new rings sees that the word has changed.
     * Pairs with the fence in trace_reader_is_current(). */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    for (uint32_t cpu = 0; cpu < info->cpu_count; cpu++) {
        struct trace_eras eras;
        trace_trusted_eras(cpu, info->geometry, &eras);
        const uint64_t number = trace_eras_newest(&eras, trusted[cpu]) + 2;
        fresh_start[cpu] = trace_eras_start(&eras, number);
        forget_packets(cpu);
        eras.era[0] = (struct trace_era){number, fresh_start[cpu], buffer_bytes / 8};
        eras.count = 1;
        trace_set_eras(cpu, &eras);
        __atomic_store_n(&info->consumed[cpu], number, __ATOMIC_RELAXED);
    }
    trace_on_every_cpu(open_own);
    __atomic_store_n(&info->generation, info->generation + 1, __ATOMIC_RELEASE);
    trace_store_refresh();
    /* readers of memory know by now that the rings have changed; programs wait for the lock */
    trace_forget_classes();
    /* release: a reader of this word sees the rings set up; pairs with the acquire in trace_geometry_of() */
    __atomic_store_n(&info->geometry, trace_geometry_word(buffer_bytes, buffer_count, changes + 1),
                     __ATOMIC_RELEASE);
    __atomic_store_n(&info->mask, mask, __ATOMIC_RELEASE);
    trace_sites_agree();
}

void trace_clear(void)
{
    assert(!trace_is_resizing());
    start_over();
}
