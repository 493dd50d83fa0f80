/*
 * trace_locks.c - takes locks a known number of times, and waits for them for a known time: mutexes, other
 * objects of programs, and locks of the kernel. tests/host/locks compares `tarn locks` with it.
 */
#include <semaphore.h>

#include <tests/guest/run.h>
#include <tests/guest/threads.h>
#include <tests/guest/trace_help.h>
#include <tests/guest/wait.h>
#include <trace/lock.h>

/* ---- mutexes: acquisitions ------------------------------------------------------------------------- */

#define ROUNDS 1000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void take_often(uint64_t every)
{
    sample(TARN_LOCK_MUTEX, every);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    sample(TARN_LOCK_MUTEX, 0);
}

/* ---- mutexes: waits -------------------------------------------------------------------------------- */

#define WAITERS 3
#define HOLD_MS 50

static uint32_t main_tid;
static atomic_uint wanting[WAITERS]; /* tids of threads that are about to wait */
static atomic_bool is_held;

/* Waits until the thread sleeps in futex_wait. */
static void let_come(atomic_uint *tid)
{
    uint32_t comes;
    while (!(comes = atomic_load(tid)))
        usleep(1000);
    if (!wait_until(process_id(), comes, THREAD_BLOCKED_FUTEX))
        printf("# thread %u does not wait\n", comes);
}

static void *hold(void *argument)
{
    pthread_mutex_lock(&mutex);
    atomic_store(&is_held, true);
    for (int i = 0; i < WAITERS; i++)
        let_come(&wanting[i]);
    usleep(HOLD_MS * 1000);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *want(void *number)
{
    while (!atomic_load(&is_held))
        usleep(1000);
    atomic_store(&wanting[(uintptr_t)number], thread_id());
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void wait_for_mutex(void)
{
    pthread_t holder, waiter[WAITERS];
    atomic_store(&is_held, false);
    lock_set_name(&mutex, "mutex"); /* for readers that have no symbols */
    start_thread(&holder, hold, NULL);
    start_threads(waiter, WAITERS, want);
    join_threads(waiter, WAITERS);
    pthread_join(holder, NULL);
}

/* ---- other objects that programs wait for ---------------------------------------------------------- */

static pthread_rwlock_t shelf = PTHREAD_RWLOCK_INITIALIZER;
static sem_t tickets;
static pthread_mutex_t wakeup_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wakeup = PTHREAD_COND_INITIALIZER;
static bool has_rung; /* covered by wakeup_lock */
static pthread_barrier_t gate;
static pthread_once_t opening = PTHREAD_ONCE_INIT;

enum object { SHELF_TO_READ, SHELF_TO_WRITE, TICKET, WAKEUP, GATE };

static void *wait_for(void *object)
{
    const enum object what = (enum object)(uintptr_t)object;
    if (what == WAKEUP)
        pthread_mutex_lock(&wakeup_lock);
    atomic_store(&wanting[0], thread_id());
    if (what == TICKET)
        sem_wait(&tickets);
    else if (what == GATE)
        pthread_barrier_wait(&gate);
    else if (what != WAKEUP)
        (what == SHELF_TO_READ ? pthread_rwlock_rdlock : pthread_rwlock_wrlock)(&shelf);
    while (what == WAKEUP && !has_rung)
        pthread_cond_wait(&wakeup, &wakeup_lock);
    return (void *)(intptr_t)(what == WAKEUP  ? pthread_mutex_unlock(&wakeup_lock)
                              : what < TICKET ? pthread_rwlock_unlock(&shelf)
                                              : 0);
}

static atomic_bool opens;

/* The first caller waits for main. */
static void open_slowly(void)
{
    atomic_store(&opens, true);
    wait_until(process_id(), main_tid, THREAD_BLOCKED_FUTEX);
    usleep(HOLD_MS * 1000);
}

static void *open_once(void *argument)
{
    pthread_once(&opening, open_slowly);
    return NULL;
}

static void let_wait(pthread_t *thread, enum object object)
{
    atomic_store(&wanting[0], 0);
    start_thread(thread, wait_for, (void *)object);
    let_come(&wanting[0]);
    usleep(HOLD_MS * 1000);
}

static void wait_for_rwlock(void)
{
    pthread_t thread;
    pthread_rwlock_wrlock(&shelf);
    let_wait(&thread, SHELF_TO_READ);
    pthread_rwlock_unlock(&shelf);
    pthread_join(thread, NULL);
    pthread_rwlock_rdlock(&shelf);
    pthread_rwlock_rdlock(&shelf);
    let_wait(&thread, SHELF_TO_WRITE);
    pthread_rwlock_unlock(&shelf);
    pthread_rwlock_unlock(&shelf);
    pthread_join(thread, NULL);
}

static void take_rwlock(void)
{
    sample(TARN_LOCK_READ, 1);
    sample(TARN_LOCK_WRITE, 10);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_rwlock_rdlock(&shelf);
        pthread_rwlock_unlock(&shelf);
        pthread_rwlock_wrlock(&shelf);
        pthread_rwlock_unlock(&shelf);
    }
    sample(TARN_LOCK_READ, 0);
    sample(TARN_LOCK_WRITE, 0);
    pthread_rwlock_rdlock(&shelf);
    pthread_rwlock_unlock(&shelf);
    pthread_rwlock_wrlock(&shelf);
    pthread_rwlock_unlock(&shelf);
}

static void wait_for_events(void)
{
    pthread_t thread;
    sem_init(&tickets, 0, 0);
    lock_set_name(&tickets, "tickets left");
    let_wait(&thread, TICKET);
    sem_post(&tickets);
    pthread_join(thread, NULL);
    let_wait(&thread, WAKEUP);
    pthread_mutex_lock(&wakeup_lock);
    has_rung = true;
    pthread_mutex_unlock(&wakeup_lock);
    pthread_cond_signal(&wakeup);
    pthread_join(thread, NULL);
    pthread_barrier_init(&gate, NULL, 2);
    let_wait(&thread, GATE);
    pthread_barrier_wait(&gate);
    pthread_join(thread, NULL);
}

static void *sleep_while_joined(void *argument)
{
    wait_until(process_id(), main_tid, THREAD_BLOCKED_FUTEX);
    usleep(HOLD_MS * 1000);
    return NULL;
}

static void wait_for_threads(void)
{
    pthread_t thread;
    start_thread(&thread, open_once, NULL);
    while (!atomic_load(&opens))
        usleep(1000);
    pthread_once(&opening, open_slowly);
    pthread_join(thread, NULL);
    result_of(sleep_while_joined, NULL);
}

static void make_notifications(uint32_t lock_class, uint64_t every)
{
    sample(lock_class, every);
    for (int i = 0; i < ROUNDS; i++)
        sys_cap_close((cap_t)sys_notification_create());
    sample(lock_class, 0);
}

/* Two CPUs want the same lock, and each holds it for 50 ms (boot option debug.hang=1). */
static void wait_in_kernel(void)
{
    process_set_affinity(0);
    sample(find_class("debug hang"), 1);
    if (run_program("/bin/debug", "lock", "50"))
        printf("debug lock failed\n");
    sample(find_class("debug hang"), 0);
}

int main(void)
{
    main_tid = thread_id();
    take_often(1);
    take_often(10);
    take_often(0);
    wait_for_mutex();
    wait_for_rwlock();
    take_rwlock();
    wait_for_events();
    wait_for_threads();
    const uint32_t slab = find_class("notification slab");
    make_notifications(slab, 1);
    make_notifications(slab, 50);
    make_notifications(slab, 0);
    wait_in_kernel();
    printf("trace_locks: done\n");
    return 0;
}
