/* kill.c - kills processes: kill [-SIGNAL] pid ... */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>

#include <user/bin/util.h>

int main(int argc, char **argv)
{
    const char *synopsis = "[-signal number] pid ...";
    program_name = "kill";
    int first = 1, signal_number = SIGTERM;
    if (argc > 1 && argv[1][0] == '-') {
        signal_number = (int)read_number(argv[1] + 1, 0, INT_MAX, synopsis);
        first = 2;
    }
    if (first == argc)
        usage(synopsis);
    int status = 0;
    for (int i = first; i < argc; i++) {
        char *end;
        long pid = strtol(argv[i], &end, 10);
        if (*end || end == argv[i] || pid <= 0) {
            status = refuse("%s is not a process id", argv[i]);
        } else if (kill((pid_t)pid, signal_number) < 0) {
            status = complain("%s", argv[i]);
        }
    }
    return status;
}
