/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/tracee.c - waits for traced threads; see tracee.h. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <tools/tarn/goto/tracee.h>
#include <tools/tarn/source/source.h>
#include <unistd.h>

#define FIRST_PAUSE 20000u   /* nanoseconds */
#define LAST_PAUSE  2000000u /* pauses double up to this */

static void pause_longer(long *nanoseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = *nanoseconds}, NULL);
    *nanoseconds = *nanoseconds < LAST_PAUSE ? 2 * *nanoseconds : LAST_PAUSE;
}

FILE *process_file(pid_t process, const char *name, const char *mode)
{
    char path[80];

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)process, name);
    return fopen(path, mode);
}

double process_seconds(pid_t process)
{
    struct timespec used = {0};
    clockid_t clock;

    if (clock_getcpuclockid(process, &clock) == 0)
        clock_gettime(clock, &used);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

char tracee_state(pid_t process, pid_t thread)
{
    char name[40], state = 0;

    snprintf(name, sizeof(name), "task/%d/stat", (int)thread);
    FILE *file = process_file(process, name, "re");
    if (file == NULL)
        return 0;
    int got = fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return got == 1 ? state : 0;
}

static bool has_ended(pid_t process, pid_t thread)
{
    char state = tracee_state(process, thread);

    return state == 0 || state == 'Z' || state == 'X';
}

bool tracee_is_killed(pid_t process)
{
    unsigned long status = 0;
    siginfo_t about;

    if (has_ended(process, process))
        return true;
    return ptrace(PTRACE_GETSIGINFO, process, NULL, &about) == 0 && about.si_code >> 8 == PTRACE_EVENT_EXIT &&
           ptrace(PTRACE_GETEVENTMSG, process, NULL, &status) == 0 && WIFSIGNALED((int)status);
}

bool tracee_wait(pid_t thread, int *status)
{
    double until = now_seconds() + TRACEE_SECONDS;
    long pause = FIRST_PAUSE;

    for (;;) {
        pid_t got = waitpid(thread, status, WNOHANG | __WALL);
        if (got == thread)
            return WIFSTOPPED(*status);
        if (got < 0 && errno != EINTR)
            return false;
        if (has_ended(thread, thread)) /* a main thread cannot be reaped before the others */
            return waitpid(thread, status, WNOHANG | __WALL) == thread && WIFSTOPPED(*status);
        if (now_seconds() > until) {
            syscall(SYS_tkill, thread, SIGKILL);
            return false;
        }
        pause_longer(&pause);
    }
}

void tracee_detach(pid_t thread, int number)
{
    int status;

    /* A killed thread stops again at its end. */
    while (ptrace(PTRACE_DETACH, thread, NULL, (void *)(long)number) != 0)
        if (!tracee_wait(thread, &status))
            return;
}

bool tracee_threads(pid_t process, bool (*visit)(void *context, pid_t thread), void *context)
{
    struct dirent *entry;
    char path[40];
    bool ok = true;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
    DIR *tasks = opendir(path);
    while (tasks != NULL && ok && (entry = readdir(tasks)) != NULL)
        if (atoi(entry->d_name) > 0)
            ok = visit(context, (pid_t)atoi(entry->d_name));
    if (tasks != NULL)
        closedir(tasks);
    return ok;
}

struct ending {
    pid_t process;
    bool is_over;
};

static bool let_end(void *context, pid_t thread)
{
    struct ending *ending = context;
    int status;

    ptrace(PTRACE_CONT, thread, NULL, NULL);
    pid_t got = waitpid(thread, &status, WNOHANG | __WALL);
    if (got == thread && !WIFSTOPPED(status))
        return true;
    if (got != -1 || !has_ended(ending->process, thread))
        ending->is_over = false; /* otherwise its own parent reaps it */
    return true;
}

void tracee_end(pid_t process)
{
    double until = now_seconds() + TRACEE_SECONDS;
    struct ending ending = {.process = process};
    long pause = FIRST_PAUSE;

    kill(process, SIGKILL);
    for (;;) {
        ending.is_over = true;
        tracee_threads(process, let_end, &ending);
        if (ending.is_over)
            return;
        if (now_seconds() > until) {
            complain("process %d does not end", (int)process);
            return;
        }
        pause_longer(&pause);
    }
}
