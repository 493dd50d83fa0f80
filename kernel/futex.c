/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/futex.c - waiting for a word of user memory to change. Waiters hang in buckets by space and address.
 *
 * The word is read under the bucket's lock, so that a wake between the look and the wait is not lost. That
 * read may fault and take the space's lock: buckets are outermost. The page is brought in before, without a
 * lock, so it nearly never does, and never has to wait for a pager.
 */
#include <arch/clock.h>
#include <arch/user.h>
#include <kernel/cpu.h>
#include <kernel/futex.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/space.h>
#include <kernel/syscall.h>
#include <kernel/thread.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>

#define BUCKETS 256u

static LOCK_CLASS(futex_class, "futex bucket");

static struct bucket {
    struct spinlock lock;
    struct list waiters; /* under lock: thread.link */
} buckets[BUCKETS];

void futex_init(void)
{
    for (unsigned i = 0; i < BUCKETS; i++) {
        spin_init(&buckets[i].lock, &futex_class);
        list_init(&buckets[i].waiters);
    }
}

static struct bucket *find_bucket(const struct space *space, uint64_t address)
{
    uint64_t hash = (address >> 2 ^ (uint64_t)space >> 6) * 0x9e3779b97f4a7c15ull;
    return &buckets[hash >> 56];
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
    struct bucket *bucket = find_bucket(self->space, (uint64_t)address);
    spin_lock(&bucket->lock);
    /* Whoever waits may have said so in another word before (semaphores, workers of servers): that must be
     * out before this one is read. Pairs with the sequentially consistent change of this word and look at
     * that one before futex_wake. */
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

/* The first waiter on a word, its wait ended; NULL: there is none. Lock held. */
static struct thread *take_waiter(struct bucket *bucket, const struct space *space, uint64_t address)
{
    for (struct list *link = bucket->waiters.next; link != &bucket->waiters; link = link->next) {
        struct thread *thread = list_object(link, struct thread, link);
        if (thread->space == space && thread->futex_address == address) {
            list_remove(link);
            thread_end_wait(thread);
            return thread;
        }
    }
    return NULL;
}

int64_t sys_futex_wake(const uint32_t *address, uint32_t count)
{
    const struct space *space = current_thread()->space;
    if (!is_word_address((uint64_t)address))
        return -E_BAD_ARGUMENT;
    struct bucket *bucket = find_bucket(space, (uint64_t)address);
    uint32_t woken = 0;
    while (woken < count) {
        spin_lock(&bucket->lock);
        struct thread *thread = take_waiter(bucket, space, (uint64_t)address);
        spin_unlock(&bucket->lock);
        if (!thread)
            break;
        frame_set_result(&thread->frame, 0);
        sched_wake(thread);
        woken++;
    }
    return woken;
}
