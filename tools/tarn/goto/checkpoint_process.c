/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/checkpoint_process.c - the stopped processes of checkpoints; see checkpoint_process.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <tools/tarn/goto/checkpoint.h>
#include <tools/tarn/goto/checkpoint_process.h>
#include <tools/tarn/goto/remote.h>
#include <tools/tarn/goto/tracee.h>
#include <unistd.h>

#define KILLED_FIRST 1000 /* oom_score_adj */

uint64_t process_born(pid_t pid)
{
    char text[600], state = '?';
    unsigned long long born = 0;
    FILE *file = process_file(pid, "stat", "re");

    if (file == NULL)
        return 0;
    size_t size = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[size] = '\0';
    const char *at = strrchr(text, ')'); /* the name before it may contain any character */
    if (at == NULL ||
        sscanf(at, ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
               &state, &born) != 2)
        return 0;
    return state == 'Z' || state == 'X' ? 0 : born; /* in any other state, another tarn may be using it */
}

void process_kill(pid_t pid, uint64_t born)
{
    int fd = born != 0 ? pidfd_open(pid, 0) : -1;

    if (fd >= 0 && process_born(pid) == born)
        pidfd_send_signal(fd, SIGKILL, NULL, 0); /* its parent will reap it, at the latest when tarn ends */
    if (fd >= 0)
        close(fd);
}

uint64_t process_bytes(pid_t pid)
{
    unsigned long long kib = 0;
    char line[200];
    FILE *file = process_file(pid, "smaps_rollup", "re");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL && sscanf(line, "Pss: %llu", &kib) != 1)
        ;
    if (file != NULL)
        fclose(file);
    return kib << 10;
}

void process_offer_memory(pid_t pid, bool offers)
{
    FILE *file = process_file(pid, "oom_score_adj", "we");

    if (file == NULL)
        return; /* the host keeps its own order */
    fprintf(file, "%d", offers ? KILLED_FIRST : 0);
    fclose(file);
}

/* ---- its end ---- */

/* The system ends the process after CHECKPOINT_MINUTES, although it is stopped. */
static bool set_timer(const struct remote *remote, int timer)
{
    struct itimerspec when = {.it_value.tv_sec = CHECKPOINT_MINUTES * 60};

    return remote_put(remote, &when, sizeof(when)) &&
           remote_system(remote, SYS_timer_settime, (unsigned long)timer, 0, remote->scratch) == 0;
}

static bool make_timer(const struct remote *remote, int *timer)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    uint64_t timer_at = remote->scratch + sizeof(event);

    return remote_put(remote, &event, sizeof(event)) &&
           remote_system(remote, SYS_timer_create, CLOCK_MONOTONIC, remote->scratch, timer_at) == 0 &&
           pread(remote->memory, timer, sizeof(*timer), (off_t)timer_at) == sizeof(*timer) &&
           set_timer(remote, *timer);
}

/* SIGKILL as the system's notification that a file of the directory was deleted. */
static bool end_with(const struct remote *remote, int directory)
{
    char path[REMOTE_SCRATCH] = "";

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), directory);
    long fd = remote_put(remote, path, sizeof(path))
                  ? remote_system(remote, SYS_open, remote->scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
                  : -1;
    return fd >= 0 && remote_system(remote, SYS_fcntl, (unsigned long)fd, F_SETSIG, SIGKILL) == 0 &&
           remote_system(remote, SYS_fcntl, (unsigned long)fd, F_NOTIFY, DN_DELETE | DN_MULTISHOT) == 0;
}

/* Then hang-ups of the terminal do not reach it, and any later tarn may trace it. */
static bool leave_session(const struct remote *remote)
{
    if (remote_system(remote, SYS_setsid, 0) < 0)
        return false;
    remote_system(remote, SYS_prctl, PR_SET_PTRACER,
                  (unsigned long)PR_SET_PTRACER_ANY); /* if Yama restricts ptrace */
    return true;
}

bool process_set_free(const struct freezer *process, int directory, int *timer, struct fail *fail)
{
    struct remote remote;
    bool ok = remote_open(&remote, process->pid, process->pid, fail) &&
              ((make_timer(&remote, timer) && end_with(&remote, directory) && leave_session(&remote)) ||
               fail_set(fail, "the system cannot bind a copy of the emulator to its directory"));

    remote_close(&remote);
    return ok;
}

bool process_wind_up(const struct freezer *process, int timer, struct fail *fail)
{
    struct remote remote;
    bool ok = remote_open(&remote, process->pid, process->pid, fail) &&
              (set_timer(&remote, timer) || fail_set(fail, "it has ended"));

    remote_close(&remote);
    return ok;
}

void process_leave(struct freezer *process)
{
    kill(process->pid, SIGSTOP);
    freezer_close(process);
}
