/*
 * lwip_port.c - what lwIP expects from a port: checksum, random numbers, log, time.
 *
 * The sum of 16-bit words equals that of wider words after folding (RFC 1071), in either byte order.
 */
#include "socket.h"
#include <arch/cc.h>
#include <lwip/sys.h>
#include <lwip/timeouts.h>
#include <servers/lib/server.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tarn/runtime.h>

/* The sum of bytes at any alignment, not complemented, as lwIP's chksum.c specifies. */
uint16_t net_checksum(const void *bytes, int size)
{
    const char *at = bytes;
    uint64_t sum = 0, more = 0;
    /* Adds 32-bit halves to 64-bit accumulators: no overflow within 2^32 steps. */
    for (; size >= 32; size -= 32, at += 32) {
        uint64_t word[4];
        memcpy(word, at, 32);
        sum += (word[0] & 0xffffffff) + (word[0] >> 32) + (word[1] & 0xffffffff) + (word[1] >> 32);
        more += (word[2] & 0xffffffff) + (word[2] >> 32) + (word[3] & 0xffffffff) + (word[3] >> 32);
    }
    sum += more;
    for (; size >= 2; size -= 2, at += 2) {
        uint16_t word;
        memcpy(&word, at, 2);
        sum += word;
    }
    if (size > 0) {
        uint16_t word = 0;
        memcpy(&word, at, 1);
        sum += word;
    }
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)sum;
}

/* xorshift64*, seeded by the clock. For port and sequence numbers; not for secrets. */
uint32_t net_random(void)
{
    static uint64_t state;
    if (state == 0)
        state = clock_monotonic_ns() | 1;
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)(state * 0x2545f4914f6cdd1dull >> 32);
}

void net_log(const char *format, ...)
{
    char line[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    line[strcspn(line, "\n")] = 0;
    debug_printf("net: %s\n", line);
}

_Noreturn void net_fail(const char *what, const char *file, int line)
{
    panic("net: lwIP: %s (%s:%d)", what, file, line);
}

/* ---- time: a thread that signals the server when lwIP's next timer is due -------------------------- */

/* The deadline for which the thread waits. The server's thread sets it; `wakeup` wakes the timer thread if
 * the new deadline is earlier. Relaxed accesses: the system call on `wakeup` orders them. */
static _Atomic uint64_t next = TARN_FOREVER;
static cap_t wakeup, target;

static void *run_timer(void *woken)
{
    for (;;) {
        uint64_t deadline = __atomic_load_n(&next, __ATOMIC_RELAXED);
        if (sys_notification_wait((cap_t)(uintptr_t)woken, deadline) != -E_TIMEOUT)
            continue;
        /* This deadline is done, unless a new one has been set. */
        __atomic_compare_exchange_n(&next, &deadline, TARN_FOREVER, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
        sys_notification_signal(target, NET_BIT_TIMER);
    }
    return NULL;
}

void start_timer(cap_t notification)
{
    target = notification;
    wakeup = server_thread(sys_notification_create(), run_timer, "lwIP's timer");
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
