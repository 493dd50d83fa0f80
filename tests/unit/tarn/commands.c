/*
 * commands.c - runs subcommands of `tarn` in one process with sanitizers, for tests in Python
 * (tests/host/sanitized.py), to which a process for each would cost more than most commands do.
 *
 * usage: commands OUTPUT MESSAGES
 *
 * Each line of standard input is one command, its words separated by tabs. The files get what it prints to
 * standard output and error; its exit status is printed, on a line.
 */
#include <fcntl.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/command/commands.h>
#include <unistd.h>

#define WORDS_MAX   40u
#define SECONDS_MAX 120u /* after which a command hangs, and the process ends */

static bool redirect(int to, const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = file >= 0 && dup2(file, to) == to;
    close(file);
    return ok;
}

int main(int argc, char **argv)
{
    FILE *results = fdopen(fcntl(1, F_DUPFD_CLOEXEC, 3), "w"),
         *lines = fdopen(fcntl(0, F_DUPFD_CLOEXEC, 3), "r");
    char *line = NULL;
    size_t size = 0;
    __sanitizer_set_report_fd((void *)(intptr_t)fcntl(2, F_DUPFD_CLOEXEC, 3));
    signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes stands for a full disk */
    if (argc != 3 || freopen("/dev/null", "r", stdin) == NULL)
        return 2;
    while (getline(&line, &size, lines) > 0) {
        char *words[WORDS_MAX + 1] = {NULL}, *rest = line;
        int count = 0;
        line[strcspn(line, "\n")] = '\0';
        while (rest != NULL && count < (int)WORDS_MAX)
            words[count++] = strsep(&rest, "\t");
        if (!redirect(1, argv[1]) || !redirect(2, argv[2]))
            return 2;
        alarm(SECONDS_MAX);
        int status = command_run(count, words);
        alarm(0);
        fflush(stdout);
        fprintf(results, "%d\n", status);
        fflush(results);
    }
    free(line);
    return 0;
}
