/*
 * kernel_futex.c - a futex wake reaches exactly the threads that wait for that word when it begins.
 *
 * The waiters wait again as fast as they can. A wake that also woke those would end only when all are slow at
 * the same time; so it must wake each one at most once.
 */
#include "tap.h"
#include "threads.h"
#include "wait.h"

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

static void *wait_once(void *at)
{
    return (void *)sys_futex_wait(at, 0, TARN_FOREVER);
}

static void wait_for_waiting(unsigned count)
{
    while (count_threads(process_id(), ANY_THREAD, THREAD_BLOCKED_FUTEX) != count)
        sys_thread_sleep(deadline_after(1000000));
}

static void test_counts(void)
{
    pthread_t threads[OTHERS];
    void *result;
    bool good = true;
    for (unsigned i = 0; i < OTHERS; i++)
        start_thread(&threads[i], wait_once, &other_words[i]);
    wait_for_waiting(OTHERS);
    check(sys_futex_wake(&word, ~0u) == 0 &&
              count_threads(process_id(), ANY_THREAD, THREAD_BLOCKED_FUTEX) == OTHERS,
          "threads that wait for other words are not woken");
    for (unsigned i = 0; i < OTHERS; i++) {
        good &= sys_futex_wake(&other_words[i], 0) == 0 && sys_futex_wake(&other_words[i], 2) == 1;
        pthread_join(threads[i], &result);
        good &= result == NULL;
    }
    check(good, "each is woken once, by its own word");
}

static void test_some(void)
{
    pthread_t threads[WAITERS];
    for (unsigned i = 0; i < WAITERS; i++)
        start_thread(&threads[i], wait_once, &word);
    wait_for_waiting(WAITERS);
    check(sys_futex_wake(&word, 3) == 3, "the requested number is woken");
    wait_for_waiting(WAITERS - 3);
    check(sys_futex_wake(&word, ~0u) == WAITERS - 3, "or all that wait");
    join_threads(threads, WAITERS);
}

static void test_storm(void)
{
    pthread_t threads[WAITERS];
    int64_t most = 0, all = 0;
    start_threads(threads, WAITERS, come_back);
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
    join_threads(threads, WAITERS);
    check(all >= WAITERS && most <= WAITERS,
          "a wake reaches no thread twice, however fast it waits again: %ld, at most %ld at once", all, most);
}

int main(void)
{
    test_counts();
    test_some();
    test_storm();
    return finish_tests();
}
