/*
 * counted.c - a program whose instructions can be counted in two ways, for tests/host/counters.
 *
 * On each CPU in turn a pinned thread works with a partner on the same CPU, which burns while this one
 * sleeps. At the begin and the end it logs as user_values: CPU, 0 or 1, the CPU's instruction counter, which
 * counts all threads, and the kernel's sum of its own. Then intervals, of which the second kind loops twice
 * as long.
 */
#include <semaphore.h>

#include <arch/counter.h>
#include <tests/guest/threads.h>
#include <tests/guest/trace_help.h>
#include <trace/event/counted_interval.h>

#define TRIES     200
#define ROUNDS    40
#define LOOP      100000u
#define INTERVALS 8

static sem_t turn[2];
static volatile int ends;

struct reading {
    uint32_t raw;
    uint64_t own[COUNTER_SLOTS];
    uint32_t duration; /* from before to after the system call, in instructions */
};

static __attribute__((noinline)) struct reading read_both(void)
{
    struct reading reading;
    reading.raw = arch_instructions();
    bool counts = counted_interval_read(reading.own);
    reading.duration = arch_instructions() - reading.raw;
    if (!counts)
        memset(reading.own, 0, sizeof reading.own);
    return reading;
}

/* An interrupt between the counter and the system call would be in one of the two only. */
static struct reading read_undisturbed(uint32_t duration)
{
    struct reading reading;
    int tries = 0;
    do
        reading = read_both();
    while (reading.duration != duration && ++tries < TRIES);
    if (tries == TRIES)
        printf("not ok 1 - no reading without an interrupt\n");
    return reading;
}

static uint32_t find_duration(void)
{
    uint32_t shortest = ~0u;
    for (int i = 0; i < TRIES; i++) {
        const uint32_t duration = read_both().duration;
        shortest = duration < shortest ? duration : shortest;
    }
    return shortest;
}

static __attribute__((noinline)) void loop(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        __asm__ volatile("" : "+r"(i)); /* or it would be unrolled */
}

static void *accompany(void *unused)
{
    for (;;) {
        sem_wait(&turn[1]);
        if (ends)
            return unused;
        loop(LOOP);
        sem_post(&turn[0]);
    }
}

static void *measure(void *argument)
{
    const uint64_t cpu = (uint64_t)(uintptr_t)argument;
    const uint32_t duration = find_duration();
    struct reading reading = read_undisturbed(duration);
    trace_user_values(cpu, 0, reading.raw, reading.own[0]);
    for (int i = 0; i < ROUNDS; i++) {
        sem_post(&turn[1]);
        sem_wait(&turn[0]);
        if (i % 4 == 0) {
            sem_post(&turn[1]);
            usleep(1000);
            sem_wait(&turn[0]);
        }
    }
    reading = read_undisturbed(duration);
    trace_user_values(cpu, 1, reading.raw, reading.own[0]);
    return NULL;
}

int main(void)
{
    for (uint32_t cpu = 0; cpu < arch_trace_info()->cpu_count; cpu++) {
        ends = 0;
        sem_init(&turn[0], 0, 0);
        sem_init(&turn[1], 0, 0);
        pthread_t partner, measurer;
        start_thread_on(&partner, (int)cpu, accompany, NULL);
        start_thread_on(&measurer, (int)cpu, measure, (void *)(uintptr_t)cpu);
        pthread_join(measurer, NULL);
        ends = 1;
        sem_post(&turn[1]);
        pthread_join(partner, NULL);
    }
    for (uint64_t i = 0; i < 2ul * INTERVALS; i++) {
        struct counted_interval interval;
        const volatile unsigned rounds = i % 2 ? 2 * LOOP : LOOP;
        counted_interval_begin(&interval, 1 + i % 2);
        loop(rounds);
        counted_interval_end(&interval);
    }
    return 0;
}
