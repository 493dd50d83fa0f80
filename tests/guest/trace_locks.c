/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_locks.c - events of locks with known behaviour: number of acquisitions, waits, wait times and
 * holders, for mutexes and for kernel locks.
 *
 *     trace_locks         checks the rings
 *     trace_locks pulled  only runs the workload; tests/host/locks checks the pulled trace with `tarn locks`
 */
#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/guest/trace_help.h>
#include <tests/guest/wait.h>
#include <trace/lock.h>
#include <trace/state.h>

static bool pulled;
#define EXPECT(condition, what)       \
    do                                \
        if (!pulled)                  \
            check((condition), what); \
    while (0)

static void forget(void)
{
    if (!pulled)
        control(TRACE_OP_CLEAR, 0, 0);
}

enum { CONTENDED = 1, HELD, ACQUIRED, SLEEP };

/* The event bodies of trace/schema/lock.ev. */
struct contended_body {
    uint64_t lock, wait, spins;
    uint32_t lock_class, pid, holder_tid, holder_pid, holder_cpu, readers, reserved, depth;
};
struct held_body {
    uint64_t lock, held;
    uint32_t lock_class, pid;
};
struct acquired_body {
    uint64_t lock;
    uint32_t lock_class, pid, acquisitions, depth;
};
struct sleep_body {
    uint64_t lock;
    uint32_t holder_tid, holder_pid, lock_class, pid;
};

/* Summary of the events of one lock, or of one class (lock 0). */
struct findings {
    uint64_t lock;
    uint32_t lock_class;
    uint32_t contended, held, acquired, sleeps;
    uint64_t acquisitions, longest_wait, longest_held;
    uint32_t chainless;       /* events without a call chain */
    struct contended_body by; /* event with the longest wait */
    uint32_t sleep_holder;    /* holder in the first sleep event */
};

static bool is_of(const struct findings *findings, uint64_t lock, uint32_t lock_class)
{
    return findings->lock ? lock == findings->lock : lock_class == findings->lock_class;
}

static void note_contended(struct findings *findings, const struct contended_body *body)
{
    if (!is_of(findings, body->lock, body->lock_class))
        return;
    findings->contended++;
    findings->chainless += body->depth == 0;
    if (body->wait >= findings->longest_wait) {
        findings->longest_wait = body->wait;
        findings->by = *body;
    }
}

static void note_held(struct findings *findings, const struct held_body *body)
{
    if (!is_of(findings, body->lock, body->lock_class))
        return;
    findings->held++;
    if (body->held > findings->longest_held)
        findings->longest_held = body->held;
}

static void note_acquired(struct findings *findings, const struct acquired_body *body)
{
    if (!is_of(findings, body->lock, body->lock_class))
        return;
    findings->acquired++;
    findings->acquisitions += body->acquisitions;
    findings->chainless += body->depth == 0;
}

static void note_sleep(struct findings *findings, const struct sleep_body *body)
{
    if (is_of(findings, body->lock, body->lock_class) && findings->sleeps++ == 0)
        findings->sleep_holder = body->holder_tid;
}

static void note_event(void *context, uint32_t cpu, const struct trace_header *event, uint64_t time)
{
    const void *body = event + 1;
    if (TRACE_ID_CLASS(event->id) != TRACE_CLASS_LOCK)
        return;
    switch (TRACE_ID_MINOR(event->id)) {
    case CONTENDED:
        return note_contended(context, body);
    case HELD:
        return note_held(context, body);
    case ACQUIRED:
        return note_acquired(context, body);
    case SLEEP:
        return note_sleep(context, body);
    }
}

static struct findings look_for(const void *lock, uint32_t lock_class)
{
    struct findings findings = {.lock = (uint64_t)(uintptr_t)lock, .lock_class = lock_class};
    struct ring_findings rings;
    if (!pulled && !visit_rings(note_event, &findings, &rings))
        printf("Bail out! no memory to read the rings\n");
    return findings;
}

static uint64_t ticks_of_ms(uint64_t ms)
{
    return arch_trace_info()->clock_hz / 1000 * ms;
}

static void watch(uint64_t lock_class, uint64_t every)
{
    control(TRACE_OP_WATCH_LOCKS, lock_class, every);
}

/* ---- mutexes: acquisitions ------------------------------------------------------------------------- */

#define ROUNDS 1000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct findings take_often(uint64_t every)
{
    forget();
    watch(TARN_LOCK_MUTEX, every);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    watch(TARN_LOCK_MUTEX, 0);
    return look_for(&mutex, 0);
}

static void test_acquisitions(void)
{
    struct findings all = take_often(1);
    EXPECT(all.acquired == ROUNDS && all.acquisitions == ROUNDS && all.held == ROUNDS && !all.chainless,
           "a sampled mutex: each acquisition is logged, with its hold time");
    EXPECT(all.contended == 0 && all.sleeps == 0, "no waits for it");
    struct findings tenth = take_often(10);
    EXPECT(tenth.acquired == ROUNDS / 10 && tenth.acquisitions == ROUNDS && tenth.held == ROUNDS / 10,
           "one of ten is logged, all are counted");
    struct findings none = take_often(0);
    EXPECT(none.acquired == 0 && none.held == 0, "none: nothing is logged");
    EXPECT(control(TRACE_OP_WATCH_LOCKS, 4711, 1) == -E_NOT_FOUND, "no class 4711");
}

/* ---- mutexes: waits -------------------------------------------------------------------------------- */

#define WAITERS 3
#define HOLD_MS 50

static uint32_t main_tid;
static atomic_uint holder_tid, wanting[WAITERS]; /* tids of threads that are about to wait */
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
    atomic_store(&holder_tid, thread_id());
    pthread_mutex_lock(&mutex);
    atomic_store(&is_held, true);
    for (int i = 0; i < WAITERS; i++)
        let_come(&wanting[i]);
    usleep(HOLD_MS * 1000);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *want(void *argument)
{
    while (!atomic_load(&is_held))
        usleep(1000);
    atomic_store((atomic_uint *)argument, thread_id());
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void test_waits(void)
{
    pthread_t holder, waiter[WAITERS];
    atomic_store(&is_held, false);
    forget();
    pthread_create(&holder, NULL, hold, NULL);
    for (int i = 0; i < WAITERS; i++)
        pthread_create(&waiter[i], NULL, want, &wanting[i]);
    for (int i = 0; i < WAITERS; i++)
        pthread_join(waiter[i], NULL);
    pthread_join(holder, NULL);
    struct findings found = look_for(&mutex, 0);
    uint32_t tid = atomic_load(&holder_tid);
    EXPECT(found.contended == WAITERS && !found.chainless, "the holder of a mutex sleeps: all others wait");
    EXPECT(found.longest_wait > ticks_of_ms(HOLD_MS / 2) && found.by.spins > 0,
           "for about as long as it is held");
    EXPECT(found.by.holder_tid == tid && found.by.holder_pid == process_id() && found.by.pid == process_id(),
           "the event names the holder");
    EXPECT(found.sleeps >= WAITERS && found.sleep_holder == tid, "the sleep event names the holder");
    EXPECT(found.held == WAITERS && found.acquired == 0,
           "hold times are logged for locks that were waited for");
}

/* A holder that is preempted: it is pinned to a CPU on which a thread of higher priority then runs, until the
 * thread that wants the lock has slept for a while. */
static pthread_mutex_t lost = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool works, may_end;

static void *work(void *argument)
{
    atomic_store(&works, true);
    while (!thread_is(process_id(), main_tid, THREAD_BLOCKED_FUTEX))
        ;
    uint64_t end = arch_trace_clock() + ticks_of_ms(HOLD_MS);
    while (arch_trace_clock() < end)
        ;
    atomic_store(&may_end, true);
    return NULL;
}

static void *hold_and_lose(void *argument)
{
    atomic_store(&holder_tid, thread_id());
    pthread_mutex_lock(&lost);
    atomic_store(&is_held, true);
    while (!atomic_load(&may_end))
        ;
    pthread_mutex_unlock(&lost);
    return NULL;
}

static void test_lost_processor(void)
{
    struct sched_param low = {.sched_priority = (int)program_startup()->priority - 1};
    pthread_attr_t holders, workers;
    pthread_t holder, worker;
    pthread_attr_init(&workers);
    pthread_attr_setaffinity_mask_np(&workers, 1);
    pthread_attr_init(&holders);
    pthread_attr_setaffinity_mask_np(&holders, 1);
    pthread_attr_setschedparam(&holders, &low);
    atomic_store(&is_held, false);
    move_to(1 % arch_trace_info()->cpu_count);
    pthread_create(&holder, &holders, hold_and_lose, NULL);
    while (!atomic_load(&is_held))
        usleep(1000);
    pthread_create(&worker, &workers, work, NULL);
    lock_set_name(&lost, "lost and found");
    while (!atomic_load(&works))
        usleep(1000);
    pthread_mutex_lock(&lost);
    pthread_mutex_unlock(&lost);
    pthread_join(holder, NULL);
    pthread_join(worker, NULL);
    struct findings found = look_for(&lost, 0);
    EXPECT(found.contended == 1 && found.by.holder_tid == atomic_load(&holder_tid) &&
               found.longest_wait > ticks_of_ms(HOLD_MS / 2),
           "a holder that is preempted");
}

/* ---- other objects that programs wait for ---------------------------------------------------------- */

static void announce(void)
{
    atomic_store(&wanting[0], thread_id());
}

static pthread_rwlock_t shelf = PTHREAD_RWLOCK_INITIALIZER;
static sem_t tickets;
static pthread_mutex_t wakeup_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wakeup = PTHREAD_COND_INITIALIZER;
static bool has_rung; /* covered by wakeup_lock */
static pthread_barrier_t gate;
static pthread_once_t opening = PTHREAD_ONCE_INIT;

static void *read_shelf(void *argument)
{
    announce();
    pthread_rwlock_rdlock(&shelf);
    pthread_rwlock_unlock(&shelf);
    return NULL;
}

static void *write_shelf(void *argument)
{
    announce();
    pthread_rwlock_wrlock(&shelf);
    pthread_rwlock_unlock(&shelf);
    return NULL;
}

static void *take_ticket(void *argument)
{
    announce();
    sem_wait(&tickets);
    return NULL;
}

static void *await_wakeup(void *argument)
{
    pthread_mutex_lock(&wakeup_lock);
    announce();
    while (!has_rung)
        pthread_cond_wait(&wakeup, &wakeup_lock);
    pthread_mutex_unlock(&wakeup_lock);
    return NULL;
}

static void *pass_gate(void *argument)
{
    announce();
    pthread_barrier_wait(&gate);
    return NULL;
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

static void let_wait(pthread_t *thread, void *(*routine)(void *))
{
    forget();
    atomic_store(&wanting[0], 0);
    pthread_create(thread, NULL, routine, NULL);
    let_come(&wanting[0]);
    usleep(HOLD_MS * 1000);
}

static bool has_waited(const struct findings *found, uint32_t lock_class, uint32_t holder, uint32_t readers)
{
    return found->contended == 1 && found->by.lock_class == lock_class && !found->chainless &&
           found->by.holder_tid == holder && found->by.readers == readers && found->sleeps >= 1 &&
           found->sleep_holder == holder && found->longest_wait > ticks_of_ms(HOLD_MS / 5) &&
           found->longest_wait < ticks_of_ms(100 * HOLD_MS);
}

static void test_rwlock_waits(void)
{
    pthread_t thread;
    pthread_rwlock_wrlock(&shelf);
    let_wait(&thread, read_shelf);
    pthread_rwlock_unlock(&shelf);
    pthread_join(thread, NULL);
    struct findings found = look_for(&shelf, 0);
    EXPECT(has_waited(&found, TARN_LOCK_READ, thread_id(), 0) && found.held == 1,
           "a reader waits for the writer of a read-write lock");
    pthread_rwlock_rdlock(&shelf);
    pthread_rwlock_rdlock(&shelf);
    let_wait(&thread, write_shelf);
    pthread_rwlock_unlock(&shelf);
    pthread_rwlock_unlock(&shelf);
    pthread_join(thread, NULL);
    found = look_for(&shelf, 0);
    EXPECT(has_waited(&found, TARN_LOCK_WRITE, UINT32_MAX, 2) && found.held == 1, "a writer for two readers");
}

static void test_rwlock_acquisitions(void)
{
    forget();
    watch(TARN_LOCK_READ, 1);
    watch(TARN_LOCK_WRITE, 10);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_rwlock_rdlock(&shelf);
        pthread_rwlock_unlock(&shelf);
        pthread_rwlock_wrlock(&shelf);
        pthread_rwlock_unlock(&shelf);
    }
    watch(TARN_LOCK_READ, 0);
    watch(TARN_LOCK_WRITE, 0);
    struct findings found = look_for(&shelf, 0);
    EXPECT(found.acquired == ROUNDS + ROUNDS / 10 && found.acquisitions == 2 * ROUNDS &&
               found.held == found.acquired && !found.contended && !found.chainless,
           "sampled: acquisitions for reading and writing, with hold times");
    forget();
    pthread_rwlock_rdlock(&shelf);
    pthread_rwlock_unlock(&shelf);
    pthread_rwlock_wrlock(&shelf);
    pthread_rwlock_unlock(&shelf);
    found = look_for(&shelf, 0);
    EXPECT(!found.acquired && !found.held && !found.contended, "not sampled: nothing is logged");
}

static void test_events(void)
{
    pthread_t thread;
    sem_init(&tickets, 0, 0);
    lock_set_name(&tickets, "tickets left");
    let_wait(&thread, take_ticket);
    sem_post(&tickets);
    pthread_join(thread, NULL);
    struct findings found = look_for(&tickets, 0);
    EXPECT(has_waited(&found, TARN_LOCK_SEMAPHORE, UINT32_MAX, 0) && !found.held, "a semaphore");
    let_wait(&thread, await_wakeup);
    pthread_mutex_lock(&wakeup_lock);
    has_rung = true;
    pthread_mutex_unlock(&wakeup_lock);
    pthread_cond_signal(&wakeup);
    pthread_join(thread, NULL);
    found = look_for(&wakeup, 0);
    EXPECT(has_waited(&found, TARN_LOCK_CONDITION, UINT32_MAX, 0) && !found.held, "a condition");
    found = look_for(&wakeup_lock, 0);
    EXPECT(found.longest_wait < ticks_of_ms(HOLD_MS / 2),
           "the wait for a condition does not count as a wait for its mutex");
    pthread_barrier_init(&gate, NULL, 2);
    let_wait(&thread, pass_gate);
    pthread_barrier_wait(&gate);
    pthread_join(thread, NULL);
    found = look_for(&gate, 0);
    EXPECT(has_waited(&found, TARN_LOCK_BARRIER, UINT32_MAX, 0), "a barrier");
}

static void *sleep_and_tell(void *argument)
{
    atomic_store(&holder_tid, thread_id());
    wait_until(process_id(), main_tid, THREAD_BLOCKED_FUTEX);
    usleep(HOLD_MS * 1000);
    return NULL;
}

static void test_waits_for_threads(void)
{
    pthread_t thread;
    forget();
    pthread_create(&thread, NULL, open_once, NULL);
    while (!atomic_load(&opens))
        usleep(1000);
    pthread_once(&opening, open_slowly);
    struct findings found = look_for(&opening, 0);
    EXPECT(found.contended == 1 && found.by.lock_class == TARN_LOCK_ONCE &&
               found.by.holder_tid != UINT32_MAX && found.by.holder_tid != thread_id() &&
               found.longest_wait > ticks_of_ms(HOLD_MS / 10),
           "pthread_once waits for the thread that runs the routine");
    pthread_join(thread, NULL);
    forget();
    atomic_store(&holder_tid, 0);
    pthread_create(&thread, NULL, sleep_and_tell, NULL);
    while (!atomic_load(&holder_tid))
        usleep(1000);
    pthread_join(thread, NULL);
    found = look_for(NULL, TARN_LOCK_JOIN);
    EXPECT(found.contended == 1 && found.by.holder_tid == atomic_load(&holder_tid) &&
               found.longest_wait > ticks_of_ms(HOLD_MS / 2),
           "the end of a thread");
}

/* ---- kernel locks ---------------------------------------------------------------------------------- */

static uint32_t find_class(const char *name)
{
    static struct system_lock_class classes[64];
    int64_t bytes = sys_system_read(SYSTEM_LOCK_CLASSES, 0, classes, sizeof classes);
    for (uint64_t i = 0; bytes > 0 && i < (uint64_t)bytes / sizeof *classes; i++)
        if (!strcmp(classes[i].name, name))
            return classes[i].number;
    return 0;
}

static struct findings make_notifications(uint32_t lock_class, uint64_t every)
{
    forget();
    watch(lock_class, every);
    for (int i = 0; i < ROUNDS; i++)
        sys_cap_close((cap_t)sys_notification_create());
    watch(lock_class, 0);
    return look_for(NULL, lock_class);
}

static void test_kernel_acquisitions(void)
{
    uint32_t slab = find_class("notification slab");
    EXPECT(slab != 0, "classes of the kernel's locks have names");
    struct findings all = make_notifications(slab, 1);
    EXPECT(all.acquisitions == all.acquired && all.acquired >= ROUNDS && all.held == all.acquired,
           "a sampled class of kernel locks: each acquisition is logged, with its hold time");
    struct findings some = make_notifications(slab, 50);
    uint64_t cpus = arch_trace_info()->cpu_count;
    EXPECT(some.acquired < all.acquired / 40 && some.acquisitions + 50 * cpus >= all.acquired &&
               some.acquisitions <= all.acquired + 50 * cpus && some.held == some.acquired,
           "one of fifty is logged, all are counted");
    struct findings none = make_notifications(slab, 0);
    EXPECT(none.acquired == 0 && none.held == 0, "none: nothing is logged");
}

/* Two CPUs want the same lock, and each holds it for 50 ms (boot option debug.hang=1). */
static void test_kernel_waits(void)
{
    static char *argv[] = {"debug", "lock", "50", NULL};
    int status = -1;
    process_set_affinity(0);
    pid_t pid;
    forget();
    watch(find_class("debug hang"), 1);
    bool fine = !posix_spawn(&pid, "/bin/debug", NULL, NULL, argv, environ) &&
                waitpid(pid, &status, 0) == pid && status == 0;
    struct findings found = look_for(NULL, find_class("debug hang"));
    watch(find_class("debug hang"), 0);
    EXPECT(fine && found.contended == 1 && found.held == 2, "two CPUs want the same lock: one waits");
    EXPECT(found.by.pid == 0 && found.by.spins > 0 && found.by.depth > 0 &&
               found.longest_wait > ticks_of_ms(1),
           "it spins, with a call chain");
    EXPECT(found.by.holder_pid != 0 && found.by.holder_pid != UINT32_MAX && found.by.holder_tid != 0 &&
               found.by.holder_cpu < arch_trace_info()->cpu_count,
           "the event names the holder and its CPU");
    EXPECT(found.longest_held > ticks_of_ms(HOLD_MS / 2), "and the hold time");
}

int main(int argc, char **argv)
{
    pulled = argc > 1;
    main_tid = thread_id();
    if (!pulled) {
        control(TRACE_OP_SET_GEOMETRY, 64 << 10, 16);
        control(TRACE_OP_SET_MASK, 1ull << TRACE_CLASS_LOCK | 1ull << TRACE_CLASS_STATE, 0);
    }
    test_acquisitions();
    test_waits();
    test_lost_processor();
    test_rwlock_waits();
    test_rwlock_acquisitions();
    test_events();
    test_waits_for_threads();
    test_kernel_acquisitions();
    test_kernel_waits();
    return finish_tests();
}
