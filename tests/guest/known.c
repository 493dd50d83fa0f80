/*
 * known.c - a program with known behaviour: tests/host/analyses_agree compares `tarn`'s results on its trace
 * with it. The constants are repeated there.
 *
 * Each part runs in a thread of its own, which logs a mark: number PART, text: name of the part.
 */
#include "run.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <arch/trace.h>
#include <tarn/abi.h>
#include <tarn/runtime.h>
#include <trace/user.h>

#define SLEEPS     20
#define SLEEP_US   5000
#define STOPWATCH  4711
#define CALLS      500 /* system calls that do nothing */
#define REFUSED    300 /* calls with a capability that does not exist */
#define PAGES      256
#define REQUESTS   400 /* each takes the server SPIN_US, and ... */
#define SLOW_EVERY 40  /* ... in every SLOW_EVERY-th the server sleeps for SLEEP_US */
#define SPIN_US    50
#define LABEL      4100
#define MOVES      50
#define BURN_US    60000
#define FAILING    3 /* processes that end with status 1 */
#define PAGE       4096

static void burn(uint64_t us)
{
    uint64_t end = arch_trace_clock() + arch_trace_info()->clock_hz / 1000 * us / 1000;
    while (arch_trace_clock() < end)
        ;
}

static void sleeps(void)
{
    for (int i = 0; i < SLEEPS; i++) {
        trace_user_stopwatch_start(STOPWATCH);
        usleep(SLEEP_US);
        trace_user_stopwatch_stop(STOPWATCH, 0);
    }
}

static void calls(void)
{
    for (int i = 0; i < CALLS; i++)
        sys_null();
    for (int i = 0; i < REFUSED; i++)
        sys_notification_signal(0xffff, 1);
}

static void faults(void)
{
    volatile char *memory =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    trace_user_values((uint64_t)(uintptr_t)memory, PAGES, 0, 0);
    for (unsigned i = 0; i < PAGES; i++)
        memory[i * PAGE] = 1;
}

static cap_t endpoint;

static void server(void)
{
    struct ipc_message message;
    int64_t error = ipc_receive(endpoint, &message);
    for (unsigned i = 1; !error; i++) {
        burn(SPIN_US);
        if (i % SLOW_EVERY == 0)
            usleep(SLEEP_US);
        message = (struct ipc_message){0};
        error = i < REQUESTS ? ipc_reply_receive(endpoint, &message) : (ipc_reply(&message), -1);
    }
}

static void client(void)
{
    for (unsigned i = 0; i < REQUESTS; i++)
        ipc_call(endpoint, &(struct ipc_message){.label = LABEL});
}

static void moves(void)
{
    for (unsigned i = 0; i < MOVES; i++)
        process_set_affinity(1u << i % 2);
}

/* Both on one CPU. The burner runs first: the other thread is woken before it begins. */
static cap_t begins;
static atomic_bool waits;

static void delayed(void)
{
    atomic_store(&waits, true);
    sys_notification_wait(begins, TARN_FOREVER);
}

static void burner(void)
{
    do
        usleep(SLEEP_US);
    while (!atomic_load(&waits));
    sys_notification_signal(begins, 1);
    burn(BURN_US);
}

static void children(void)
{
    for (int i = 0; i < FAILING; i++)
        run_program("false");
    const pid_t killed = start_program("sleep", "1000");
    kill(killed, SIGKILL);
    status_of(killed);
}

int pthread_setname_np(pthread_t thread, const char *name);

/* Gets its last name when it is not switched to any more. */
static void renamed(void)
{
    usleep(SLEEP_US);
    trace_user_text("before");
    pthread_setname_np(pthread_self(), "known_late");
    trace_user_text("after");
}

static const struct part {
    void (*run)(void);
    const char *name;
    bool on_first;     /* only on CPU 0 */
    bool goes_on;      /* the next part runs concurrently */
    int less_priority; /* relative to the default */
} parts[] = {
    {sleeps, "sleeps", 0, 0, 0},   {calls, "calls", 0, 0, 0},   {faults, "faults", 0, 0, 0},
    {server, "server", 0, 1, 0},   {client, "client", 0, 0, 0}, {moves, "moves", 0, 0, 0},
    {delayed, "delayed", 1, 1, 2}, {burner, "burner", 1, 0, 1}, {children, "children", 0, 0, 0},
    {renamed, "renamed", 0, 0, 0},
};
enum { PARTS = sizeof parts / sizeof parts[0] };

static void *run_part(void *argument)
{
    const struct part *part = argument;
    trace_user_mark((uint64_t)(part - parts), part->name);
    part->run();
    return NULL;
}

static void start(pthread_t *thread, const struct part *part)
{
    struct sched_param priority = {.sched_priority = (int)program_startup()->priority - part->less_priority};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setschedparam(&attributes, &priority);
    if (part->on_first)
        pthread_attr_setaffinity_mask_np(&attributes, 1);
    if (pthread_create(thread, &attributes, run_part, (void *)part))
        exit(1);
}

int main(void)
{
    pthread_t threads[PARTS];
    int64_t slots[] = {sys_endpoint_create(), sys_notification_create()};
    if (slots[0] < 0 || slots[1] < 0)
        return 1;
    endpoint = (cap_t)slots[0];
    begins = (cap_t)slots[1];
    for (unsigned i = 0, first = 0; i < PARTS; i++) {
        start(&threads[i], &parts[i]);
        for (; !parts[i].goes_on && first <= i; first++)
            pthread_join(threads[first], NULL);
    }
    printf("known: done\n");
    return 0;
}
