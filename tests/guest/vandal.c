/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vandal.c - does the worst that a program can do to the trace: fills control
 * pages, buffers and tables of all CPUs with garbage while other threads log. The
 * system must not be affected; the host must detect the damage (tests/host/vandal).
 *
 *     vandal [milliseconds]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <arch/trace.h>
#include <tarn/abi.h>
#include <tarn/runtime.h>
#include <trace/user.h>

#define LOGGERS 4
static atomic_bool stop;

static void *log_always(void *argument)
{
    for (uint64_t i = 0; !atomic_load(&stop); i++) {
        trace_user_values((uint64_t)(uintptr_t)argument, i, ~i, i * i);
        trace_user_text("the quick brown fox jumps over the lazy dog");
    }
    return NULL;
}

static uint64_t next_random(void)
{
    static uint64_t state = 88172645463325252ull;
    state ^= state << 13; /* Marsaglia's xorshift */
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Damages a control page, a packet header, a table, or events. */
static void damage(void)
{
    const struct trace_info *info = arch_trace_info();
    char *ring = (char *)USER_TRACE_RINGS + ((next_random() % info->cpu_count) << TRACE_RING_SHIFT);
    uint64_t ring_bytes = info->ring_mask + 8, buffer_bytes = (info->buffer_mask + 1) * 8, offset;
    switch (next_random() % 5) {
    case 0:
        offset = TRACE_CONTROL_AT(events) + next_random() % (TRACE_BUFFERS_OFFSET - TRACE_CONTROL_AT(events));
        break;
    case 1:
        offset = TRACE_CONTROL_OFFSET + next_random() % TARN_PAGE_SIZE;
        break;
    case 2:
        offset = TRACE_BUFFERS_OFFSET + next_random() % (ring_bytes / buffer_bytes) * buffer_bytes +
                 next_random() % sizeof(struct trace_packet);
        break;
    case 3:
        if (info->table_bytes) {
            offset = TRACE_TABLES_OFFSET + next_random() % info->table_bytes;
            break;
        }
        __attribute__((fallthrough)); /* a system with too many CPUs for its memory has none */
    default:
        offset = TRACE_BUFFERS_OFFSET + next_random() % ring_bytes;
    }
    *(volatile uint64_t *)(ring + (offset & ~7ull)) = next_random() >> next_random() % 64;
}

int main(int argc, char **argv)
{
    uint64_t milliseconds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    pthread_t thread[LOGGERS];
    for (uintptr_t i = 0; i < LOGGERS; i++) {
        if (pthread_create(&thread[i], NULL, log_always, (void *)i)) {
            fprintf(stderr, "vandal: cannot create threads\n");
            return 1;
        }
    }
    uint64_t end = deadline_after(milliseconds * 1000000), count = 0;
    while (clock_monotonic_ns() < end) {
        for (int i = 0; i < 100; i++, count++)
            damage();
        usleep(1000);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < LOGGERS; i++)
        pthread_join(thread[i], NULL);
    printf("vandal: %lu pieces of damage done\n", count);
    return 0;
}
