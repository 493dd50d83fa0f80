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
#include <tools/tarn/goto/child.h>
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

static bool is_tracers_stop(int status)
{
    return status >> 16 != 0;
}

/* What waitpid said of a thread: it is stopped. A signal of its own is kept for it. */
static void note_stop(struct freezer_thread *thread, int status)
{
    thread->is_stopped = true;
    thread->signal = is_tracers_stop(status) ? 0 : WSTOPSIG(status);
}

/* Until it stops or has ended. True: it has stopped. */
static bool wait_thread(struct freezer_thread *thread)
{
    int status;

    while (waitpid(thread->id, &status, __WALL) < 0)
        if (errno != EINTR)
            return false;
    if (!WIFSTOPPED(status))
        return false;
    note_stop(thread, status);
    return true;
}

/* False: it has ended. */
static bool stop_thread(struct freezer_thread *thread)
{
    if (thread->is_stopped)
        return true;
    ptrace(PTRACE_INTERRUPT, thread->id, NULL, NULL);
    return wait_thread(thread);
}

/* The next of the emulator's threads; 0: there is none. */
static pid_t next_thread(DIR *tasks)
{
    struct dirent *entry;

    while ((entry = readdir(tasks)) != NULL)
        if (atoi(entry->d_name) > 0)
            return (pid_t)atoi(entry->d_name);
    return 0;
}

bool freezer_open(struct freezer *freezer, pid_t pid, struct fail *fail)
{
    char path[40];
    pid_t id;

    *freezer = (struct freezer){.pid = pid};
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    while (tasks != NULL && (id = next_thread(tasks)) != 0) {
        struct freezer_thread *thread = &freezer->threads[freezer->count];
        bool has_room = freezer->count < FREEZER_THREADS_MAX;
        if (!has_room || (ptrace(PTRACE_SEIZE, id, NULL, (void *)PTRACE_O_EXITKILL) != 0 && errno != ESRCH)) {
            closedir(tasks);
            return has_room ? fail_set(fail, "the system does not let tarn trace the emulator: %s",
                                       strerror(errno))
                            : fail_set(fail, "the emulator has more than %u threads", FREEZER_THREADS_MAX);
        }
        *thread = (struct freezer_thread){.id = id};
        freezer->count += stop_thread(thread); /* a helper may have ended meanwhile */
    }
    if (tasks != NULL)
        closedir(tasks);
    return freezer->count > 0 || fail_set(fail, "the emulator has ended");
}

bool freezer_watch(struct freezer *freezer, uint64_t address, struct fail *fail)
{
    for (unsigned i = 0; i < freezer->count; i++)
        if (freezer->threads[i].is_stopped && !set_watch(freezer->threads[i].id, address) && errno != ESRCH)
            return fail_set(fail, "this host's debug registers cannot be had: %s", strerror(errno));
    return true;
}

void freezer_resume(struct freezer *freezer)
{
    for (unsigned i = 0; i < freezer->count; i++) {
        struct freezer_thread *thread = &freezer->threads[i];
        if (thread->is_stopped)
            ptrace(PTRACE_CONT, thread->id, NULL, (void *)(long)thread->signal);
        thread->is_stopped = false;
    }
}

static struct freezer_thread *find_thread(struct freezer *freezer, pid_t id)
{
    for (unsigned i = 0; i < freezer->count; i++)
        if (freezer->threads[i].id == id)
            return &freezer->threads[i];
    return NULL;
}

/* A thread that has gone is not waited for any more. */
static void forget(struct freezer *freezer, struct freezer_thread *thread)
{
    *thread = freezer->threads[--freezer->count];
}

enum freezer_got freezer_wait(struct freezer *freezer, struct fail *fail)
{
    int status;

    for (;;) {
        pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0 && errno == EINTR)
            continue; /* the signal's handler has ended the emulator */
        if (id < 0) {
            fail_set(fail, "the emulator cannot be waited for: %s", strerror(errno));
            return FREEZER_FAILED;
        }
        struct freezer_thread *thread = find_thread(freezer, id);
        if (thread == NULL)
            continue; /* it ended while it was taken hold of */
        if (!WIFSTOPPED(status)) {
            forget(freezer, thread);
            if (id == freezer->pid) {
                child_forget(id);
                return FREEZER_ENDED;
            }
            continue;
        }
        note_stop(thread, status);
        if (thread->signal == SIGTRAP && has_stored(id)) {
            thread->signal = 0;
            return FREEZER_STORED;
        }
        freezer_resume(freezer);
    }
}

bool freezer_wait_asleep(const struct freezer *freezer, struct fail *fail)
{
    double until = now_seconds() + ASKED_SECONDS;
    char path[60];

    snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)freezer->pid, (int)freezer->pid);
    while (now_seconds() < until && !child_is_interrupted()) {
        long number = -1;
        FILE *file = fopen(path, "re");
        if (file == NULL)
            return fail_set(fail, "cannot read %s: %s", path, strerror(errno));
        bool is_asleep = fscanf(file, "%ld", &number) == 1 && number == SYS_futex;
        fclose(file);
        if (is_asleep)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return fail_set(fail, "the emulator does not stop");
}

/* If the emulator is being killed, its threads cannot be let go, and have to be waited for: the first one,
 * which is the process, after all others. */
void freezer_close(struct freezer *freezer)
{
    while (freezer->count > 0) {
        struct freezer_thread *thread = &freezer->threads[--freezer->count];
        if (!stop_thread(thread))
            continue;
        set_watch(thread->id, 0);
        if (ptrace(PTRACE_DETACH, thread->id, NULL, (void *)(long)thread->signal) != 0 &&
            thread->id != freezer->pid)
            wait_thread(thread);
    }
    *freezer = (struct freezer){0};
}
