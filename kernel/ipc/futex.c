/*
 * futex.c - waiting for a word of user memory to change. Buckets: space.h.
 *
 * The word is read under the bucket's lock, so that no wake between the test and the wait is lost. The read
 * may fault and take the space's lock; bucket locks are outermost. The page is brought in earlier, without
 * a lock, so the read rarely faults and never waits for a pager.
 */
#include <arch/clock.h>
#include <arch/user.h>
#include <kernel/cpu/cpu.h>
#include <kernel/ipc/user_copy.h>
#include <kernel/kernel.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>

static struct futex_bucket *find_bucket(struct space *space, uint64_t address)
{
    uint64_t hash = (address >> 2) * 0x9e3779b97f4a7c15ull; /* Knuth's multiplicative hash */
    return &space->futexes[hash >> (64 - FUTEX_BUCKET_BITS)];
}

static bool is_word_address(uint64_t address)
{
    return address % sizeof(uint32_t) == 0;
}

int64_t sys_futex_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    struct thread *self = current_thread();
    uint32_t value;
    if (!is_word_address((uint64_t)address))
        return -E_BAD_ARGUMENT;
    int64_t error = user_read_word(&value, address);
    if (error)
        return error;
    if (value != expected)
        return -E_AGAIN;
    uint64_t ticks = timer_ticks(deadline);
    if (ticks <= arch_clock())
        return -E_TIMEOUT;
    struct futex_bucket *bucket = find_bucket(self->space, (uint64_t)address);
    spin_lock(&bucket->lock);
    /* The waiter may have announced itself in another word (semaphores, workers of servers), which must be
     * visible before this load. Pairs with the waker's change of this word and load of the other, both
     * sequentially consistent, before futex_wake. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    error = arch_load_user_word(&value, address);
    if (error || value != expected) {
        spin_unlock(&bucket->lock);
        return error ? error : -E_AGAIN;
    }
    self->futex_address = (uint64_t)address;
    list_add_tail(&bucket->waiters, &self->link);
    thread_begin_wait(self, THREAD_BLOCKED_FUTEX, &bucket->lock, ticks);
    return SYSCALL_NO_RESULT;
}

/* Ends up to `count` waits on a word and moves the threads to `taken`. Lock held. */
static uint32_t take_waiters(struct futex_bucket *bucket, uint64_t address, uint32_t count,
                             struct list *taken)
{
    uint32_t found = 0;
    for (struct list *link = bucket->waiters.next, *next; link != &bucket->waiters && found < count;
         link = next) {
        struct thread *thread = list_object(link, struct thread, link);
        next = link->next;
        if (thread->futex_address != address)
            continue;
        list_remove(link);
        thread_end_wait(thread);
        list_add_tail(taken, link);
        found++;
    }
    return found;
}

/* A thread that waits again meanwhile is left for the next wake, so this wakes at most as many threads as
 * the space has. */
int64_t sys_futex_wake(const uint32_t *address, uint32_t count)
{
    struct list taken;
    if (!is_word_address((uint64_t)address))
        return -E_BAD_ARGUMENT;
    struct futex_bucket *bucket = find_bucket(current_thread()->space, (uint64_t)address);
    list_init(&taken);
    spin_lock(&bucket->lock);
    uint32_t woken = take_waiters(bucket, (uint64_t)address, count, &taken);
    spin_unlock(&bucket->lock);
    while (!list_empty(&taken)) {
        struct thread *thread = list_object(taken.next, struct thread, link);
        list_remove(&thread->link);
        frame_set_result(&thread->frame, 0);
        sched_wake(thread);
    }
    return woken;
}
