/*
 * lockstorm.c - threads that compete for one mutex, to show contention in the trace.
 *
 *     lockstorm [threads] [rounds] [hold] [work]
 *
 * Each thread takes an item from a shared stack under the lock, works on it without the lock, and puts it
 * back under the lock. `hold` and `work` are iterations of an empty loop: under the lock when it puts the
 * item back, and without it. A check at the end detects lost updates.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <tarn/runtime.h>
#include <trace/user.h>

#define ITEMS       64
#define THREADS_MAX 64

static struct {
    pthread_mutex_t lock;
    /* covered by lock */
    unsigned item[ITEMS], count;
    unsigned long updates;
} stack = {.lock = PTHREAD_MUTEX_INITIALIZER};
static unsigned threads = 8, rounds = 2000, hold = 200, without = 100;

static unsigned pop_item(void)
{
    for (;;) {
        pthread_mutex_lock(&stack.lock);
        if (stack.count) {
            unsigned item = stack.item[--stack.count];
            pthread_mutex_unlock(&stack.lock);
            return item;
        }
        pthread_mutex_unlock(&stack.lock);
        sched_yield();
    }
}

static void push_item(unsigned item)
{
    pthread_mutex_lock(&stack.lock);
    stack.item[stack.count++] = item;
    stack.updates++;
    for (volatile unsigned i = 0; i < hold; i++) /* makes the critical section long */
        ;
    pthread_mutex_unlock(&stack.lock);
}

static void *work(void *argument)
{
    trace_user_stopwatch_start((uint64_t)(uintptr_t)argument);
    for (unsigned i = 0; i < rounds; i++) {
        unsigned item = pop_item();
        for (volatile unsigned j = 0; j < without; j++)
            ;
        push_item(item + 1);
    }
    trace_user_stopwatch_stop((uint64_t)(uintptr_t)argument, rounds);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        threads = (unsigned)atoi(argv[1]);
    if (argc > 2)
        rounds = (unsigned)atoi(argv[2]);
    if (argc > 3)
        hold = (unsigned)atoi(argv[3]);
    if (argc > 4)
        without = (unsigned)atoi(argv[4]);
    if (argc > 5 || threads < 1 || threads > THREADS_MAX || rounds < 1) {
        fprintf(
            stderr,
            "usage: lockstorm [threads, 1..%d] [rounds] [hold] [work]; hold and work are turns of a loop\n",
            THREADS_MAX);
        return 2;
    }
    pthread_t thread[THREADS_MAX];
    stack.count = ITEMS;
    lock_set_name(&stack.lock, "stack of items");
    for (unsigned i = 0; i < threads; i++) {
        if (pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)i)) {
            fprintf(stderr, "lockstorm: cannot create thread %u\n", i);
            return 1;
        }
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    unsigned long sum = 0;
    for (unsigned i = 0; i < stack.count; i++)
        sum += stack.item[i];
    unsigned long expected = (unsigned long)threads * rounds;
    bool right = stack.count == ITEMS && sum == expected && stack.updates == expected;
    printf("lockstorm: %u threads, %lu updates, %s\n", threads, stack.updates,
           right ? "none lost" : "UPDATES LOST");
    return !right;
}
