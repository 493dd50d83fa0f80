/*
 * timer.c - lwIP's time: a thread that signals the server when lwIP's next timer is due.
 *
 * `next` is the deadline for which the thread waits. The server's thread sets it; `wakeup` wakes the timer
 * thread if the new deadline is earlier than the one it waits for.
 */
#include "stack.h"
#include <lwip/sys.h>
#include <lwip/timeouts.h>
#include <pthread.h>
#include <tarn/runtime.h>

static _Atomic uint64_t next = TARN_FOREVER; /* relaxed accesses: the system call on `wakeup` orders them */
static cap_t wakeup, target;

static void *run_timer(void *argument)
{
    for (;;) {
        uint64_t deadline = __atomic_load_n(&next, __ATOMIC_RELAXED);
        if (sys_notification_wait(wakeup, deadline) != -E_TIMEOUT)
            continue;
        /* This deadline is done, unless a new one has been set. */
        __atomic_compare_exchange_n(&next, &deadline, TARN_FOREVER, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
        sys_notification_signal(target, NET_BIT_TIMER);
    }
    return NULL;
}

bool start_timer(cap_t notification)
{
    int64_t slot = sys_notification_create();
    pthread_t thread;
    if (slot < 0)
        return false;
    wakeup = (cap_t)slot;
    target = notification;
    return pthread_create(&thread, NULL, run_timer, NULL) == 0;
}

void arm_timer(uint32_t milliseconds)
{
    uint64_t deadline = milliseconds == SYS_TIMEOUTS_SLEEPTIME_INFINITE
                            ? TARN_FOREVER
                            : deadline_after(milliseconds * 1000000ull);
    uint64_t armed = __atomic_load_n(&next, __ATOMIC_RELAXED);
    if (deadline >= armed)
        return; /* it wakes early enough; an extra wake-up is harmless */
    __atomic_store_n(&next, deadline, __ATOMIC_RELAXED);
    sys_notification_signal(wakeup, 1);
}

u32_t sys_now(void)
{
    return (u32_t)(clock_monotonic_ns() / 1000000);
}
