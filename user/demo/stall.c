/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user/demo/stall.c - a processor that hangs with interrupts off, in the middle of other work.
 *
 *     stall [SECONDS]     needs the boot option debug.hang=1 and the right to the machine
 *
 * Threads read sensors, one each: a system call, a little arithmetic, a pause. Each is on a processor of its
 * own, so that none has its timer on the one that hangs, and sleeps there for ever. One sensor breaks after
 * a while: THE KERNEL WAITS FOR IT WITH INTERRUPTS OFF, for so many seconds (60), and that processor does
 * nothing else. The kernel has no such driver: what plays its part is the debugging call machine_debug.
 * docs/debugging.md shows how to find out.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tarn/runtime.h>
#include <trace/user.h>

/* Of four processors one is left that takes interrupts: for the debugger's keys, for the watchdog. */
#define SENSORS  3u
#define READINGS 500u /* before one breaks */
#define BEHIND   50u  /* those that the others take then: they end soon, and are drawn in */
#define BROKEN   1u
#define PAUSE_NS 2000000

static unsigned seconds = 60;

/* What the sensor says, in the end. */
static uint64_t read_sensor(unsigned sensor, unsigned reading)
{
    bool broken = sensor == BROKEN && reading == READINGS;
    if (broken)
        trace_user_text("sensor 1 takes its time");
    sys_machine_debug(SLOT_MACHINE, MACHINE_DEBUG_HANG, broken ? seconds * 1000 : 0);
    return clock_monotonic_ns() % 100;
}

static void *watch_sensor(void *argument)
{
    unsigned sensor = (unsigned)(uintptr_t)argument;
    uint64_t mean = 0;
    for (unsigned reading = 1; reading <= READINGS + BEHIND; reading++) {
        mean = (mean * 7 + read_sensor(sensor, reading) * 1000) / 8;
        if (reading % 100 == 0)
            trace_user_values(sensor, reading, mean, 0);
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    return NULL;
}

static int start_sensor(pthread_t *thread, unsigned sensor)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_mask_np(&attributes, 1ull << (sensor + 1) % arch_trace_info()->cpu_count);
    return pthread_create(thread, &attributes, watch_sensor, (void *)(uintptr_t)sensor);
}

int main(int argc, char **argv)
{
    pthread_t thread[SENSORS];
    if (argc == 2)
        seconds = (unsigned)atoi(argv[1]);
    if (argc > 2 || seconds < 1) {
        fprintf(stderr, "usage: stall [SECONDS]\n");
        return 2;
    }
    if (!slot_is_filled(SLOT_MACHINE) || sys_machine_debug(SLOT_MACHINE, MACHINE_DEBUG_HANG, 0)) {
        fprintf(stderr, "stall: this takes the boot option debug.hang=1, and the right to the machine\n");
        return 1;
    }
    for (unsigned i = 0; i < SENSORS; i++) {
        if (start_sensor(&thread[i], i)) {
            fprintf(stderr, "stall: no memory for sensor %u\n", i);
            return 1;
        }
    }
    /* The broken one first: woken by another this thread would go on, on the processor that is left. */
    for (unsigned i = 0; i < SENSORS; i++)
        pthread_join(thread[(BROKEN + i) % SENSORS], NULL);
    puts("stall: all sensors were read");
    return 0;
}
