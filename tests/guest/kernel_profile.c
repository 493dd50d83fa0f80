/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel_profile.c - profile samples at every instruction of messages with their thread switches, page faults
 * and sleep. Boots with the shortest period and -icount, so the timer interrupts between any two
 * instructions; where the kernel does not tolerate that, it panics.
 */
#include "tap.h"
#include "wait.h"

#include <pthread.h>
#include <sys/mman.h>

#define CALLS 200000u
#define PAGES 2000u
#define NAPS  2000u
#define PAGE  4096u

static void *serve(void *endpoint)
{
    struct ipc_message message;
    int64_t error = ipc_receive((cap_t)(uintptr_t)endpoint, &message);
    while (!error && message.word[0] < CALLS) {
        message.word[0]++;
        error = ipc_reply_receive((cap_t)(uintptr_t)endpoint, &message);
    }
    ipc_reply(&message);
    return NULL;
}

static uint64_t count_answers(cap_t endpoint)
{
    uint64_t right = 0;
    for (uint64_t i = 0; i < CALLS; i++) {
        struct ipc_message message = {.word = {i}};
        right += ipc_call(endpoint, &message) == 0 && message.word[0] == i + 1;
    }
    ipc_call(endpoint, &(struct ipc_message){.word = {CALLS}});
    return right;
}

static void call_often(void)
{
    cap_t endpoint = (cap_t)sys_endpoint_create();
    pthread_t server;
    check(pthread_create(&server, NULL, serve, (void *)(uintptr_t)endpoint) == 0, "a server");
    check(count_answers(endpoint) == CALLS, "every call gets its reply");
    pthread_join(server, NULL);
    sys_cap_close(endpoint);
}

static void touch_pages(void)
{
    uint8_t *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(pages != MAP_FAILED, "memory");
    uint64_t sum = 0;
    for (uint64_t i = 0; i < PAGES; i++)
        sum += pages[i * PAGE] += 1;
    check(sum == PAGES, "every page is mapped, and was zero");
    munmap(pages, PAGES * PAGE);
}

static void nap(void)
{
    uint64_t early = 0;
    for (uint64_t i = 0; i < NAPS; i++) {
        uint64_t deadline = deadline_after(5000);
        sys_thread_sleep(deadline);
        early += (uint64_t)clock_monotonic_ns() < deadline;
    }
    check(early == 0, "no sleep ends early");
}

int main(void)
{
    call_often();
    touch_pages();
    nap();
    return finish_tests();
}
