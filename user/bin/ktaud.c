/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktaud.c - takes snapshots of tables periodically, of all processes or of chosen ones, and adds them to a
 * file (trace/format/WIRE.md, "Recorded replies"), which `ktau FILE` shows. Memory is that of one table.
 * If a write fails, the snapshots before are whole.
 *
 * Needs routines to be counted, and the trace object.
 */
#include <arch/trace.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tarn/runtime.h>
#include <tarn/syscall.h>
#include <unistd.h>
#include <user/bin/number.h>
#include <user/bin/util.h>
#include <user/tarnprof/save.h>

#define CHOSEN_MAX 32u

static const char synopsis[] =
    "[-i SECONDS] [-n COUNT] [-p PID]... [-c NAME]... FILE\n"
    "  -i SECONDS  between two snapshots; 5 if not given, parts of seconds as in 0.5\n"
    "  -n COUNT    end after COUNT snapshots\n"
    "  -p PID      only this process, and its children that have ended\n"
    "  -c NAME     only processes of this name, and theirs\n"
    "  FILE        is created, or snapshots are added to it\n";

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

static bool is_chosen(void *context, const struct trace_routines *head)
{
    const struct chosen *chosen = context;
    for (unsigned i = 0; i < chosen->pid_count; i++)
        if (chosen->pids[i] == head->pid)
            return true;
    for (unsigned i = 0; i < chosen->name_count; i++)
        if (!strncmp(chosen->names[i], head->name, sizeof head->name))
            return true;
    return false;
}

/* Opens it behind its last snapshot, and says how many bytes are before. */
static int open_file(const char *path, uint64_t *bytes)
{
    struct tarnprof_sum sum = {0};
    struct stat about;
    char wrong[80];
    const int fd = open(path, O_RDWR | O_CREAT, 0666);
    if (fd < 0 || fstat(fd, &about) < 0)
        die("%s", path);
    *bytes = (uint64_t)about.st_size;
    if (about.st_size && (!tarnprof_load(&sum, path, 0, wrong) || wrong[0])) {
        refuse("%s: %s; nothing can be added to it", path, wrong);
        exit(1);
    }
    tarnprof_free_sum(&sum);
    if (lseek(fd, 0, SEEK_END) < 0)
        die("%s", path);
    return fd;
}

/* ---- Running ---- */

static int take_snapshots(const struct plan *plan, struct tarnprof_saver *saver)
{
    uint64_t due = clock_monotonic_ns();
    while (!plan->count || saver->snapshots < plan->count) {
        if (!tarnprof_save(saver))
            return refuse("%s: %s; %llu snapshots before are whole", plan->to, saver->wrong,
                          (unsigned long long)saver->snapshots);
        due += (uint64_t)(plan->seconds * 1e9);
        if (!plan->count || saver->snapshots < plan->count)
            sys_thread_sleep(due);
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
    struct tarnprof_saver saver = {.of = SLOT_TRACE, .context = &plan.chosen};
    if (plan.chosen.pid_count || plan.chosen.name_count)
        saver.choose = is_chosen;
    saver.fd = open_file(plan.to, &saver.bytes);
    const int status = take_snapshots(&plan, &saver);
    free(saver.payload);
    if (close(saver.fd) < 0 && !status)
        return complain("%s", plan.to);
    return status;
}
