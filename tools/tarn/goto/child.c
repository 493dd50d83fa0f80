/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/child.c - starts programs, waits for them and ends them; see child.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tools/tarn/goto/child.h>
#include <tools/tarn/source/source.h>
#include <unistd.h>

#define CHILDREN_MAX 4u /* the emulator and gdb, or one that prints a line */
#define END_SECONDS  60.0

/* The running ones. A pidfd still refers to its process when that has ended and its pid was reused. */
static struct child {
    pid_t pid;
    atomic_int fd;     /* 0: this entry is free */
    atomic_int ending; /* the signal */
} children[CHILDREN_MAX];
static atomic_int interrupted;

static void end_child(const struct child *child, bool is_second)
{
    int fd = child->fd;

    if (fd > 0)
        pidfd_send_signal(fd, is_second ? SIGKILL : child->ending, NULL, 0);
}

static void end_children(int number)
{
    int error = errno;
    bool is_second = atomic_exchange(&interrupted, number) != 0;

    for (unsigned i = 0; i < CHILDREN_MAX; i++)
        end_child(&children[i], is_second);
    errno = error;
}

void child_catch_signals(void)
{
    struct sigaction action = {.sa_handler = end_children};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

bool child_is_interrupted(void)
{
    return interrupted != 0;
}

/* PID 0: a free entry. */
static struct child *find_child(pid_t pid)
{
    for (unsigned i = 0; i < CHILDREN_MAX; i++)
        if ((children[i].fd > 0 ? children[i].pid : 0) == pid)
            return &children[i];
    return NULL;
}

/* A signal that came earlier has not ended it. */
bool child_adopt(pid_t pid, int ending)
{
    struct child *child = find_child(0);
    int fd = child != NULL ? pidfd_open(pid, 0) : -1;

    if (fd < 0)
        return false;
    child->pid = pid;
    child->ending = ending;
    child->fd = fd;
    if (child_is_interrupted())
        end_child(child, false);
    return true;
}

/* Waits, also for an adopted process, which only its parent can reap. */
static bool ends_within(pid_t pid, double seconds)
{
    struct child *child = find_child(pid);
    struct pollfd end = {.fd = child != NULL ? child->fd : -1, .events = POLLIN};
    double until = now_seconds() + seconds, left = seconds;

    if (pid <= 0 || child == NULL)
        return false;
    while (poll(&end, 1, left > 0 ? (int)(left * 1e3) : 0) <= 0)
        if ((left = until - now_seconds()) <= 0)
            return false;
    return true;
}

void child_forget(pid_t pid)
{
    struct child *child = find_child(pid);

    if (pid > 0 && child != NULL)
        close(atomic_exchange(&child->fd, 0));
}

static void end_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(CHILD_NOT_STARTED); /* it died before the line above */
}

pid_t child_start(char *const *words, int output, int ending)
{
    pid_t parent = getpid(), pid = fork();

    if (pid < 0)
        return -1;
    if (pid > 0) {
        if (child_adopt(pid, ending))
            return pid;
        kill(pid, SIGKILL);
        child_wait(pid);
        return -1;
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0}); /* gdb may abort if it and its target end at the same time */
    end_with(parent);
    if (output >= 0) {
        setpgid(0, 0); /* it gets no Ctrl-C from the terminal */
        dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
        dup2(output, STDOUT_FILENO);
        dup2(output, STDERR_FILENO);
        close_range(STDERR_FILENO + 1, UINT_MAX,
                    CLOSE_RANGE_CLOEXEC); /* otherwise copies would keep them open */
    }
    execvp(words[0], words);
    _exit(CHILD_NOT_STARTED);
}

int child_wait(pid_t pid)
{
    int status = -1;
    pid_t ended;

    while ((ended = waitpid(pid, &status, __WALL)) < 0 && errno == EINTR)
        ;
    child_forget(pid);
    return ended == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void child_end(pid_t pid)
{
    struct child *child = find_child(pid);

    if (pid > 0 && child != NULL)
        pidfd_send_signal(child->fd, SIGKILL, NULL, 0);
    if (ends_within(pid, END_SECONDS))
        child_wait(pid);
    else if (pid > 0 && child != NULL)
        complain("process %d does not end", (int)pid);
}

bool child_has_ended(pid_t pid)
{
    if (waitpid(pid, NULL, WNOHANG) != pid && !ends_within(pid, 0))
        return false;
    child_forget(pid);
    return true;
}

bool child_first_line(char *const *words, char *line, size_t size)
{
    int ends[2];

    line[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t pid = child_start(words, ends[1], SIGKILL);
    close(ends[1]);
    FILE *output = fdopen(ends[0], "r");
    if (output == NULL) {
        close(ends[0]);
        return false;
    }
    if (fgets(line, (int)size, output) != NULL)
        line[strcspn(line, "\n")] = '\0';
    while (fgetc(output) != EOF)
        ;
    fclose(output);
    return pid > 0 && child_wait(pid) == 0 && line[0] != '\0';
}
