/*
 * sampled.c - a program with a known number of allocations, sampled by tests/host/sampling.
 *
 * Thread n of THREADS allocates and frees (n + 1) * PAIRS blocks, and logs as many events of the program's
 * own. Everything else that the program does needs only a few allocations. Then the program logs WAITS
 * durations of 0 to WAITS - 1 ticks.
 *
 *     sampled           works
 *     sampled nothing   only registers its events
 */
#define TRACE_DEFINE_LIMITS
#include <app/limits.h>
#include <tests/guest/threads.h>

#define PAIRS  5000u
#define WAITS  10000u
#define SELDOM 100u

static void *allocate(void *argument)
{
    for (unsigned i = 0; i < ((uintptr_t)argument + 1) * PAIRS; i++) {
        void *volatile block = malloc(16 + i % 64);
        free(block);
        trace_limits_often(i);
    }
    return NULL;
}

static void log_waits(void)
{
    for (uint32_t i = 0; i < WAITS; i++)
        trace_limits_wait(i, (uint32_t)((uint64_t)i * 7919 % WAITS));
    for (uint32_t i = 0; i < SELDOM; i++) {
        trace_limits_always(i);
        trace_limits_seldom(i);
    }
}

int main(int argc, char **argv)
{
    if (trace_register_schema(&trace_schema_limits))
        return 1;
    if (argc > 1)
        return 0;
    run_threads(allocate);
    log_waits();
    return 0;
}
