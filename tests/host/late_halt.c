/*
 * late_halt.c - a library for LD_PRELOAD: provokes what tools/emulator/icount_order.c prevents. It stops the
 * thread that executes QEMU's CPUs for a while when the last of them has just halted, and is not yet back in
 * the thread's loop, which accounts for what was executed. The way back is a longjmp (x86_64) or gives up
 * QEMU's lock (powerpc64). It stops the main thread when that has woken the other one and is about to check
 * again whether all CPUs are halted. At the end it prints how often it did so. A busy host does both now and
 * then.
 */
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LATE_NS 2000000 /* the main thread: half of it to one and a half */

static bool (*all_idle)(void); /* QEMU's */
static int (*real_unlock)(pthread_mutex_t *);
static unsigned late, main_late;
static _Thread_local bool has_woken;
static _Thread_local bool was_late; /* since it slept */

_Noreturn void siglongjmp(sigjmp_buf environment, int value);
int pthread_cond_broadcast(pthread_cond_t *condition);
int ppoll(struct pollfd *files, nfds_t count, const struct timespec *limit, const sigset_t *mask);

__attribute__((destructor)) static void report(void)
{
    if (late)
        fprintf(stderr, "late: %u, main thread: %u\n", late, main_late);
}

static void be_late(void)
{
    if (all_idle == NULL)
        *(void **)&all_idle = dlsym(RTLD_DEFAULT, "all_cpu_threads_idle");
    if (all_idle == NULL || syscall(SYS_gettid) == getpid())
        return;
    bool idle = all_idle();
    if (idle && !was_late) {
        late++;
        nanosleep(&(struct timespec){.tv_nsec = LATE_NS}, NULL);
    }
    was_late = idle;
}

_Noreturn void siglongjmp(sigjmp_buf environment, int value)
{
    void (*real)(sigjmp_buf, int);
    *(void **)&real = dlsym(RTLD_NEXT, "siglongjmp");
    be_late();
    real(environment, value);
    __builtin_unreachable();
}

/* what programs call that are compiled with _FORTIFY_SOURCE */
_Noreturn void __longjmp_chk(sigjmp_buf environment, int value) __attribute__((alias("siglongjmp"), nothrow));

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (real_unlock == NULL)
        *(void **)&real_unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    int result = real_unlock(mutex);
    be_late();
    return result;
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
    int (*real)(pthread_cond_t *);
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_cond_broadcast");
    has_woken = true;
    return real(condition);
}

int ppoll(struct pollfd *files, nfds_t count, const struct timespec *limit, const sigset_t *mask)
{
    int (*real)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    *(void **)&real = dlsym(RTLD_NEXT, "ppoll");
    int result = real(files, count, limit, mask);
    if (has_woken && syscall(SYS_gettid) == getpid())
        nanosleep(&(struct timespec){.tv_nsec = LATE_NS / 2 + main_late++ % 10 * LATE_NS / 10}, NULL);
    has_woken = false;
    return result;
}
