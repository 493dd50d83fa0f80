/* time.c - clocks and sleeping. */
#include "call.h"
#include "deadline.h"

#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SECOND 1000000000ll

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / NS_PER_SECOND, .tv_nsec = ns % NS_PER_SECOND};
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) {
        errno = EINVAL;
        return -1;
    }
    *time = timespec_of(clock == CLOCK_REALTIME ? clock_realtime_ns() : (int64_t)clock_monotonic_ns());
    return 0;
}

int clock_getres(clockid_t clock, struct timespec *resolution)
{
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) {
        errno = EINVAL;
        return -1;
    }
    if (resolution)
        *resolution = timespec_of(1);
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    int64_t ns = clock_realtime_ns();
    time->tv_sec = ns / NS_PER_SECOND;
    time->tv_usec = ns % NS_PER_SECOND / 1000;
    return 0;
}

/* Returns the time since boot, because CPU time per process is not counted here. */
clock_t times(struct tms *out)
{
    clock_t ticks = (clock_t)(clock_monotonic_ns() / (uint64_t)(NS_PER_SECOND / CLOCKS_PER_SEC));
    *out = (struct tms){.tms_utime = ticks};
    return ticks;
}

/* Returns 0, or -EINTR if the thread was cancelled. */
static int64_t sleep_until(uint64_t deadline)
{
    int64_t result = sys_thread_sleep(deadline);
    return result == -E_CANCELED ? -EINTR : 0;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
    enter_call(TRACE_LIBC_SLEEP, (uint64_t)time->tv_sec, (uint64_t)time->tv_nsec);
    if (time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= NS_PER_SECOND)
        return (int)leave_call(TRACE_LIBC_SLEEP, -EINVAL);
    uint64_t deadline = deadline_after((uint64_t)time->tv_sec * NS_PER_SECOND + (uint64_t)time->tv_nsec);
    int64_t result = sleep_until(deadline);
    uint64_t now = clock_monotonic_ns();
    if (result < 0 && left)
        *left = timespec_of(now < deadline ? (int64_t)(deadline - now) : 0);
    return (int)leave_call(TRACE_LIBC_SLEEP, result);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
    if (!(flags & TIMER_ABSTIME))
        return nanosleep(time, left) < 0 ? errno : 0;
    uint64_t deadline;
    enter_call(TRACE_LIBC_SLEEP, (uint64_t)time->tv_sec, (uint64_t)time->tv_nsec);
    int error = deadline_of(clock, time, &deadline);
    return (int)-leave_plain(TRACE_LIBC_SLEEP, error ? -error : sleep_until(deadline));
}

int usleep(useconds_t microseconds)
{
    return (int)LIBC_CALL(USLEEP, microseconds, 0, sleep_until(deadline_after(microseconds * 1000ull)));
}

unsigned sleep(unsigned seconds)
{
    struct timespec left, time = {.tv_sec = seconds};
    return nanosleep(&time, &left) < 0 ? (unsigned)left.tv_sec : 0;
}
