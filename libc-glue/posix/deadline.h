/* deadline.h - converts POSIX's absolute times to the kernel's deadlines. */
#pragma once

#include <errno.h>
#include <tarn/runtime.h>
#include <time.h>

/* Returns 0 or EINVAL. A time before boot counts as passed. */
static inline int deadline_of(clockid_t clock, const struct timespec *until, uint64_t *deadline)
{
    if (until->tv_nsec < 0 || until->tv_nsec >= 1000000000)
        return EINVAL;
    int64_t ns;
    if (__builtin_mul_overflow((int64_t)until->tv_sec, 1000000000ll, &ns) ||
        __builtin_add_overflow(ns, (int64_t)until->tv_nsec, &ns)) {
        *deadline = until->tv_sec < 0 ? 0 : TARN_FOREVER;
        return 0;
    }
    if (clock == CLOCK_REALTIME)
        ns -= clock_realtime_offset();
    *deadline = ns > 0 ? (uint64_t)ns : 0;
    return 0;
}
