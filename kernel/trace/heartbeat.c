/*
 * kernel/trace/heartbeat.c - bounds the time between events, and detects and repairs damage to the rings.
 *
 * Every CPU calls trace_heartbeat a few times a second. While anything is traced it logs a heartbeat, so that
 * no two events in a packet lie 2^31 ticks apart. Any program can write the control page, so the heartbeat
 * also compares it with a private copy of the last time:
 *
 * - the index never decreases, and grows no faster than a CPU can log;
 * - the index of a closed ring is a packet's last word;
 * - the newest packet has its header;
 * - counters only grow;
 * - only the kernel changes the table of eras.
 *
 * It repairs impossible values and logs trace_corrupt; events logged in between are lost.
 *
 * Each CPU checks its own ring, so only restarts need a lock (trace_lock).
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>
#include <kernel/trace/control.h>
#include <trace/ring/ring.h>
#include <trace/trace.h>

#define HEARTBEAT_TICKS     (1ull << 29) /* maximum between two: an eighth of a timestamp's range */
#define HEARTBEATS_A_SECOND 4            /* minimum: damage to a control page costs the events until then */
#define WORDS_PER_TICK_MAX  4            /* nothing logs faster: a copy of two 16-byte vectors per tick */
#define WORDS_SLACK         (1ull << 20)

/* Checksums are computed here, not by writers: enough for a megabyte a second, and little enough not to delay
 * interrupts. */
#define SUM_BYTES_A_VISIT (256u << 10)

enum damage { INDEX_BEHIND = 1, INDEX_AHEAD, PACKET_HEADER, TIME_LIMIT, LOSS_COUNTERS, ERAS };

#define NEXT_LOOK_HZ 1000 /* while the sizes change */

/* The last values known to be correct. The ring's CPU writes them, and under trace_lock whatever restarts the
 * ring. Then a heartbeat may see a mixture, and repair an intact ring, which is harmless. */
static struct shadow {
    uint64_t index; /* without TRACE_INDEX_CLOSED */
    uint64_t time;
    uint64_t discarded;
    struct trace_era eras[TRACE_ERAS]; /* changed under trace_lock, while the ring's CPU logs nothing */
} shadows[TRACE_CPUS_MAX];

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void store(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

void trace_expect_index(uint32_t cpu, uint64_t index)
{
    store(&shadows[cpu].index, index & ~TRACE_INDEX_CLOSED);
    /* release: pairs with the acquire in trace_trusted_index() */
    __atomic_store_n(&shadows[cpu].time, arch_clock(), __ATOMIC_RELEASE);
}

void trace_set_eras(uint32_t cpu, const struct trace_eras *eras)
{
    struct trace_era *own = shadows[cpu].eras, *shown = trace_control_of(trace_ring(cpu))->eras;
    for (uint32_t i = 0; i < TRACE_ERAS; i++)
        own[i] = shown[i] = i < eras->count ? eras->era[i] : (struct trace_era){0};
}

void trace_trusted_eras(uint32_t cpu, uint64_t geometry, struct trace_eras *eras)
{
    memcpy(eras->era, shadows[cpu].eras, sizeof(eras->era));
    trace_eras_check(eras, geometry);
}

uint64_t trace_trusted_head(uint32_t cpu)
{
    struct trace_eras eras;
    trace_trusted_eras(cpu, trace_geometry_of(&trace_info_page), &eras);
    return trace_eras_head(&eras, trace_trusted_index(cpu));
}

static uint64_t words_possible(const struct shadow *shadow, uint64_t now)
{
    /* acquire: the shadow's index is then not older than this time; pairs with the release in
     * trace_expect_index() */
    uint64_t time = __atomic_load_n(&shadow->time, __ATOMIC_ACQUIRE);
    return (now > time ? now - time : 0) * WORDS_PER_TICK_MAX + WORDS_SLACK;
}

static bool index_is_possible(uint64_t index, uint64_t known, uint64_t possible)
{
    const uint64_t mask = trace_info_page.buffer_mask, words = trace_index_words(index);
    const bool rests_well = !(index & TRACE_INDEX_CLOSED) || (words & mask) == mask;
    return rests_well && words - trace_index_words(known) <= possible;
}

uint64_t trace_trusted_index(uint32_t cpu)
{
    const struct shadow *shadow = &shadows[cpu];
    const struct trace_control *control = trace_control_of(trace_ring(cpu));
    uint64_t possible = words_possible(shadow, arch_clock());
    uint64_t index = load(&control->index), known = load(&shadow->index);
    return index_is_possible(index, known, possible) ? index : known;
}

/* The first word of a packet after any that writers can have begun; headers show how far they came. */
static uint64_t find_fresh_start(uint32_t cpu, const struct shadow *shadow, uint64_t now)
{
    const struct trace_reader reader = trace_reader_of(cpu);
    const struct trace_era *era = &reader.eras.era[0];
    const uint64_t known = trace_eras_newest(&reader.eras, shadow->index);
    const uint64_t consumed = load(&reader.info->consumed[cpu]);
    uint64_t last = consumed > known ? consumed : known;
    last = last > era->number ? last : era->number;
    for (uint64_t at = 0; at < reader.eras.ring_words; at += era->words) {
        const char *packet = reader.ring + TRACE_BUFFERS_OFFSET + at * 8;
        const uint64_t number = load(&((const struct trace_packet *)packet)->packet_seq_num);
        if (number > last && number - known <= words_possible(shadow, now) / era->words)
            last = number;
    }
    return trace_eras_start(&reader.eras, last + 2);
}

static void repair_index(uint32_t cpu, struct shadow *shadow, enum damage damage, uint64_t found,
                         uint64_t now)
{
    struct trace_control *control = trace_control_of(trace_ring(cpu));
    trace_ring_open(trace_ring(cpu), find_fresh_start(cpu, shadow, now));
    trace_expect_index(cpu, load(&control->index));
    if (TRACE_ON_TRACE())
        trace_trace_corrupt(cpu, damage, found, load(&control->index));
}

/* Whether a program has written over the header of the newest packet. */
static bool header_is_wrong(uint32_t cpu, uint64_t index)
{
    const struct trace_reader reader = trace_reader_of(cpu);
    const uint64_t newest = trace_eras_newest(&reader.eras, index);
    const struct trace_packet *packet = trace_packet_at(&reader, newest);
    if (newest < trace_eras_first(&reader.eras))
        return false; /* nothing was logged since the rings were cleared */
    return __atomic_load_n(&packet->magic, __ATOMIC_RELAXED) != TRACE_CTF_MAGIC ||
           __atomic_load_n(&packet->cpu_id, __ATOMIC_RELAXED) != cpu ||
           load(&packet->packet_seq_num) != newest;
}

static void check_index(uint32_t cpu, struct shadow *shadow, uint64_t now)
{
    struct trace_control *control = trace_control_of(trace_ring(cpu));
    uint64_t index = load(&control->index), known = load(&shadow->index);
    if (!index_is_possible(index, known, words_possible(shadow, now)))
        repair_index(cpu, shadow,
                     trace_index_words(index) < trace_index_words(known) ? INDEX_BEHIND : INDEX_AHEAD, index,
                     now);
    else if (header_is_wrong(cpu, index))
        repair_index(cpu, shadow, PACKET_HEADER, index, now);
    else
        trace_expect_index(cpu, index);
}

/* Events logged meanwhile are in the right place, but have wrong numbers. */
static void check_eras(uint32_t cpu, const struct shadow *shadow)
{
    struct trace_era *shown = trace_control_of(trace_ring(cpu))->eras;
    if (memcmp(shown, shadow->eras, sizeof(shadow->eras)) == 0)
        return;
    const uint64_t found = load(&shown[0].words);
    memcpy(shown, shadow->eras, sizeof(shadow->eras));
    if (TRACE_ON_TRACE())
        trace_trace_corrupt(cpu, ERAS, found, shadow->eras[0].words);
}

/* A time limit in the past only makes a new packet. The clock last: an NMI may store its time. */
static void check_time(uint32_t cpu, uint64_t *time, enum damage damage)
{
    const uint64_t found = load(time);
    const uint64_t now = arch_clock();
    if (found <= (damage == TIME_LIMIT ? trace_time_limit(now) : now))
        return;
    store(time, now);
    if (TRACE_ON_TRACE())
        trace_trace_corrupt(cpu, damage, found, now);
}

static void check_counter(uint32_t cpu, uint64_t *counter, uint64_t *known, uint64_t most)
{
    uint64_t found = load(counter);
    if (found - *known <= most) {
        *known = found;
        return;
    }
    store(counter, *known);
    if (TRACE_ON_TRACE())
        trace_trace_corrupt(cpu, LOSS_COUNTERS, found, *known);
}

/* A slow clock would need fewer heartbeats, but damage must be found within a fraction of a second. The rate
 * is 0 until it is known. */
static uint64_t next_heartbeat(uint64_t now)
{
    uint64_t ticks = trace_info_page.clock_hz / HEARTBEATS_A_SECOND;
    return now + (ticks && ticks < HEARTBEAT_TICKS ? ticks : HEARTBEAT_TICKS);
}

uint64_t trace_heartbeat(uint64_t now)
{
    const uint32_t cpu = this_cpu()->index;
    struct trace_control *control = trace_control_of(trace_ring(cpu));
    struct shadow *shadow = &shadows[cpu];
    if (trace_geometry_is_changing(trace_geometry_of(&trace_info_page))) {
        trace_resume_resize(now);
        return now + trace_info_page.clock_hz / NEXT_LOOK_HZ;
    }
    uint64_t most = words_possible(shadow, arch_clock());
    check_eras(cpu, shadow);
    check_counter(cpu, &control->discarded, &shadow->discarded, most);
    check_time(cpu, &control->time_limit, TIME_LIMIT);
    check_time(cpu, &control->discarded_at, LOSS_COUNTERS);
    check_index(cpu, shadow, arch_clock());
    if (trace_info_page.mask)
        trace_ring_heartbeat();
    trace_check_mark();
    trace_sum_ring(cpu, SUM_BYTES_A_VISIT);
    if (cpu == 0) {
        trace_previous_drop_if_scarce();
        trace_forget_drain();
    }
    return next_heartbeat(now);
}
