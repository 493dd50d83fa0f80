/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * late_halt.c - a library for LD_PRELOAD: provokes what tools/emulator/icount_order.c prevents. It stops the
 * thread that executes QEMU's CPUs for a while when the last of them has just halted, and is not yet back in
 * the thread's loop, which accounts for what was executed. The way back is a longjmp (x86_64) or gives up
 * QEMU's lock (powerpc64). At the end it prints how often it did so. A busy host does it now and then.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LATE_NS 2000000

static bool (*all_idle)(void); /* QEMU's */
static int (*real_unlock)(pthread_mutex_t *);
static unsigned late;
static _Thread_local bool was_late; /* since it slept */

_Noreturn void siglongjmp(sigjmp_buf environment, int value);
_Noreturn void __longjmp_chk(sigjmp_buf environment, int value);

__attribute__((destructor)) static void report(void)
{
    if (late)
        fprintf(stderr, "late: %u\n", late);
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

static _Noreturn void jump(const char *name, sigjmp_buf environment, int value)
{
    void (*real)(sigjmp_buf, int);

    *(void **)&real = dlsym(RTLD_NEXT, name);
    be_late();
    real(environment, value);
    __builtin_unreachable();
}

_Noreturn void siglongjmp(sigjmp_buf environment, int value)
{
    jump("siglongjmp", environment, value);
}

/* siglongjmp, in programs that are compiled with _FORTIFY_SOURCE */
_Noreturn void __longjmp_chk(sigjmp_buf environment, int value)
{
    jump("__longjmp_chk", environment, value);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (real_unlock == NULL)
        *(void **)&real_unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    int result = real_unlock(mutex);
    be_late();
    return result;
}
