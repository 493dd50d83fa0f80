/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktau.c - whose time it was: `ktau run COMMAND [ARGUMENT]...` runs a command, and then prints the table of
 * its processes, by routine of the kernel. Without `run` it prints that of all processes; ktaud does so again
 * and again.
 *
 * Routines must be counted: boot option `trace.routines=on`, or `trace routines on`.
 */
#include <arch/trace.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <tarn/error.h>
#include <tarn/runtime.h>
#include <user/bin/util.h>
#include <user/tarnprof/show.h>

extern char **environ;

static const char synopsis[] =
    "[-a] [run COMMAND [ARGUMENT]...]\n"
    "  run COMMAND  run it, and print how often and how long its processes were in which routines\n"
    "               of the kernel; processes that outlive it are left out\n"
    "  without run  of all processes, since counting was switched on\n"
    "  -a           all routines, not only the 30 with the most time\n";

/* The tables of `of` that are of these kinds, together. */
static int show(cap_t of, uint32_t kinds, uint32_t lines)
{
    struct tarnprof_sum sum = {0};
    const int result = tarnprof_add_all(&sum, of, kinds);
    if (result)
        return refuse("the tables cannot be read: %s", tarn_error_text(result));
    tarnprof_show(stdout, &sum, lines, NULL);
    tarnprof_free_sum(&sum);
    return 0;
}

/* This program had no children before, so its children's table is the command's. */
static int run(char **arguments, uint32_t lines)
{
    int status = 0;
    pid_t pid;
    if ((errno = posix_spawnp(&pid, arguments[0], NULL, NULL, arguments, environ)) != 0)
        return complain("%s", arguments[0]), 127;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            die("waiting for %s", arguments[0]);
    fflush(stdout);
    if (show(TARNPROF_OWN, 1u << TRACE_ROUTINES_CHILDREN, lines))
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    const int first = read_options(argc, argv, "a", 0, synopsis);
    const uint32_t lines = option('a') ? UINT_MAX : 30;
    const bool runs = first < argc && !strcmp(argv[first], "run");
    if (runs ? argc - first < 2 : first < argc)
        usage(synopsis);
    if (!arch_trace_info()->routines)
        return refuse("routines are not counted: switch them on with `trace routines on`, or boot with "
                      "trace.routines=on");
    if (runs)
        return run(argv + first + 1, lines);
    return slot_is_filled(SLOT_TRACE) ? show(SLOT_TRACE, ~0u, lines) : refuse_without("trace-read");
}
