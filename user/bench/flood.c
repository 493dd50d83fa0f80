/*
 * flood.c - logs as many events as the trace's consumer takes, to measure what `tarn pull` transfers without
 * loss (tests/bench.d/20-pull).
 *
 *     flood [seconds] [threads] [over]
 *
 * Each thread logs as fast as it can and sleeps while its CPU's ring is three quarters full, so the ring
 * never overflows and the consumer never waits. With `over` threads do not check the ring, so that events are
 * lost (tests/host/losses).
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arch/trace.h>
#include <tarn/runtime.h>
#include <trace/ring/read.h>
#include <trace/user.h>

#define THREADS_MAX 64
#define BATCH       256 /* events between two checks of the ring: far fewer than a buffer holds */

static uint64_t end_time;
static bool may_overflow;

/* Whether three quarters of this CPU's ring wait for the consumer. */
static bool is_filled(void)
{
    const char *ring = arch_trace_ring();
    const struct trace_reader reader = trace_reader_open(arch_trace_info(), ring, arch_trace_cpu(ring), 0);
    const uint64_t head = trace_reader_head(&reader);
    return trace_reader_tail(&reader) <
           trace_reader_back(&reader, head, trace_reader_ring_bytes(&reader) / 4 * 3);
}

static void *flood(void *argument)
{
    uint64_t logged = 0, thread = (uint64_t)(uintptr_t)argument;
    while (clock_monotonic_ns() < end_time) {
        if (!may_overflow && is_filled()) {
            usleep(1000);
            continue;
        }
        for (int i = 0; i < BATCH; i++)
            trace_user_values(thread, logged++, 0, ~0ull);
    }
    return (void *)(uintptr_t)logged;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 10;
    int threads = argc > 2 ? atoi(argv[2]) : 4;
    if (!(seconds > 0) || seconds > 1e6 || threads < 1 || threads > THREADS_MAX || argc > 4 ||
        (argc == 4 && strcmp(argv[3], "over") != 0)) {
        fprintf(stderr, "usage: flood [seconds] [threads, 1..%d] [over]\n", THREADS_MAX);
        return 2;
    }
    may_overflow = argc == 4;
    end_time = deadline_after((uint64_t)(seconds * 1e9));
    pthread_t thread[THREADS_MAX];
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&thread[i], NULL, flood, (void *)(uintptr_t)i)) {
            fprintf(stderr, "flood: cannot create thread %d\n", i);
            return 1;
        }
    }
    unsigned long long total = 0;
    for (int i = 0; i < threads; i++) {
        void *logged;
        pthread_join(thread[i], &logged);
        total += (uintptr_t)logged;
    }
    printf("flood: %llu events\n", total);
    return 0;
}
