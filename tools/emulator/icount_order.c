/*
 * icount_order.c - a library for LD_PRELOAD that keeps the host's scheduling from affecting guests whose
 * clock counts instructions (QEMU's -icount shift=0,sleep=off). tools/guest.py starts each such emulator with
 * it.
 *
 * One thread of QEMU executes all vCPUs. When all are halted it sleeps, and the main thread advances the
 * clock to the next timer (icount_start_warp_timer). But a vCPU is halted from HLT on, and what it has
 * executed since the clock was last read is added to the clock a moment later (icount_process_data). If an
 * expired timer wakes the main thread in between, it advances the clock too early, and the run differs from
 * there on.
 *
 * With this library, the main thread returns from ppoll only while the vCPUs' thread sleeps; that thread
 * counts as awake from the moment when it is woken. The main thread does not wait
 *
 *   - if there is input from outside: from a debugger, the monitor, a console;
 *   - if a vCPU has stopped at a breakpoint, or the guest powers off. The vCPUs' thread signals this when it
 *     releases QEMU's lock, which it acquired to stop;
 *   - if the thread has not slept for a minute.
 *
 * The vCPUs' thread is the only one, except the main thread, that waits for a condition without a time-out.
 * QEMU exports its functions for modules.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_SECONDS 60
#define FILES_MAX        64u
#define CPUS_MAX         64

static pthread_cond_t *_Atomic asleep; /* what the vCPUs' thread waits for; NULL: it is awake */
static _Atomic bool is_waiting;        /* the main thread waits for `wake_up` */
static int wake_up = -1;               /* eventfd: it may continue */

static int (*real_ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
static int (*real_wait)(pthread_cond_t *, pthread_mutex_t *);
static int (*real_unlock)(pthread_mutex_t *);
static int (*real_broadcast)(pthread_cond_t *);

/* Functions of QEMU, or NULL: get a vCPU by number; whether it has stopped; why the machine should end or be
 * reset, or 0. */
static void *(*get_cpu)(int);
static bool (*is_stopped)(void *);
static int (*get_shutdown)(void), (*get_reset)(void);

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int pthread_cond_broadcast(pthread_cond_t *condition);
int pthread_mutex_unlock(pthread_mutex_t *mutex);
int ppoll(struct pollfd *files, nfds_t count, const struct timespec *limit, const sigset_t *mask);
/* Makes the calling thread count as the main one, in a process that the vCPUs' thread has forked. */
void icount_order_be_main(void);

/* x86_64 has two versions of them. */
static void *condition_function(const char *name)
{
    void *found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    return found != NULL ? found : dlsym(RTLD_NEXT, name);
}

/* Before main; constructors of other libraries may call it earlier. */
__attribute__((constructor)) static void start(void)
{
    if (real_unlock != NULL)
        return;
    *(void **)&real_unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    *(void **)&real_ppoll = dlsym(RTLD_NEXT, "ppoll");
    *(void **)&real_wait = condition_function("pthread_cond_wait");
    *(void **)&real_broadcast = condition_function("pthread_cond_broadcast");
    *(void **)&get_cpu = dlsym(RTLD_DEFAULT, "qemu_get_cpu");
    *(void **)&is_stopped = dlsym(RTLD_DEFAULT, "cpu_is_stopped");
    *(void **)&get_shutdown = dlsym(RTLD_DEFAULT, "qemu_shutdown_requested_get");
    *(void **)&get_reset = dlsym(RTLD_DEFAULT, "qemu_reset_requested_get");
    wake_up = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

/* TLS, so the vCPUs' thread stays what it is in a process that it forks (copies.c). */
static _Thread_local enum { UNKNOWN, MAIN, OTHER } role;

static bool is_main_thread(void)
{
    if (role == UNKNOWN)
        role = syscall(SYS_gettid) == getpid() ? MAIN : OTHER;
    return role == MAIN;
}

void icount_order_be_main(void)
{
    role = MAIN;
}

/* Returns a vCPU by number, or NULL. Caches them, because get_cpu walks a list, and each unlock calls this.
 * vCPUs are never removed. */
static void *cpu_of(int number)
{
    static void *_Atomic known[CPUS_MAX];

    void *cpu = number < CPUS_MAX ? atomic_load_explicit(&known[number], memory_order_relaxed) : NULL;
    if (cpu == NULL && (cpu = get_cpu(number)) != NULL && number < CPUS_MAX)
        atomic_store_explicit(&known[number], cpu, memory_order_relaxed);
    return cpu;
}

/* Whether the main thread should stop the machine. */
static bool is_wanted(void)
{
    void *cpu;
    if ((get_shutdown != NULL && get_shutdown() != 0) || (get_reset != NULL && get_reset() != 0))
        return true;
    for (int i = 0; get_cpu != NULL && is_stopped != NULL && (cpu = cpu_of(i)) != NULL; i++)
        if (is_stopped(cpu))
            return true;
    return false;
}

static void wake_main(void)
{
    uint64_t one = 1;
    if (write(wake_up, &one, sizeof(one)) < 0)
        return; /* its counter is full, so the main thread will wake */
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    if (is_main_thread())
        return real_wait(condition, mutex);
    atomic_store(&asleep, condition);
    if (atomic_load(&is_waiting))
        wake_main();
    int result = real_wait(condition, mutex);
    atomic_store(&asleep, NULL); /* also if nobody woke it */
    return result;
}

/* QEMU wakes the vCPUs' thread by this. */
int pthread_cond_broadcast(pthread_cond_t *condition)
{
    pthread_cond_t *woken = condition;
    start();
    atomic_compare_exchange_strong(&asleep, &woken, NULL);
    return real_broadcast(condition);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    start();
    int result = real_unlock(mutex);

    if (atomic_load(&is_waiting) && is_wanted())
        wake_main();
    return result;
}

/* QEMU's threads wake each other through eventfds. */
static bool is_from_outside(int fd)
{
    char path[40], name[40];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(path, name, sizeof(name) - 1);
    name[length > 0 ? length : 0] = '\0';
    return strcmp(name, "anon_inode:[eventfd]") != 0;
}

static bool has_outside(const struct pollfd *files, nfds_t count)
{
    for (nfds_t i = 0; i < count; i++)
        if (files[i].revents != 0 && is_from_outside(files[i].fd))
            return true;
    return false;
}

static void wait_for_turn(const struct pollfd *files, nfds_t count)
{
    const struct timespec patience = {.tv_sec = PATIENCE_SECONDS};
    struct pollfd watched[FILES_MAX + 1] = {{.fd = wake_up, .events = POLLIN}};
    uint64_t ignored;
    nfds_t used = 1;
    for (nfds_t i = 0; i < count; i++)
        if (is_from_outside(files[i].fd))
            watched[used++] = (struct pollfd){.fd = files[i].fd, .events = files[i].events};
    atomic_store(&is_waiting, true);
    while (atomic_load(&asleep) == NULL && !is_wanted()) {
        int got = real_ppoll(watched, used, &patience, NULL);
        if (got == 0 || (got < 0 && errno != EINTR) || has_outside(watched + 1, used - 1))
            break;
        if (read(wake_up, &ignored, sizeof(ignored)) < 0 && errno != EAGAIN)
            break;
    }
    atomic_store(&is_waiting, false);
}

int ppoll(struct pollfd *files, nfds_t count, const struct timespec *limit, const sigset_t *mask)
{
    int got = real_ppoll(files, count, limit, mask), error = errno;
    if (is_main_thread() && count <= FILES_MAX && (got <= 0 || !has_outside(files, count)))
        wait_for_turn(files, count);
    errno = error;
    return got;
}
