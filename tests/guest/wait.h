/*
 * wait.h - waits until a thread has reached a state. A fixed delay would not do: a busy host may not have run
 * the vCPU meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <tarn/runtime.h>

#define ANY_THREAD   0u
#define WAIT_SECONDS 60u

/* How many threads of process `pid` are in this state: all, or this one. */
static inline unsigned count_threads(uint32_t pid, uint32_t tid, enum thread_state state)
{
    struct system_thread threads[16];
    unsigned found = 0;
    int64_t bytes;
    for (uint64_t index = 0; (bytes = sys_system_read(SYSTEM_THREADS, index, threads, sizeof threads)) > 0;) {
        uint64_t count = (uint64_t)bytes / sizeof threads[0];
        for (uint64_t i = 0; i < count; i++)
            found += threads[i].pid == pid && (tid == ANY_THREAD || threads[i].tid == tid) &&
                     threads[i].state == (uint32_t)state;
        index += count;
    }
    return found;
}

static inline bool thread_is(uint32_t pid, uint32_t tid, enum thread_state state)
{
    return count_threads(pid, tid, state) > 0;
}

/* Waits until thread_is. Returns false on a time-out. */
static inline bool wait_until(uint32_t pid, uint32_t tid, enum thread_state state)
{
    uint64_t end = deadline_after(WAIT_SECONDS * 1000000000ull);
    while (!thread_is(pid, tid, state)) {
        if (clock_monotonic_ns() > end)
            return false;
        sys_thread_sleep(deadline_after(1000000));
    }
    return true;
}
