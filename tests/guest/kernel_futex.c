/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel_futex.c - a futex wake reaches exactly the threads that wait for that word when it begins.
 *
 * The waiters wait again as fast as they can. A wake that also woke those would end only when all are slow at
 * the same time; so it must wake each one at most once.
 */
#include "tap.h"
#include "wait.h"

#include <pthread.h>
#include <stdlib.h>

#define WAITERS 40u
#define WAKES   (40u + REPEATS(160u))
/* a waiter then ends, so that the test ends even with a wake that always finds one more */
#define ROUNDS  2000u
#define OTHERS  24u /* threads that wait for other words, in each bucket of the space */

static uint32_t word, other_words[OTHERS];
static _Atomic bool stop;

static void *come_back(void *argument)
{
    for (unsigned i = 0; !stop && i < ROUNDS; i++)
        sys_futex_wait(&word, 0, TARN_FOREVER);
    return NULL;
}

static void *wait_once(void *argument)
{
    return (void *)sys_futex_wait(argument, 0, TARN_FOREVER);
}

/* Returns how many threads of this process wait for a word. */
static unsigned count_waiting(void)
{
    struct system_thread threads[16];
    unsigned found = 0;
    int64_t bytes;
    for (uint64_t index = 0; (bytes = sys_system_read(SYSTEM_THREADS, index, threads, sizeof threads)) > 0;) {
        uint64_t count = (uint64_t)bytes / sizeof threads[0];
        for (uint64_t i = 0; i < count; i++)
            found += threads[i].pid == process_id() && threads[i].state == THREAD_BLOCKED_FUTEX;
        index += count;
    }
    return found;
}

static void wait_for_waiting(unsigned count)
{
    while (count_waiting() != count)
        sys_thread_sleep(deadline_after(1000000));
}

static void start_all(pthread_t *threads, unsigned count, void *(*body)(void *), uint32_t *words)
{
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, body, words ? &words[i] : NULL) != 0) {
            printf("Bail out! only %u threads\n", i);
            exit(1);
        }
}

static void test_counts(void)
{
    pthread_t threads[OTHERS];
    void *result;
    bool good = true;
    start_all(threads, OTHERS, wait_once, other_words);
    wait_for_waiting(OTHERS);
    check(sys_futex_wake(&word, ~0u) == 0 && count_waiting() == OTHERS,
          "threads that wait for other words are not woken");
    for (unsigned i = 0; i < OTHERS; i++) {
        good &= sys_futex_wake(&other_words[i], 0) == 0 && sys_futex_wake(&other_words[i], 2) == 1;
        pthread_join(threads[i], &result);
        good &= result == NULL;
    }
    check(good, "each is woken once, by its own word");
}

static void *wait_for_word(void *argument)
{
    return (void *)sys_futex_wait(&word, 0, TARN_FOREVER);
}

static void test_some(void)
{
    pthread_t threads[WAITERS];
    start_all(threads, WAITERS, wait_for_word, NULL);
    wait_for_waiting(WAITERS);
    check(sys_futex_wake(&word, 3) == 3, "the requested number is woken");
    wait_for_waiting(WAITERS - 3);
    check(sys_futex_wake(&word, ~0u) == WAITERS - 3, "or all that wait");
    for (unsigned i = 0; i < WAITERS; i++)
        pthread_join(threads[i], NULL);
}

static void test_storm(void)
{
    pthread_t threads[WAITERS];
    int64_t most = 0, all = 0;
    start_all(threads, WAITERS, come_back, NULL);
    wait_for_waiting(WAITERS);
    for (unsigned i = 0; i < WAKES; i++) {
        int64_t woken = sys_futex_wake(&word, ~0u);
        most = woken > most ? woken : most;
        all += woken;
    }
    stop = true;
    /* a thread that has not seen `stop` yet does not wait any more */
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    sys_futex_wake(&word, ~0u);
    for (unsigned i = 0; i < WAITERS; i++)
        pthread_join(threads[i], NULL);
    printf("# %ld woken, at most %ld at once\n", all, most);
    check(all >= WAITERS && most <= WAITERS, "a wake reaches no thread twice, however fast it waits again");
}

int main(void)
{
    test_counts();
    test_some();
    test_storm();
    return finish_tests();
}
