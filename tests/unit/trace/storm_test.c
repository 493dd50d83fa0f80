/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/trace/storm_test.c - the logging path in a process of Linux, under a storm of interruptions.
 *
 * More threads than CPUs log numbers. A timer interrupts each of them all the time, and its signal's handler
 * logs numbers of its own; a thread moves them from CPU to CPU. Then every number must be in the rings once,
 * in order, with its payload. Built twice: with restartable sequences and with compare-and-swap
 * (tests/peers/rings.h).
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <tests/peers/rings.h>
#include <tests/tap.h>
#include <time.h>
#include <trace/user.h>
#include <unistd.h>

#define WRITERS     4u
#define PERIOD_NS   20000 /* of the signals to each thread */
#define NUMBERS_MAX (1u << 22)
#define SERIES      (2 * WRITERS) /* of a writer, and of its signal's handler */
#define LARGE       (64u << 10), 4096u
#define SMALL       TRACE_BUFFER_BYTES_MIN, 128u
#ifdef TRACE_CAS
#define MAY_TEAR true /* a writer that is off its CPU for a lap leaves words that are not written */
#else
#define MAY_TEAR false
#endif

/* What a series logs: its number n in event n % 3. */
#define NUMBER(series, n) ((uint64_t)(series) << 32 | (n))

static uint32_t logged[SERIES], seen[SERIES];
static __thread uint32_t own_series;
static pid_t tids[WRITERS];
static volatile bool is_over;
static pthread_barrier_t start;

/* Events log its end, from a place that differs. */
static const char text[] = "a text, of which less and less is logged";

static void log_next(uint32_t series)
{
    const uint32_t n = logged[series]++;
    const uint64_t number = NUMBER(series, n);
    if (n % 3 == 0)
        trace_user_stopwatch_start(number);
    else if (n % 3 == 1)
        trace_user_values(number, ~number, number * 3, 7);
    else
        trace_user_mark(number, text + n % 32);
}

static void on_signal(int number)
{
    log_next(own_series + WRITERS);
}

static timer_t start_timer(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    event._sigev_un._tid = gettid();
    const struct itimerspec period = {{0, PERIOD_NS}, {0, PERIOD_NS}};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &period, NULL)) {
        perror("timer");
        exit(2);
    }
    return timer;
}

static void *write_events(void *series)
{
    own_series = (uint32_t)(uintptr_t)series;
    tids[own_series] = gettid();
    pthread_barrier_wait(&start);
    timer_t timer = start_timer();
    while (!is_over && logged[own_series] < NUMBERS_MAX)
        log_next(own_series);
    timer_delete(timer);
    return NULL;
}

static void move(uint32_t writer, uint32_t cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(tids[writer], sizeof(set), &set); /* a CPU may be forbidden: then it stays */
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void storm(double duration)
{
    pthread_t threads[WRITERS];
    memset(logged, 0, sizeof(logged));
    is_over = false;
    for (uintptr_t i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, write_events, (void *)i);
    pthread_barrier_wait(&start);
    const double end = seconds() + duration;
    for (uint32_t turn = 0; seconds() < end; turn++) {
        move(turn % WRITERS, (turn / 7 + turn) % host_cpus());
        usleep(50);
    }
    is_over = true;
    for (uint32_t i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
}

/* ---- checking ------------------------------------------------------------------------------------- */

static struct findings {
    uint64_t disorder, garbled, foreign;
    uint64_t last[TRACE_CPUS_MAX][SERIES]; /* number + 1 */
} found;
static uint8_t *marks[SERIES];

static bool has_payload(const struct trace_header *event, uint32_t n, uint64_t number)
{
    const uint64_t *words = (const uint64_t *)(event + 1);
    if (event->id == TRACE_ID(TRACE_CLASS_USER, 3))
        return n % 3 == 0;
    if (event->id == TRACE_ID(TRACE_CLASS_USER, 5))
        return n % 3 == 1 && words[1] == ~number && words[2] == number * 3 && words[3] == 7;
    return n % 3 == 2 && !strcmp((const char *)(words + 1), text + n % 32);
}

static void check_event(uint32_t cpu, const struct trace_header *event)
{
    const uint64_t number = *(const uint64_t *)(event + 1);
    const uint64_t series = number >> 32;
    const uint32_t n = (uint32_t)number;
    if (event->id >> 16 != TRACE_CLASS_USER) {
        found.foreign += event->id >> 16 != TRACE_CLASS_TRACE;
        return;
    }
    if (series >= SERIES || n >= logged[series] || !has_payload(event, n, number)) {
        found.garbled++;
        return;
    }
    found.disorder += n < found.last[cpu][series];
    found.last[cpu][series] = (uint64_t)n + 1;
    found.garbled += marks[series][n]++;
    seen[series]++;
}

static void check_packet(uint32_t cpu, const struct trace_packet *packet, void *context)
{
    found.disorder += !host_packet_walk(cpu, packet, check_event);
}

static void read_all(const char *what)
{
    memset(&found, 0, sizeof(found));
    memset(seen, 0, sizeof(seen));
    for (uint32_t i = 0; i < SERIES; i++)
        marks[i] = calloc(NUMBERS_MAX, 1);
    const bool are_whole = host_rings_read(check_packet, NULL);
    check(are_whole || (MAY_TEAR && host_torn()), "%s: every packet is whole%s", what,
          are_whole ? "" : ", or a writer was late");
    check(!found.garbled && !found.foreign, "%s: every payload is right, none is there twice (%lu, %lu)",
          what, found.garbled, found.foreign);
    check(!found.disorder, "%s: numbers and times are in order (%lu)", what, found.disorder);
    for (uint32_t i = 0; i < SERIES; i++)
        free(marks[i]);
}

static uint64_t sum(const uint32_t *counts, uint32_t first, uint32_t end)
{
    uint64_t result = 0;
    for (uint32_t i = first; i < end; i++)
        result += counts[i];
    return result;
}

static bool start_rings(uint64_t buffer_bytes, uint64_t buffer_count, enum trace_mode mode)
{
    const char *problem = host_rings_open(buffer_bytes, buffer_count, mode);
    check(!problem, "rings: %s", problem ? problem : "there");
    return !problem;
}

int main(void)
{
    signal(SIGUSR1, on_signal);
    pthread_barrier_init(&start, NULL, WRITERS + 1);
    if (start_rings(LARGE, TRACE_MODE_STREAM)) {
        storm(0.15);
        read_all("everything kept");
        check(!memcmp(seen, logged, sizeof(seen)) && !host_discarded(),
              "every event of %lu, and of %lu in handlers, is there", sum(logged, 0, WRITERS),
              sum(logged, WRITERS, SERIES));
        check(sum(logged, WRITERS, SERIES) > 1000, "the storm came");
    }
    if (start_rings(SMALL, TRACE_MODE_FLIGHT)) {
        storm(0.5);
        read_all("overwritten");
        check(sum(seen, 0, SERIES) > 500 && !host_discarded() && (MAY_TEAR || !host_torn()),
              "the last %lu events of %lu are there", sum(seen, 0, SERIES), sum(logged, 0, SERIES));
    }
    const uint64_t restarts = __atomic_load_n(&host_restarts, __ATOMIC_RELAXED);
    check(MAY_TEAR || restarts > 100, "%lu restarts of blocks", restarts);
    return finish_tests();
}
