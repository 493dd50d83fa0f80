/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * feedback.c - the boot option feedback=all: callers are put beside their server, and threads sleep for a
 * lock at once, exactly if the tables say so; garbage in the tables does no harm. Without the option, nothing
 * is counted (feedback_off).
 *
 * Servers and holders of locks sleep while others wait, so that there is a queue on every machine.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tarn/ipc.h>
#include <tests/guest/tables.h>
#include <tests/guest/trace_help.h>
#include <trace/event/schemas.h>
#include <trace/events.h>
#include <trace/tables.h>

#define CALLERS 6u
#define CALLS   60u
#define MS      1000u /* us */

/* ---- tables ---------------------------------------------------------------------------------------- */

union row {
    uint64_t words[TRACE_TABLE_ROW_WORDS_MAX];
    struct trace_partners_row partners;
    struct trace_lock_spins_row spins;
};

/* The sums of all rows with this server. */
static struct trace_partners_row sum_partners(uint32_t server)
{
    struct trace_partners_row sum = {0};
    struct trace_table_walk walk = walk_table("partners");
    for (union row row; trace_table_next(&walk, row.words);) {
        if (row.partners.server != server)
            continue;
        sum.replies += row.partners.replies;
        sum.brief += row.partners.brief;
        sum.beside += row.partners.beside;
        sum.elsewhere += row.partners.elsewhere;
        sum.elsewhere_delay += row.partners.elsewhere_delay;
    }
    return sum;
}

static struct trace_lock_spins_row find_spins(const void *lock)
{
    struct trace_table_walk walk = walk_table("lock_spins");
    for (union row row; trace_table_next(&walk, row.words);)
        if (row.spins.lock == (uint64_t)lock && row.spins.pid == arch_thread_block()->pid)
            return row.spins;
    return (struct trace_lock_spins_row){0};
}

/* ---- placement ------------------------------------------------------------------------------------- */

int pthread_setschedprio(pthread_t thread, int priority); /* newlib does not declare it */

static cap_t endpoint;
static uint32_t server_tid;
static uint64_t work_ns; /* of a caller between two calls */
static int caller_priority;
static _Atomic unsigned failures, done;

static void work(uint64_t ns)
{
    const uint64_t end = clock_monotonic_ns() + ns;
    while (clock_monotonic_ns() < end)
        ;
}

static void *serve(void *argument)
{
    struct ipc_message message;
    (void)argument;
    server_tid = arch_thread_block()->tid;
    int64_t error = ipc_receive(endpoint, &message);
    for (unsigned i = 1; !error && i < CALLERS * CALLS; i++) {
        usleep(MS); /* the others come meanwhile */
        message = (struct ipc_message){.label = message.label + 1};
        error = ipc_reply_receive(endpoint, &message);
    }
    message = (struct ipc_message){.label = message.label + 1};
    ipc_reply(&message);
    failures += error != 0;
    return NULL;
}

static void *call(void *argument)
{
    failures += pthread_setschedprio(pthread_self(), caller_priority) != 0;
    for (unsigned i = 0; i < CALLS; i++) {
        struct ipc_message message = {.label = 0x1000 + i};
        failures += ipc_call(endpoint, &message) != 0 || message.label != 0x1000 + i + 1;
        work(work_ns);
    }
    done++;
    return argument;
}

/* Returns the sums of this server's rows. */
static struct trace_partners_row run_server(uint64_t ns, int priority)
{
    pthread_t server, caller[CALLERS];
    endpoint = (cap_t)sys_endpoint_create();
    work_ns = ns;
    caller_priority = priority;
    failures = done = 0;
    pthread_create(&server, NULL, serve, NULL);
    for (unsigned i = 0; i < CALLERS; i++)
        pthread_create(&caller[i], NULL, call, NULL);
    for (unsigned i = 0; i < CALLERS; i++)
        pthread_join(caller[i], NULL);
    pthread_join(server, NULL);
    return sum_partners(server_tid);
}

static void test_placement(bool is_on)
{
    const struct trace_partners_row brief = run_server(0, TARN_PRIO_USER),
                                    busy = run_server(4000ull * MS, TARN_PRIO_USER),
                                    below = run_server(0, TARN_PRIO_USER - 1);
    check(!failures && done == CALLERS, "each call has its reply");
    printf("# brief: %llu replies, %llu brief, %llu beside, %llu elsewhere\n",
           (unsigned long long)brief.replies, (unsigned long long)brief.brief,
           (unsigned long long)brief.beside, (unsigned long long)brief.elsewhere);
    printf("# callers of a lower priority: %llu replies, %llu beside\n", (unsigned long long)below.replies,
           (unsigned long long)below.beside);
    printf("# busy: %llu replies, %llu brief, %llu beside, %llu elsewhere\n",
           (unsigned long long)busy.replies, (unsigned long long)busy.brief, (unsigned long long)busy.beside,
           (unsigned long long)busy.elsewhere);
    if (!is_on) {
        check(!brief.replies && !busy.replies && !below.replies, "off, no reply is counted");
        return;
    }
    check(brief.replies > CALLERS * CALLS / 4 && brief.replies <= CALLERS * CALLS, "replies are counted");
    check(brief.beside > 0 && brief.elsewhere > 0, "callers that run briefly are put beside their server");
    check(brief.beside + brief.elsewhere <= brief.replies && brief.brief <= brief.replies,
          "no reply is counted twice");
    check(busy.replies > 0 && busy.beside * 4 < busy.replies, "callers that run for long are not");
    check(below.replies > 0 && below.beside == 0,
          "nor those that would wait there below their server's priority");
}

/* ---- locks ----------------------------------------------------------------------------------------- */

#define LOCKERS 4u
#define LOCKS   64u

static pthread_mutex_t slow_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned updates;

static void *hold_long(void *argument)
{
    for (unsigned i = 0; i < LOCKS; i++) {
        pthread_mutex_lock(&slow_lock);
        updates++;
        usleep(5 * MS); /* the others wait */
        pthread_mutex_unlock(&slow_lock);
        usleep(MS); /* or it would take the lock again before a woken thread runs */
    }
    return argument;
}

static void contend(void)
{
    pthread_t thread[LOCKERS];
    for (unsigned i = 0; i < LOCKERS; i++)
        pthread_create(&thread[i], NULL, hold_long, NULL);
    for (unsigned i = 0; i < LOCKERS; i++)
        pthread_join(thread[i], NULL);
}

static void test_spins(bool is_on)
{
    contend();
    const struct trace_lock_spins_row row = find_spins(&slow_lock);
    printf("# %llu waits, %llu spun, %llu holds, %llu wakes, %llu decisions, %llu to sleep\n",
           (unsigned long long)row.waits, (unsigned long long)row.spun, (unsigned long long)row.holds,
           (unsigned long long)row.wakes, (unsigned long long)row.decisions, (unsigned long long)row.sleeps);
    check(updates == LOCKERS * LOCKS, "the lock excludes");
    if (!is_on) {
        check(!row.decisions && !row.waits, "off, no wait is measured");
        return;
    }
    check(row.waits > 2 && row.holds > 2 && row.wakes > 2, "waits, holds and wake-ups are measured");
    check(row.sleeps > 0 && row.sleeps < row.decisions,
          "a thread sleeps at once, once it is known that it pays");
    check(row.held / row.holds > 4000ull * MS * (arch_trace_info()->clock_hz / 1000000) / 1000,
          "the hold times are those of the lock");
}

/* ---- garbage --------------------------------------------------------------------------------------- */

static void overwrite(const char *name, uint64_t value)
{
    struct trace_table_walk walk = walk_table(name);
    const struct trace_table_info *table = walk.table;
    for (uint32_t cpu = 0; cpu < walk.cpu_count; cpu++) {
        uint64_t *head = (uint64_t *)((uintptr_t)table_ring(cpu) + TRACE_TABLES_OFFSET + table->offset);
        for (uint32_t i = 0; i < table->rows * table->row_words; i++)
            head[TRACE_TABLE_HEAD_WORDS + i] = value ? value * (i + 1) : 0;
    }
}

static void test_garbage(void)
{
    static const uint64_t values[] = {~0ull, 0x8000000000000000ull, 0x9e3779b97f4a7c15ull, 1};
    for (unsigned i = 0; i < sizeof values / sizeof values[0]; i++) {
        overwrite("partners", values[i]);
        overwrite("lock_spins", values[i]);
        updates = 0;
        run_server(0, TARN_PRIO_USER);
        contend();
        check(!failures && done == CALLERS && updates == LOCKERS * LOCKS,
              "with garbage in the tables, calls and locks work");
    }
}

int main(void)
{
    const bool is_on = arch_trace_info()->lock_feedback != 0;
    test_placement(is_on && arch_trace_info()->cpu_count > 1);
    test_spins(is_on);
    if (is_on)
        test_garbage();
    return finish_tests();
}
