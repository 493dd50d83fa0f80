/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktaud.c - prints periodically how often and how long all processes, or chosen ones, were in which routines
 * since counting was switched on: as `ktau` does, into a file.
 *
 * Needs routines to be counted, and the trace object.
 */
#include <arch/trace.h>
#include <stdio.h>
#include <string.h>
#include <tarn/error.h>
#include <tarn/runtime.h>
#include <tarn/syscall.h>
#include <user/bin/number.h>
#include <user/bin/util.h>
#include <user/tarnprof/show.h>

#define CHOSEN_MAX 32u

static const char synopsis[] =
    "[-i SECONDS] [-n COUNT] [-p PID]... [-c NAME]... FILE\n"
    "  -i SECONDS  between two tables; 5 if not given, parts of seconds as in 0.5\n"
    "  -n COUNT    end after COUNT tables\n"
    "  -p PID      only this process, and its children that have ended\n"
    "  -c NAME     only processes of this name, and theirs\n"
    "  FILE        is created, or tables are added to it\n";

struct chosen {
    uint32_t pids[CHOSEN_MAX];
    const char *names[CHOSEN_MAX];
    unsigned pid_count, name_count;
};

struct plan {
    double seconds;
    unsigned long count; /* 0: until it is killed */
    struct chosen chosen;
    const char *to;
};

/* ---- Options ---- */

static void take_option(struct plan *plan, char letter, const char *value)
{
    struct chosen *chosen = &plan->chosen;
    if (letter == 'i')
        plan->seconds = read_decimal(value, 0.001, 1e6, synopsis);
    else if (letter == 'n')
        plan->count = (unsigned long)read_decimal(value, 1, 1e9, synopsis);
    else if (letter == 'p' && chosen->pid_count < CHOSEN_MAX)
        chosen->pids[chosen->pid_count++] = (uint32_t)read_decimal(value, 0, 4294967295.0, synopsis);
    else if (letter == 'c' && chosen->name_count < CHOSEN_MAX)
        chosen->names[chosen->name_count++] = value;
    else
        usage(synopsis);
}

static struct plan read_plan(int argc, char **argv)
{
    struct plan plan = {.seconds = 5};
    int at = 1;
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        if (!argv[at][1] || argv[at][2])
            usage(synopsis);
        take_option(&plan, argv[at][1], argv[at + 1]);
    }
    if (at + 1 != argc || argv[at][0] == '-')
        usage(synopsis);
    plan.to = argv[at];
    return plan;
}

static bool is_chosen(const struct chosen *chosen, const struct trace_routines *head)
{
    for (unsigned i = 0; i < chosen->pid_count; i++)
        if (chosen->pids[i] == head->pid)
            return true;
    for (unsigned i = 0; i < chosen->name_count; i++)
        if (!strncmp(chosen->names[i], head->name, sizeof head->name))
            return true;
    return chosen->pid_count + chosen->name_count == 0;
}

/* ---- Running ---- */

/* 0, or an error of the kernel. */
static int add_chosen(struct tarnprof_sum *sum, const struct chosen *chosen)
{
    struct tarnprof table = {0};
    int result;
    while ((result = tarnprof_next(&table, SLOT_TRACE)) > 0)
        if (is_chosen(chosen, table.head) && !tarnprof_add(sum, &table)) {
            result = -E_NO_MEMORY;
            break;
        }
    tarnprof_free(&table);
    return result;
}

static int print_tables(const struct plan *plan, FILE *to)
{
    uint64_t due = clock_monotonic_ns();
    for (unsigned long done = 0; !plan->count || done < plan->count; done++) {
        struct tarnprof_sum sum = {0};
        if (done)
            sys_thread_sleep(due);
        due += (uint64_t)(plan->seconds * 1e9);
        const int error = add_chosen(&sum, &plan->chosen);
        if (!error)
            tarnprof_show(to, &sum, UINT32_MAX, NULL);
        tarnprof_free_sum(&sum);
        if (error)
            return refuse("the tables cannot be read: %s", tarn_error_text(error));
        if (fflush(to))
            return complain("%s, behind %lu whole tables", plan->to, done);
    }
    return 0;
}

int main(int argc, char **argv)
{
    program_name = argv[0];
    struct plan plan = read_plan(argc, argv);
    if (!slot_is_filled(SLOT_TRACE))
        return refuse_without("trace-read");
    if (!arch_trace_info()->routines)
        return refuse("routines are not counted: switch them on with `trace routines on`, or boot with "
                      "trace.routines=on");
    FILE *to = fopen(plan.to, "a");
    if (!to)
        return complain("%s", plan.to);
    const int status = print_tables(&plan, to);
    return fclose(to) && !status ? complain("%s", plan.to) : status;
}
