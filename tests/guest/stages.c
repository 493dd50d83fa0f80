/* SPDX-License-Identifier: BSD-2-Clause */
/* stages.c - starts a program and waits for its end, with a stopwatch for each. Run by tests/host/study; what
 * came of it is in docs/studies.md. */
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <trace/user.h>
#include <unistd.h>

#define ROUNDS 20
enum { START = 1, WAIT = 2 }; /* the stopwatches */

int main(void)
{
    char *arguments[] = {"true", NULL};
    for (int i = 0; i < ROUNDS; i++) {
        pid_t pid;
        int status;
        trace_user_stopwatch_start(START);
        int error = posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ);
        trace_user_stopwatch_stop(START, (uint64_t)error);
        if (error) {
            printf("stages: posix_spawn: %s\n", strerror(error));
            return 1;
        }
        trace_user_stopwatch_start(WAIT);
        pid = waitpid(pid, &status, 0);
        trace_user_stopwatch_stop(WAIT, (uint64_t)status);
        if (pid < 0 || status)
            return 1;
    }
    return 0;
}
