/*
 * last_words.c - logs numbered events on every CPU without end and prints from time to time what was logged.
 * tests/host/previous ends the system meanwhile and looks for the events in the remaining trace.
 */
#include "threads.h"

#include <arch/trace.h>
#include <tarn/runtime.h>
#include <trace/user.h>

#define BETWEEN_LINES 50000u /* events */

static void *log_numbers(void *argument)
{
    uint64_t cpu = (uint64_t)(uintptr_t)argument;
    for (uint64_t number = 0;; number++) {
        trace_user_values(cpu, number, ~cpu, ~number);
        if (number % BETWEEN_LINES == 0)
            printf("logged %u %lu\n", (unsigned)cpu, number);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint32_t cpu = 0; cpu < arch_trace_info()->cpu_count; cpu++)
        start_thread_on(&thread, (int)cpu, log_numbers, (void *)(uintptr_t)cpu);
    pthread_join(thread, NULL);
    return 1;
}
