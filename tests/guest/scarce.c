/*
 * scarce.c - uses up memory until the kernel frees the previous boot's trace, for tests/host/previous. Parts
 * that are still mapped stay unchanged until they are unmapped; then they are free memory.
 */
#include <stdio.h>
#include <tarn/runtime.h>
#include <tarn/syscall.h>

#include <trace/event/previous.h>

#define PIECE_BYTES (64u << 10)
#define LEFT_PART   48 /* fraction of memory left free; the kernel treats less than a 32nd as scarce */
#define WAIT_NS     20000000000ull
#define TURN_NS     20000000ull

static struct trace_previous previous;

static struct system_stats read_memory(void)
{
    struct system_stats stats = {0};
    sys_system_read(SYSTEM_STATS, 0, &stats, sizeof(stats));
    return stats;
}

static uint64_t ring_bytes(void)
{
    return previous.store.buffer_bytes * previous.store.buffer_count;
}

static uint64_t sum_rings(void)
{
    uint64_t sum = 0;
    for (uint32_t cpu = 0; cpu < previous.store.cpu_count; cpu++) {
        const uint64_t *words = (const uint64_t *)(previous.rings[cpu] + TRACE_BUFFERS_OFFSET);
        for (uint64_t i = 0; i < ring_bytes() / 8; i++)
            sum = sum * 31 + words[i];
    }
    return sum;
}

static bool is_dropped(void)
{
    static struct trace_previous other;
    return trace_previous_read_store(SLOT_TRACE, &other) == -E_NOT_FOUND;
}

static bool take_memory(void)
{
    for (;;) {
        struct system_stats stats = read_memory();
        if (stats.frames_free < stats.frames_total / LEFT_PART)
            return true;
        volatile char *piece = memory_map_anonymous(PIECE_BYTES);
        if (!piece)
            return false;
        for (unsigned at = 0; at < PIECE_BYTES; at += TARN_PAGE_SIZE)
            piece[at] = 1;
    }
}

/* Returns NULL if everything is as expected. */
static const char *find_fault(uint64_t *bytes_back)
{
    if (trace_previous_open(SLOT_TRACE, &previous))
        return "there is no previous trace";
    const uint64_t sum = sum_rings();
    if (!take_memory())
        return "cannot allocate memory";
    for (uint64_t end = deadline_after(WAIT_NS); !is_dropped();) {
        if (clock_monotonic_ns() > end)
            return "the previous trace is still there";
        sys_thread_sleep(deadline_after(TURN_NS));
    }
    if (sum_rings() != sum)
        return "its mapped part has changed";
    uint64_t before = read_memory().frames_free;
    trace_previous_close(&previous);
    uint64_t after = read_memory().frames_free;
    *bytes_back = (after - before) * TARN_PAGE_SIZE;
    return after < before || *bytes_back < previous.store.cpu_count * ring_bytes() ? "its memory is not free"
                                                                                   : NULL;
}

int main(void)
{
    uint64_t bytes_back = 0;
    const char *fault = find_fault(&bytes_back);
    printf("scarce: %s, %u KiB\n", fault ? fault : "dropped, and its memory is free",
           (unsigned)(bytes_back >> 10));
    return fault != NULL;
}
