/* tools/tarn/goto/child.c - starts programs, waits for them and ends them; see child.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tools/tarn/goto/child.h>
#include <unistd.h>

/* Of the handler. `running` is reset before the process is reaped, so that its number is not another's. */
static volatile pid_t running; /* 0: there is none */
static volatile int running_ending, connection = -1;
static volatile sig_atomic_t interrupted;

static void end_children(int number)
{
    const int error = errno;
    if (running > 0)
        kill(running, interrupted ? SIGKILL : running_ending);
    if (connection >= 0)
        shutdown(connection, SHUT_WR);
    interrupted = number;
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

void child_ends_with(int socket)
{
    connection = socket;
}

pid_t child_start(char *const *words, int output, int ending)
{
    pid_t parent = getpid(), pid = fork();
    if (pid > 0) {
        running_ending = ending;
        running = pid;
        if (interrupted) /* perhaps before that line */
            kill(pid, ending);
    }
    if (pid != 0)
        return pid;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0}); /* gdb may abort if it and its target end at the same time */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(CHILD_NOT_STARTED); /* it died before the line above */
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
    siginfo_t ignored;
    int status = -1;
    while (waitid(P_PID, (id_t)pid, &ignored, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        ;
    running = 0;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool child_has_ended(pid_t pid)
{
    return waitpid(pid, NULL, WNOHANG) == pid;
}

int child_run(char *const *words, char *line, size_t size)
{
    int output = memfd_create("output", MFD_CLOEXEC), status = -1;
    pid_t pid = child_start(words, output, SIGKILL);
    if (pid > 0)
        status = child_wait(pid);
    ssize_t length = pread(output, line, size - 1, 0);
    line[length > 0 ? length : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    close(output);
    return status;
}
