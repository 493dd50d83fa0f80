/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel_reply.c - late and second replies do not affect the caller.
 *
 * This program is the server. A thread of a child calls it; the call ends (it times out, is cancelled, or
 * gets a reply), and the thread then sleeps, or computes and is suspended. Then the reply is sent, or sent
 * again, in every possible way. The server must get E_DEAD, and the thread must stay as it is, with its
 * registers unchanged. The same is tested for faults. No step depends on timing: each waits for the previous
 * one.
 */
#include "child.h"
#include "tap.h"
#include "wait.h"

#include <stdlib.h>

#define SHARED   0x0000000900000000ull
#define FAULT_AT 0x0000000a00000000ull
enum { SLOT_ASKED = 16 };
enum { QUESTION = 1, DONE, WAKE, GOOD_ANSWER, BAD_ANSWER };

enum end { TIMED_OUT, CANCELED, ANSWERED, ENDS };         /* how the call ends */
enum later { SLEEPS, COMPUTES, LATERS };                  /* what the thread does afterwards */
enum way { REPLY, REPLY_RECEIVE, REPLY_TO, CLOSE, WAYS }; /* how the late reply is sent */

static const char *const ends[] = {"timed out", "was cancelled", "got a reply"};
static const char *const laters[] = {"sleeps", "is suspended"};
static const char *const ways[] = {"ipc_reply", "ipc_reply_receive", "ipc_reply_to", "a closed capability"};

/* Shared by the child's threads and this program. */
static volatile struct shared {
    uint32_t tid, taken, computing, stop, intact;
    int64_t called, slept;
    uint32_t server_pid, server_tid, wake;
} * shared;

static cap_t service, shared_memory, page;

static cap_t must(int64_t result)
{
    if (result < 0) {
        printf("Bail out! %s\n", tarn_error_text((int)result));
        exit(1);
    }
    return (cap_t)result;
}

/* ---- in the child ---------------------------------------------------------------------------------- */

/* Keeps ten values in registers until the server sets `stop`. */
static bool compute(volatile struct shared *s)
{
    uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10;
    s->computing = 1;
    do {
        __asm__ volatile(""
                         : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h), "+r"(i),
                           "+r"(j));
    } while (!s->stop);
    return a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f == 6 && g == 7 && h == 8 && i == 9 && j == 10;
}

static void finish(volatile struct shared *s, enum later later)
{
    if (later == SLEEPS)
        s->slept = sys_thread_sleep(TARN_FOREVER);
    else
        s->intact = compute(s);
    ipc_send(SLOT_ASKED, &(struct ipc_message){.label = DONE});
    sys_thread_exit();
}

static void ask(uint64_t arg)
{
    volatile struct shared *s = (volatile struct shared *)SHARED;
    enum end end = arg / LATERS;
    struct ipc_message message;
    s->tid = thread_id();
    do { /* a busy server may not receive the call before its deadline: repeat */
        message = (struct ipc_message){.label = QUESTION};
        uint64_t deadline = end == TIMED_OUT ? deadline_after(20000000) : TARN_FOREVER;
        s->called = ipc_call_deadline(SLOT_ASKED, &message, deadline);
    } while (!s->taken);
    finish(s, arg % LATERS);
}

static void fault(uint64_t arg)
{
    volatile struct shared *s = (volatile struct shared *)SHARED;
    s->tid = thread_id();
    s->called = *(volatile int64_t *)FAULT_AT;
    finish(s, arg);
}

/* Sends the server a message whenever it requests one and is waiting for it. */
static void wake_server(uint64_t arg)
{
    volatile struct shared *s = (volatile struct shared *)SHARED;
    (void)arg;
    for (;;) {
        if (s->wake && thread_is(s->server_pid, s->server_tid, THREAD_BLOCKED_RECEIVE)) {
            s->wake = 0;
            ipc_send(SLOT_ASKED, &(struct ipc_message){.label = WAKE});
        }
        sys_thread_sleep(deadline_after(1000000));
    }
}

/* ---- the server ------------------------------------------------------------------------------------ */

static struct child child;
static uint32_t child_pid;

static cap_t start_thread(void (*entry)(uint64_t), uint64_t arg)
{
    shared->tid = shared->taken = shared->computing = shared->stop = shared->intact = 0;
    shared->called = shared->slept = 1;
    cap_t thread = must(child_thread(&child, entry, arg, TARN_PRIO_USER, 0));
    must(sys_thread_resume(thread));
    return thread;
}

/* Receives the next message with this label. Returns false if none arrives. */
static bool receive(uint64_t label)
{
    struct ipc_message message;
    do {
        if (ipc_receive_deadline(service, &message, deadline_after(WAIT_SECONDS * 1000000000ull)))
            return false;
    } while (message.label != label);
    return true;
}

/* Waits until the thread sleeps or is suspended. Returns false if that does not happen. */
static bool let_go_on(cap_t thread, enum later later)
{
    if (later == SLEEPS)
        return wait_until(child_pid, shared->tid, THREAD_SLEEPING);
    while (!shared->computing)
        sys_thread_sleep(deadline_after(1000000));
    must(sys_thread_suspend(thread));
    return wait_until(child_pid, shared->tid, THREAD_SUSPENDED);
}

/* Sends a reply, with a capability, to a call that has ended. Returns true if the error is the right one. */
static bool answer_late(enum way way, cap_t saved)
{
    struct ipc_message bad = {.label = BAD_ANSWER, .cap = {(uint16_t)page}};
    for (int i = 0; i < IPC_WORDS; i++)
        bad.word[i] = 0x4141414141414141;
    switch (way) {
    case REPLY:
        return ipc_reply(&bad) == -E_DEAD;
    case REPLY_RECEIVE:
        bad.cap[0] = 0; /* a capability would prevent the fast path */
        shared->wake = 1;
        return ipc_reply_receive(service, &bad) == 0 && bad.label == WAKE;
    case REPLY_TO:
        return ipc_reply_to(saved, &bad) == -E_DEAD;
    default:
        return sys_cap_close(saved) == 0;
    }
}

/* Whether the thread's state is unchanged, and it continues with its own results. */
static bool end_well(cap_t thread, enum later later)
{
    enum thread_state state = later == SLEEPS ? THREAD_SLEEPING : THREAD_SUSPENDED;
    bool stays = thread_is(child_pid, shared->tid, state);
    if (later == SLEEPS && stays)
        must(sys_thread_cancel(thread));
    shared->stop = 1;
    must(sys_thread_resume(thread));
    bool ended = receive(DONE);
    sys_cap_close(thread);
    return stays && ended && (later == SLEEPS ? shared->slept == -E_CANCELED : shared->intact == 1);
}

static bool end_call(cap_t thread, enum end end, cap_t saved)
{
    static const int64_t results[] = {-E_TIMEOUT, -E_CANCELED, 0};
    shared->taken = 1;
    if (end == CANCELED)
        must(sys_thread_cancel(thread));
    if (end == ANSWERED)
        must(ipc_reply_to(saved, &(struct ipc_message){.label = GOOD_ANSWER}));
    /* it is 1 before, and E_TIMEOUT for calls that were not received */
    while (shared->called != results[end])
        sys_thread_sleep(deadline_after(1000000));
    return shared->called == results[end];
}

static void test_call(enum end end, enum later later, enum way way)
{
    char what[100];
    cap_t first = 0, second = 0;
    cap_t thread = start_thread(ask, (uint64_t)end * LATERS + later);
    receive(QUESTION);
    if (way == REPLY_TO || way == CLOSE) {
        first = must(ipc_save_reply());
        second = must(sys_cap_copy(SLOT_SPACE, first, 0, RIGHT_ALL, 0));
    }
    bool good = end_call(thread, end, first) && let_go_on(thread, later);
    if (first && end != ANSWERED) /* then the other one is the last */
        sys_cap_close(first);
    good = answer_late(way, second) && good;
    good = end_well(thread, later) && good;
    snprintf(what, sizeof what, "%s after the call %s has no effect: its thread %s", ways[way], ends[end],
             laters[later]);
    check(good, "%s", what);
}

static void test_fault(enum later later, uint64_t label)
{
    char what[100];
    must(sys_space_set_fault_handler(child.space, service));
    cap_t thread = start_thread(fault, later);
    receive(IPC_LABEL_FAULT);
    cap_t first = must(ipc_save_reply());
    cap_t second = must(sys_cap_copy(SLOT_SPACE, first, 0, RIGHT_ALL, 0));
    must(sys_space_map(child.space, page, FAULT_AT, TARN_PAGE_SIZE, 0, MAP_READ | MAP_FIXED));
    must(ipc_reply_to(first, &(struct ipc_message){.label = FAULT_REPLY_RESUME}));
    bool good = let_go_on(thread, later);
    good = ipc_reply_to(second, &(struct ipc_message){.label = label}) == -E_DEAD && good;
    good = end_well(thread, later) && good;
    must(sys_space_unmap(child.space, FAULT_AT, TARN_PAGE_SIZE));
    snprintf(what, sizeof what, "a second reply to a fault, to %s, has no effect: its thread %s",
             label == FAULT_REPLY_KILL ? "end" : "go on", laters[later]);
    check(good, "%s", what);
}

static void test_dead(void)
{
    start_thread(ask, (uint64_t)CANCELED * LATERS);
    receive(QUESTION);
    cap_t saved = must(ipc_save_reply());
    child_end(&child);
    check(ipc_reply_to(saved, &(struct ipc_message){.label = BAD_ANSWER}) == -E_DEAD,
          "a reply to a thread that has ended has no effect");
}

int main(void)
{
    service = must(sys_endpoint_create());
    page = must(sys_memory_create(TARN_PAGE_SIZE));
    shared_memory = must(sys_memory_create(TARN_PAGE_SIZE));
    shared = memory_map(shared_memory, TARN_PAGE_SIZE, MAP_READ | MAP_WRITE);
    shared->server_pid = process_id();
    shared->server_tid = thread_id();
    child_prepare();
    must(child_create(&child, "asker"));
    child_pid = (uint32_t)must(sys_space_info(child.space));
    must(child_give(&child, service, SLOT_ASKED, RIGHT_SEND));
    must(sys_space_map(child.space, shared_memory, SHARED, TARN_PAGE_SIZE, 0,
                       MAP_READ | MAP_WRITE | MAP_FIXED));
    must(child_start(&child, wake_server, 0));
    for (enum end end = 0; end < ENDS; end++)
        for (enum later later = 0; later < LATERS; later++)
            for (enum way way = 0; way < WAYS; way++)
                if (end != ANSWERED || way == REPLY_TO || way == CLOSE) /* the others can reply only once */
                    test_call(end, later, way);
    for (enum later later = 0; later < LATERS; later++)
        for (uint64_t label = FAULT_REPLY_RESUME; label <= FAULT_REPLY_KILL; label++)
            test_fault(later, label);
    test_dead();
    return finish_tests();
}
