/* puller.c - pulls while a trace is viewed; see puller.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <tools/tarn/read/read.h>
#include <tools/tarn/view/puller.h>
#include <unistd.h>

#define WAIT_SECONDS "10" /* for a guest that is just booting */
#define NEXT_SECONDS "1000000000"

/* The directory belongs to a process of its own, which outlives all its users: they hold the other end of
 * LIFE. So it is removed even if tarn is killed. */
static bool choose_temporary(struct puller *puller, struct fail *fail)
{
    const char *parent = getenv("TMPDIR");
    sigset_t all, before;
    int life[2];
    snprintf(puller->directory, sizeof(puller->directory), "%.200s/tarn-view-XXXXXX",
             parent != NULL ? parent : "/tmp");
    if (mkdtemp(puller->directory) == NULL || pipe2(life, O_CLOEXEC) != 0)
        return fail_set(fail, "cannot create a temporary directory: %s", strerror(errno));
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before); /* the process's for ever */
    puller->remover = fork();
    if (puller->remover == 0) {
        setpgid(0, 0);
        dup2(life[0], STDIN_FILENO);
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execlp("sh", "sh", "-c", "read none; rm -rf -- \"$0\"", puller->directory, NULL);
        _exit(127);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(life[0]);
    puller->life = life[1];
    return puller->remover > 0 || fail_set(fail, "cannot start a process: %s", strerror(errno));
}

/* Runs in the child, as a program of its own, because the view may have threads already. Ctrl-C at the
 * terminal is for the view, which ends the pull; the pull also ends with the view. */
static void pull(const struct puller *puller, const char *source, pid_t view)
{
    char *seconds = puller->number > 0 ? NEXT_SECONDS : WAIT_SECONDS, *to = (char *)puller->directory;
    char *force = puller->replaces ? "--force" : NULL;
    char *words[] = {"tarn", "pull", (char *)source, "-o", to, "--quiet", "--wait", seconds, force, NULL};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (puller->remover > 0)
        fcntl(puller->life, F_SETFD, 0); /* the directory is kept until the pull has ended, too */
    if (puller->log > 0)
        dup2(puller->log, STDERR_FILENO);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGINT);
    if (getppid() != view)
        _exit(EXIT_USAGE);
    execv("/proc/self/exe", words);
    _exit(EXIT_USAGE);
}

bool puller_runs(struct puller *puller)
{
    int status;
    if (puller->pid > 0 && waitpid(puller->pid, &status, WNOHANG) == puller->pid) {
        puller->pid = 0;
        puller->status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_DAMAGE;
    }
    return puller->pid > 0;
}

static bool fork_pull(struct puller *puller, const char *source)
{
    pid_t view = getpid();
    puller->status = EXIT_OK;
    puller->pid = fork();
    if (puller->pid == 0)
        pull(puller, source, view);
    return puller->pid > 0;
}

bool puller_launch(struct puller *puller, const char *source, const char *output, struct fail *fail)
{
    if (output != NULL && strlen(output) >= sizeof(puller->directory))
        return fail_set(fail, "%s: the name is too long", output);
    if (output != NULL)
        strcpy(puller->directory, output);
    else if (!choose_temporary(puller, fail))
        return false;
    if (fork_pull(puller, source))
        return true;
    fail_set(fail, "cannot start a process: %s", strerror(errno));
    puller_stop(puller);
    return false;
}

bool puller_again(struct puller *puller, const char *source, const char *output)
{
    int state = trace_find_link(puller->directory).state;
    if (puller_runs(puller) || (state != TRACE_LINK_BROKEN && state != TRACE_LINK_RESTARTED))
        return false;
    puller->number++;
    if (output != NULL)
        snprintf(puller->directory, sizeof(puller->directory), "%.200s.%u", output, puller->number + 1);
    puller->replaces = output == NULL;
    return fork_pull(puller, source);
}

bool puller_has_begun(const struct puller *puller)
{
    char metadata[300];
    snprintf(metadata, sizeof(metadata), "%s/metadata", puller->directory);
    return access(metadata, R_OK) == 0;
}

bool puller_wait(struct puller *puller, const char *source, struct fail *fail)
{
    while (!puller_has_begun(puller)) {
        if (!puller_runs(puller)) {
            puller_stop(puller);
            return fail_set(fail, "nothing came from %s", source);
        }
        usleep(20000);
    }
    return true;
}

void puller_stop(struct puller *puller)
{
    if (puller_runs(puller)) {
        kill(puller->pid, SIGINT);
        waitpid(puller->pid, NULL, 0);
    }
    puller->pid = 0;
    if (puller->remover <= 0)
        return;
    close(puller->life);
    waitpid(puller->remover, NULL, 0);
    puller->remover = 0;
}
