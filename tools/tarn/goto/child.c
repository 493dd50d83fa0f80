/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/child.c - starts programs and waits for them; see child.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <tools/tarn/goto/child.h>
#include <unistd.h>

pid_t child_start(char *const *words, int output)
{
    pid_t parent = getpid(), pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(CHILD_NOT_STARTED); /* tarn died before the line above */
    if (output >= 0) {
        setpgid(0, 0); /* Ctrl-C on the terminal is not for it */
        dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
        dup2(output, STDOUT_FILENO);
        dup2(output, STDERR_FILENO);
    }
    execvp(words[0], words);
    _exit(CHILD_NOT_STARTED);
}

int child_wait(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, __WALL) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool child_first_line(char *const *words, char *line, size_t size)
{
    int ends[2];

    line[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t pid = child_start(words, ends[1]);
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
