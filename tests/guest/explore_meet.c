/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/guest/explore_meet.c - a workload for `tarn explore`: threads that meet at the same kernel objects.
 *
 * Signals that are waited for, one after the other: one that is lost stops its pair for ever. A server that
 * has both calls and signals of its bound notification to serve. Objects are made, used and closed
 * through slots that all threads share: a user may find one closed at any moment.
 */
#include "leak.h"
#include "start.h"
#include "tap.h"

#include <stdlib.h>
#include <tarn/ipc.h>

#define ROUNDS       150
#define THREADS      4
#define OPERATIONS   400
#define PAGE         4096u
#define SOON         40000u /* ns */
#define SHARED_SLOTS 4u
#define FIRST_SHARED 400u

static cap_t must(int64_t result)
{
    if (result < 0) {
        printf("Bail out! %s\n", tarn_error_text((int)result));
        exit(1);
    }
    return (cap_t)result;
}

static void in_threads(unsigned count, void *(*run)(void *))
{
    pthread_t threads[8];
    for (unsigned i = 0; i < count; i++)
        start_thread(&threads[i], run, (void *)(uintptr_t)i);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* ---- signals --------------------------------------------------------------------------------------------
 */

static cap_t wakeups[THREADS];

/* 0 and 1 ring each other in turn, and 2 and 3. */
static void *ring(void *argument)
{
    unsigned self = (unsigned)(uintptr_t)argument;
    for (int i = 0; i < ROUNDS; i++) {
        if (self % 2)
            sys_notification_wait(wakeups[self], TARN_FOREVER);
        sys_notification_signal(wakeups[self ^ 1], 1);
        if (self % 2 == 0)
            sys_notification_wait(wakeups[self], TARN_FOREVER);
    }
    return NULL;
}

/* ---- a server with a bound notification -------------------------------------------------------------------
 */

static cap_t service, bound, served;
static uint32_t wrong;

static void *serve(void *unused)
{
    struct ipc_message message;
    must(sys_notification_bind(bound));
    int64_t error = ipc_receive(service, &message);
    for (int left = 2 * ROUNDS; left; left--) {
        bool signalled = !error && message.label == IPC_LABEL_NOTIFICATION;
        if (error)
            wrong++;
        if (signalled)
            sys_notification_signal(served, 1);
        message.label++;
        if (left == 1 && !signalled)
            ipc_reply(&message);
        else if (left > 1)
            error = signalled ? ipc_receive(service, &message) : ipc_reply_receive(service, &message);
    }
    return unused;
}

/* One call and one signal come at the same time, and both are served before the next: nothing else comes
 * that would let the server look again. */
static void call_often(void)
{
    for (uint64_t i = 0; i < ROUNDS; i++) {
        struct ipc_message message = {.label = i};
        if (ipc_call(service, &message) || message.label != i + 1)
            __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
        sys_notification_signal(wakeups[1], 1);
        sys_notification_wait(wakeups[0], TARN_FOREVER);
    }
}

static void signal_often(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        sys_notification_signal(bound, 1);
        sys_notification_wait(served, TARN_FOREVER);
        sys_notification_wait(wakeups[1], TARN_FOREVER);
        sys_notification_signal(wakeups[0], 1);
    }
}

static void *be_one_of_three(void *argument)
{
    if (!argument)
        serve(NULL);
    else if (argument == (void *)1)
        call_often();
    else
        signal_often();
    return NULL;
}

/* ---- objects ----------------------------------------------------------------------------------------------
 */

static uint64_t next(uint64_t *random)
{
    *random = *random * 6364136223846793005ull + 1442695040888963407ull;
    return *random >> 33;
}

static void make(uint64_t kind, cap_t slot)
{
    static const char name[16] = "met";
    int64_t made = kind == 0   ? sys_endpoint_create()
                   : kind == 1 ? sys_notification_create()
                   : kind == 2 ? sys_memory_create(PAGE)
                               : sys_space_create(name);
    if (made < 0)
        return;
    sys_cap_copy(SLOT_SPACE, (cap_t)made, slot, RIGHT_ALL, 0);
    sys_cap_close((cap_t)made);
}

static void map_and_unmap(cap_t space, cap_t memory)
{
    int64_t at = sys_space_map(space, memory, 0, PAGE, 0, MAP_READ | MAP_WRITE);
    if (at <= 0)
        return;
    if (space == SLOT_SPACE)
        *(volatile uint64_t *)at = 1;
    sys_space_unmap(space, (uint64_t)at, PAGE);
}

/* Slot i holds objects of kind i, or none. */
static void use(uint64_t kind, cap_t slot, uint64_t way)
{
    struct ipc_message message = {.label = way};
    if (kind == 0 && way % 2)
        ipc_call_deadline(slot, &message, deadline_after(SOON));
    else if (kind == 0)
        ipc_receive_deadline(slot, &message, deadline_after(SOON));
    else if (kind == 1 && way % 2)
        sys_notification_signal(slot, 1);
    else if (kind == 1)
        sys_notification_wait(slot, deadline_after(SOON));
    else if (kind == 2)
        map_and_unmap(SLOT_SPACE, slot);
    else if (way % 4)
        map_and_unmap(slot, FIRST_SHARED + 2);
    else
        sys_space_kill(slot, 1);
}

/* Once all are there: a closed slot is anybody's, also for a new thread's capability. */
static pthread_barrier_t all_there;

static void *share(void *argument)
{
    uint64_t random = (uintptr_t)argument + 1;
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < OPERATIONS; i++) {
        uint64_t kind = next(&random) % SHARED_SLOTS;
        cap_t slot = FIRST_SHARED + (cap_t)kind;
        switch (next(&random) % 4) {
        case 0:
            make(kind, slot);
            break;
        case 1:
            sys_cap_close(slot);
            break;
        default:
            use(kind, slot, next(&random));
        }
    }
    return NULL;
}

int main(void)
{
    struct system_stats before = first_stats();
    for (int i = 0; i < THREADS; i++)
        wakeups[i] = must(sys_notification_create());
    in_threads(THREADS, ring);
    check(true, "no signal is lost");
    service = must(sys_endpoint_create());
    bound = must(sys_notification_create());
    served = must(sys_notification_create());
    in_threads(3, be_one_of_three);
    check(!wrong, "a server replies to calls and signals");
    pthread_barrier_init(&all_there, NULL, THREADS);
    in_threads(THREADS, share);
    pthread_barrier_destroy(&all_there);
    for (cap_t slot = FIRST_SHARED; slot < FIRST_SHARED + SHARED_SLOTS; slot++)
        sys_cap_close(slot);
    for (int i = 0; i < THREADS; i++)
        sys_cap_close(wakeups[i]);
    sys_cap_close(service);
    sys_cap_close(bound);
    sys_cap_close(served);
    check(same_stats_soon(&before), "objects that all close at the same time come back once");
    return finish_tests();
}
