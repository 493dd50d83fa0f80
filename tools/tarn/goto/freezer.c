/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/freezer.c - watches stores of another process; see freezer.h. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <tools/tarn/goto/emulator.h>
#include <tools/tarn/goto/freezer.h>
#include <tools/tarn/source/source.h>

#define ASKED_SECONDS 60.0

#if __has_include(<asm/debugreg.h>)
#include <asm/debugreg.h>

/* The first register is on, for stores of 8 bytes. */
#define DEBUG_CONTROL     (1ul | (unsigned long)(DR_RW_WRITE | DR_LEN_8) << DR_CONTROL_SHIFT)
#define DEBUG_REGISTER(n) ((void *)(offsetof(struct user, u_debugreg) + (n) * sizeof(long)))

static bool set_watch(pid_t thread, uint64_t address)
{
    return ptrace(PTRACE_POKEUSER, thread, DEBUG_REGISTER(DR_CONTROL), NULL) == 0 &&
           ptrace(PTRACE_POKEUSER, thread, DEBUG_REGISTER(DR_FIRSTADDR), (void *)address) == 0 &&
           (address == 0 ||
            ptrace(PTRACE_POKEUSER, thread, DEBUG_REGISTER(DR_CONTROL), (void *)DEBUG_CONTROL) == 0);
}

/* Has the watch stopped it, and not something else? */
static bool has_stored(pid_t thread)
{
    bool stored = ptrace(PTRACE_PEEKUSER, thread, DEBUG_REGISTER(DR_STATUS), NULL) & DR_TRAP0;

    ptrace(PTRACE_POKEUSER, thread, DEBUG_REGISTER(DR_STATUS), NULL);
    return stored;
}
#else
static bool set_watch(pid_t thread, uint64_t address)
{
    (void)thread, (void)address;
    errno = ENOSYS;
    return false;
}

static bool has_stored(pid_t thread)
{
    return thread == 0;
}
#endif

/* Waits for a thread that was told to stop. */
static void wait_stopped(pid_t thread)
{
    int status;

    while (waitpid(thread, &status, __WALL) < 0 && errno == EINTR)
        ;
}

bool freezer_open(struct freezer *freezer, pid_t pid, struct fail *fail)
{
    char path[40];
    struct dirent *entry;

    *freezer = (struct freezer){.pid = pid};
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    while (tasks != NULL && (entry = readdir(tasks)) != NULL && freezer->count < FREEZER_THREADS_MAX) {
        pid_t thread = (pid_t)atoi(entry->d_name);
        if (thread <= 0)
            continue;
        if (ptrace(PTRACE_SEIZE, thread, NULL, (void *)PTRACE_O_EXITKILL) != 0) {
            closedir(tasks);
            return fail_set(fail, "the system does not let tarn trace the emulator: %s", strerror(errno));
        }
        freezer->threads[freezer->count++] = thread;
        ptrace(PTRACE_INTERRUPT, thread, NULL, NULL);
        wait_stopped(thread);
    }
    if (tasks != NULL)
        closedir(tasks);
    return freezer->count > 0 || fail_set(fail, "the emulator has no threads");
}

bool freezer_watch(struct freezer *freezer, uint64_t address, struct fail *fail)
{
    for (unsigned i = 0; i < freezer->count; i++)
        if ((freezer->frozen == 0 || freezer->threads[i] == freezer->frozen) &&
            !set_watch(freezer->threads[i], address))
            return fail_set(fail, "this host's debug registers cannot be had: %s", strerror(errno));
    return true;
}

void freezer_resume(struct freezer *freezer)
{
    for (unsigned i = 0; i < freezer->count; i++)
        if (freezer->frozen == 0 || freezer->threads[i] == freezer->frozen)
            ptrace(PTRACE_CONT, freezer->threads[i], NULL, NULL);
    freezer->frozen = 0;
}

/* A thread that has gone is not waited for any more. */
static void forget(struct freezer *freezer, pid_t thread)
{
    for (unsigned i = 0; i < freezer->count; i++)
        if (freezer->threads[i] == thread)
            freezer->threads[i--] = freezer->threads[--freezer->count];
}

enum freezer_got freezer_wait(struct freezer *freezer, struct fail *fail)
{
    int status;

    for (;;) {
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0 || emulator_is_interrupted()) {
            fail_set(fail, emulator_is_interrupted() ? "interrupted" : "the emulator cannot be waited for");
            return FREEZER_FAILED;
        }
        if (!WIFSTOPPED(status)) {
            forget(freezer, thread);
            if (thread == freezer->pid)
                return FREEZER_ENDED;
            continue;
        }
        if (WSTOPSIG(status) == SIGTRAP && status >> 16 == 0 && has_stored(thread)) {
            freezer->frozen = thread;
            return FREEZER_STORED;
        }
        /* a signal of its own goes on to it; a stop of the tracer's is none */
        long number = status >> 16 != 0 ? 0 : WSTOPSIG(status);
        ptrace(PTRACE_CONT, thread, NULL, (void *)number);
    }
}

bool freezer_wait_asked(const struct freezer *freezer, struct fail *fail)
{
    double until = now_seconds() + ASKED_SECONDS;
    char path[60];

    snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)freezer->pid, (int)freezer->pid);
    while (now_seconds() < until && !emulator_is_interrupted()) {
        long number = -1;
        FILE *file = fopen(path, "re");
        if (file == NULL)
            return fail_set(fail, "cannot read %s: %s", path, strerror(errno));
        bool is_blocked = fscanf(file, "%ld", &number) == 1 && number == SYS_futex;
        fclose(file);
        if (is_blocked)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return fail_set(fail, "the emulator does not stop");
}

void freezer_close(struct freezer *freezer)
{
    for (unsigned i = 0; i < freezer->count; i++) {
        pid_t thread = freezer->threads[i];
        if (thread != freezer->frozen) {
            ptrace(PTRACE_INTERRUPT, thread, NULL, NULL);
            wait_stopped(thread);
        }
        set_watch(thread, 0);
        ptrace(PTRACE_DETACH, thread, NULL, NULL);
    }
    *freezer = (struct freezer){0};
}
