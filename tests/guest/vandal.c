/*
 * vandal.c - fills control pages, buffers and tables of the trace of all CPUs with garbage while other
 * threads log. The system must not be affected; the host must detect the damage (tests/host/vandal).
 *
 *     vandal [milliseconds]
 */
#include "random.h"
#include "threads.h"

#include <arch/trace.h>
#include <stdatomic.h>
#include <tarn/runtime.h>
#include <trace/user.h>
#include <unistd.h>

static atomic_bool stop;

static void *log_always(void *argument)
{
    for (uint64_t i = 0; !atomic_load(&stop); i++) {
        trace_user_values((uint64_t)(uintptr_t)argument, i, ~i, i * i);
        trace_user_text("the quick brown fox jumps over the lazy dog");
    }
    return NULL;
}

static uint64_t draw(void)
{
    static uint64_t state = 88172645463325252ull;
    return child_random(&state);
}

/* Damages a control page, a packet header, a table, or events. */
static void damage(void)
{
    const struct trace_info *info = arch_trace_info();
    char *ring = (char *)USER_TRACE_RINGS + ((draw() % info->cpu_count) << TRACE_RING_SHIFT);
    const uint64_t ring_bytes = info->ring_mask + 8, buffer_bytes = (info->buffer_mask + 1) * 8,
                   kind = draw() % 5;
    uint64_t offset = TRACE_BUFFERS_OFFSET + draw() % ring_bytes;
    if (kind == 0)
        offset = TRACE_CONTROL_AT(events) + draw() % (TRACE_BUFFERS_OFFSET - TRACE_CONTROL_AT(events));
    else if (kind == 1)
        offset = TRACE_CONTROL_OFFSET + draw() % TARN_PAGE_SIZE;
    else if (kind == 2)
        offset = TRACE_BUFFERS_OFFSET + draw() % (ring_bytes / buffer_bytes) * buffer_bytes +
                 draw() % sizeof(struct trace_packet);
    else if (kind == 3 && info->table_bytes) /* a system with too many CPUs for its memory has no tables */
        offset = TRACE_TABLES_OFFSET + draw() % info->table_bytes;
    *(volatile uint64_t *)(ring + (offset & ~7ull)) = draw() >> draw() % 64;
}

int main(int argc, char **argv)
{
    uint64_t milliseconds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    pthread_t threads[THREADS];
    start_threads(threads, THREADS, log_always);
    uint64_t end = deadline_after(milliseconds * 1000000), count = 0;
    while (clock_monotonic_ns() < end) {
        for (int i = 0; i < 100; i++, count++)
            damage();
        usleep(1000);
    }
    atomic_store(&stop, true);
    join_threads(threads, THREADS);
    printf("vandal: %lu pieces of damage done\n", count);
    return 0;
}
