/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/net/timer.c - lwIP's time: a thread that signals the server when its next timer is due.
 *
 * `next` is the deadline of the thread's wait. Only the server's thread writes it; the bell wakes the timer
 * thread when the new deadline lies before the one it sleeps for.
 */
#include "timer.h"
#include "stack.h"
#include <lwip/sys.h>
#include <lwip/timeouts.h>
#include <pthread.h>
#include <tarn/runtime.h>

static _Atomic uint64_t next = TARN_FOREVER; /* relaxed both ways: the bell's system call orders it */
static cap_t bell, target;

static void *run_timer(void *argument)
{
    for (;;) {
        uint64_t deadline = __atomic_load_n(&next, __ATOMIC_RELAXED);
        if (sys_notification_wait(bell, deadline) != -E_TIMEOUT)
            continue;
        /* Done with this deadline, unless there is a new one already. */
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
    bell = (cap_t)slot;
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
        return; /* it wakes early enough; a wake-up too many is harmless */
    __atomic_store_n(&next, deadline, __ATOMIC_RELAXED);
    sys_notification_signal(bell, 1);
}

u32_t sys_now(void)
{
    return (u32_t)(clock_monotonic_ns() / 1000000);
}
