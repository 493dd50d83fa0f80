/*
 * stall.c - a CPU that hangs with interrupts disabled while others work.
 *
 *     stall [SECONDS]     needs the boot option debug.hang=1 and the machine capability
 *
 * Threads read sensors, one each: a system call, some arithmetic, a pause. Each thread runs on a CPU of its
 * own, so that none has its timer on the CPU that hangs and sleeps there for ever. After a while one sensor
 * breaks: THE KERNEL WAITS FOR IT WITH INTERRUPTS DISABLED, for SECONDS (60), and that CPU does nothing else.
 * The kernel has no such driver; the debugging call machine_debug simulates it. docs/debugging.md shows how
 * to find the cause.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tarn/runtime.h>
#include <trace/user.h>

/* On four CPUs one remains that takes interrupts, for the debugger's keys and the watchdog. */
#define SENSORS  3u
#define READINGS 500u /* before one sensor breaks */
#define BEHIND   50u  /* readings of the other threads after that; then they end, and so are affected, too */
#define BROKEN   1u
#define PAUSE_NS 2000000

static unsigned seconds = 60;

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
        fprintf(stderr, "stall: needs the boot option debug.hang=1 and the machine capability\n");
        return 1;
    }
    for (unsigned i = 0; i < SENSORS; i++) {
        if (start_sensor(&thread[i], i)) {
            fprintf(stderr, "stall: cannot create the thread of sensor %u\n", i);
            return 1;
        }
    }
    /* The broken sensor's thread first: this thread would continue on the CPU of the thread that wakes it,
     * and only one CPU is left. */
    for (unsigned i = 0; i < SENSORS; i++)
        pthread_join(thread[(BROKEN + i) % SENSORS], NULL);
    puts("stall: all sensors were read");
    return 0;
}
