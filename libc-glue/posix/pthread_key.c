/* pthread_key.c - thread-specific data, and pthread_once. */
#include "../tarn/lock_trace.h"
#include "call.h"

#include <pthread.h>

#define DESTRUCTOR_ROUNDS 4

static struct {
    struct lock lock;
    bool used[KEYS_MAX];                  /* under lock */
    void (*destructor[KEYS_MAX])(void *); /* written under lock before the key is returned to its creator */
} keys;

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    int error = EAGAIN;
    lock_acquire(&keys.lock);
    for (uint32_t i = 0; i < KEYS_MAX && error; i++)
        if (!keys.used[i]) {
            keys.used[i] = true;
            keys.destructor[i] = destructor;
            *key = i;
            error = 0;
        }
    lock_release(&keys.lock);
    return error;
}

int pthread_key_delete(pthread_key_t key)
{
    if (key >= KEYS_MAX)
        return EINVAL;
    lock_acquire(&keys.lock);
    keys.used[key] = false;
    keys.destructor[key] = NULL;
    lock_release(&keys.lock);
    return 0;
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
    if (key >= KEYS_MAX || !keys.used[key])
        return EINVAL;
    current_thread()->specific[key] = value;
    return 0;
}

void *pthread_getspecific(pthread_key_t key)
{
    return key < KEYS_MAX ? (void *)current_thread()->specific[key] : NULL;
}

/* Destructors may set values again; POSIX allows stopping after some rounds. */
void run_key_destructors(struct pthread *thread);
void run_key_destructors(struct pthread *thread)
{
    bool again = true;
    for (int round = 0; again && round < DESTRUCTOR_ROUNDS; round++) {
        again = false;
        for (uint32_t i = 0; i < KEYS_MAX; i++) {
            void *value = (void *)thread->specific[i];
            void (*destructor)(void *) = keys.destructor[i];
            thread->specific[i] = NULL;
            if (!value || !destructor)
                continue;
            destructor(value);
            again = true;
        }
    }
}

/* While the routine runs, the state is a lock word. */
enum { ONCE_NEW = 0, ONCE_DONE = 1 };

static void once_wait(pthread_once_t *once, uint32_t state)
{
    struct lock_wait wait = begin_lock_wait(TARN_LOCK_ONCE, once, state);
    for (; state != ONCE_DONE; state = __atomic_load_n(&once->state, __ATOMIC_ACQUIRE)) {
        uint32_t wanted = state | LOCK_WORD_WANTED;
        if (state == wanted || __atomic_compare_exchange_n(&once->state, &state, wanted, false,
                                                           __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
            sleep_for_lock(&wait, &once->state, wanted, TARN_FOREVER);
    }
    end_lock_wait(&wait);
}

/* The acquire that reads ONCE_DONE pairs with the exchange that sets it: the routine's writes are visible. */
int pthread_once(pthread_once_t *once, void (*routine)(void))
{
    uint32_t state = __atomic_load_n(&once->state, __ATOMIC_ACQUIRE);
    if (state == ONCE_DONE)
        return 0;
    if (state != ONCE_NEW || !__atomic_compare_exchange_n(&once->state, &state, LOCK_WORD_HELD | thread_id(),
                                                          false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        if (state != ONCE_DONE)
            once_wait(once, state);
        return 0;
    }
    routine();
    if (__atomic_exchange_n(&once->state, ONCE_DONE, __ATOMIC_ACQ_REL) & LOCK_WORD_WANTED)
        sys_futex_wake(&once->state, ~0u);
    return 0;
}
