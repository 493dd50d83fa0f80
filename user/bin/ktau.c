/*
 * ktau.c - whose time it was: the table of processes by routine of the kernel, of a command's, of all or of
 * chosen ones, once or again and again into a file. `ktaud` is another name.
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
#include <tarn/syscall.h>
#include <unistd.h>
#include <user/bin/util.h>
#include <user/tarnprof/tarnprof.h>

extern char **environ;

#define CHOSEN_MAX 32u

static const char synopsis[] =
    "[OPTION]... [run COMMAND [ARGUMENT]... | FILE]\n"
    "  run COMMAND  run it, and print how often and how long its processes were in which routines\n"
    "               of the kernel; processes that outlive it are left out\n"
    "  FILE         add tables to it, with all routines, of processes since counting was switched on\n"
    "  otherwise    print such a table once\n"
    "  -a           all routines, not only the 30 with the most time\n"
    "  -p PROCESS   number or name: only such processes, and their children that have ended\n"
    "  -i SECONDS   between two tables of FILE; 5 if not given, parts of seconds as in 0.5\n"
    "  -n COUNT     end after COUNT tables of FILE\n";

static struct {
    uint32_t lines;
    const char *chosen[CHOSEN_MAX];
    unsigned chosen_count;
    double seconds;
    unsigned long count; /* 0: until it is killed */
} plan = {.lines = 30, .seconds = 5};

static void take_options(int argc, char **argv)
{
    int letter;
    opterr = 0;
    while ((letter = getopt(argc, argv, "+ai:n:p:")) != -1)
        if (letter == 'a')
            plan.lines = UINT_MAX;
        else if (letter == 'i')
            plan.seconds = read_decimal(optarg, 0.001, 1e6, synopsis);
        else if (letter == 'n')
            plan.count = read_number(optarg, 1, 1000000000, synopsis);
        else if (letter == 'p' && plan.chosen_count < CHOSEN_MAX)
            plan.chosen[plan.chosen_count++] = optarg;
        else
            usage(synopsis);
}

static bool is_chosen(const struct trace_routines *head)
{
    char pid[12];
    snprintf(pid, sizeof pid, "%u", (unsigned)head->pid);
    for (unsigned i = 0; i < plan.chosen_count; i++)
        if (!strcmp(plan.chosen[i], pid) || !strncmp(plan.chosen[i], head->name, sizeof head->name))
            return true;
    return plan.chosen_count == 0;
}

/* Prints the tables of `of` that are of these kinds and of chosen processes, together. */
static int show(FILE *to, cap_t of, uint32_t kinds, uint32_t lines)
{
    struct tarnprof_sum sum = {0};
    struct tarnprof table = {0};
    int result;
    while ((result = tarnprof_next(&table, of)) > 0)
        if (kinds >> table.head->of & 1 && is_chosen(table.head) && !tarnprof_add(&sum, &table)) {
            result = -E_NO_MEMORY;
            break;
        }
    tarnprof_free(&table);
    if (!result)
        tarnprof_show(to, &sum, lines, NULL);
    tarnprof_free_sum(&sum);
    return result ? refuse("the tables cannot be read: %s", tarn_error_text(result)) : 0;
}

/* This program had no children before, so its children's table is the command's. */
static int run(char **arguments)
{
    int status = 0;
    pid_t pid;
    if ((errno = posix_spawnp(&pid, arguments[0], NULL, NULL, arguments, environ)) != 0)
        return complain("%s", arguments[0]), 127;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            die("waiting for %s", arguments[0]);
    fflush(stdout);
    if (show(stdout, TARNPROF_OWN, 1u << TRACE_ROUTINES_CHILDREN, plan.lines))
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int write_tables(const char *name)
{
    uint64_t due = clock_monotonic_ns();
    int status = 0;
    FILE *to = fopen(name, "a");
    if (!to)
        return complain("%s", name);
    for (unsigned long done = 0; !status && (!plan.count || done < plan.count); done++) {
        if (done)
            sys_thread_sleep(due);
        due += (uint64_t)(plan.seconds * 1e9);
        status = show(to, SLOT_TRACE, ~0u, UINT_MAX);
        if (!status && fflush(to))
            status = complain("%s, behind %lu whole tables", name, done);
    }
    return fclose(to) && !status ? complain("%s", name) : status;
}

int main(int argc, char **argv)
{
    program_name = last_component(argv[0]);
    take_options(argc, argv);
    char **operands = argv + optind;
    const bool runs = operands[0] && !strcmp(operands[0], "run");
    if (runs ? !operands[1] || plan.chosen_count : operands[0] && operands[1])
        usage(synopsis);
    if (!arch_trace_info()->routines)
        return refuse("routines are not counted: switch them on with `trace routines on`, or boot with "
                      "trace.routines=on");
    if (runs)
        return run(operands + 1);
    if (!slot_is_filled(SLOT_TRACE))
        return refuse_without("trace-read");
    return operands[0] ? write_tables(operands[0]) : show(stdout, SLOT_TRACE, ~0u, plan.lines);
}
