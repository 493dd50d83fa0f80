/*
 * top.c - what each process did with its time: `top` shows it again and again until Ctrl-C.
 *
 * Shares of the interval, in percent of one CPU, from tables of routines (user/tarnprof): the program
 * itself, system calls, IPC calls, faults, interrupts; then waits, by what the threads waited for. Columns
 * without any time are left out.
 *
 * Needs routines to be counted, and the trace object.
 */
#include <arch/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/error.h>
#include <tarn/runtime.h>
#include <trace/print/shares.h>
#include <unistd.h>
#include <user/bin/util.h>
#include <user/tarnprof/tarnprof.h>

#define PROCESSES_MAX 512u /* others are not shown, which is reported */

static const char synopsis[] =
    "[-i SECONDS] [-n COUNT] [-l LINES]\n"
    "  -i SECONDS  between two tables; 2 if not given, parts of seconds as in 0.5\n"
    "  -n COUNT    end after COUNT tables, and print one below the other\n"
    "  -l LINES    show at most LINES processes; 15 if not given\n";

struct moment {
    uint64_t time; /* ticks */
    struct trace_process_shares processes[PROCESSES_MAX];
    unsigned count, left_out;
};

struct plan {
    double seconds;
    unsigned long count, lines; /* count 0: for ever */
};

/* ---- Reading ---- */

static struct trace_process_shares *find(struct moment *moment, uint32_t pid)
{
    for (unsigned i = 0; i < moment->count; i++)
        if (moment->processes[i].pid == pid)
            return &moment->processes[i];
    return NULL;
}

static void add_table(struct moment *moment, const struct tarnprof *table)
{
    struct trace_process_shares *process = find(moment, table->head->pid);
    if (!process && moment->count == PROCESSES_MAX) {
        moment->left_out++;
        return;
    }
    if (!process) {
        process = &moment->processes[moment->count++];
        *process = (struct trace_process_shares){0};
    }
    trace_shares_add(process, table->head, table->rows);
}

static void read_moment(struct moment *moment)
{
    struct tarnprof table = {0};
    int result;
    moment->count = moment->left_out = 0;
    moment->time = arch_trace_clock();
    while ((result = tarnprof_next(&table, SLOT_TRACE)) > 0)
        if (trace_shares_are_of_process(table.head))
            add_table(moment, &table);
    tarnprof_free(&table);
    if (result < 0) {
        refuse("the tables cannot be read: %s", tarn_error_text(result));
        exit(1);
    }
}

/* ---- Printing ---- */

static int compare_running(const void *a, const void *b)
{
    const uint64_t one = trace_shares_running(a), other = trace_shares_running(b);
    return (one < other) - (one > other);
}

/* Of a column. */
static int width_of(unsigned share)
{
    const int length = (int)strlen(trace_share_names[share]);
    return length > 7 ? length : 7;
}

static bool has_any(const struct moment *now, unsigned share, uint64_t ticks)
{
    for (unsigned i = 0; i < now->count; i++)
        if (now->processes[i].ticks[share] > ticks / 2000)
            return true;
    return false;
}

static double percent_of(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* `now` has differences. */
static void print_table(const struct moment *now, uint64_t ticks, unsigned long lines)
{
    printf("%-16s %5s %7s %7s", "process", "pid", "threads", "running");
    for (unsigned share = 0; share < TRACE_SHARES; share++)
        if (has_any(now, share, ticks))
            printf(" %*s", width_of(share), trace_share_names[share]);
    putchar('\n');
    for (unsigned i = 0; i < now->count && i < lines; i++) {
        const struct trace_process_shares *process = &now->processes[i];
        const uint64_t whole = process->interval ? process->interval : ticks;
        printf("%-16.16s %5u %7u %7.1f", process->pid ? process->name : "idle", (unsigned)process->pid,
               (unsigned)process->threads, percent_of(trace_shares_running(process), whole));
        for (unsigned share = 0; share < TRACE_SHARES; share++)
            if (has_any(now, share, ticks))
                printf(" %*.1f", width_of(share), percent_of(process->ticks[share], whole));
        putchar('\n');
    }
    if (now->count > lines)
        printf("%u more processes\n", (unsigned)(now->count - lines));
    if (now->left_out)
        printf("%u tables of further processes are left out\n", now->left_out);
}

static void show(struct moment *now, struct moment *before, const struct plan *plan)
{
    for (unsigned i = 0; i < now->count; i++) {
        const struct trace_process_shares *old = find(before, now->processes[i].pid);
        if (old)
            trace_shares_subtract(&now->processes[i], old);
    }
    qsort(now->processes, now->count, sizeof now->processes[0], compare_running);
    const uint64_t ticks = now->time - before->time;
    if (!plan->count)
        printf("\033[H\033[J"); /* the screen from its beginning */
    printf("top: %.2f s, %u processes, percent of one CPU\n",
           (double)ticks / (double)arch_trace_info()->clock_hz, now->count);
    print_table(now, ticks, plan->lines);
    fflush(stdout);
}

/* ---- Running ---- */

static struct plan read_plan(int argc, char **argv)
{
    struct plan plan = {.seconds = 2, .lines = 15};
    int letter;
    opterr = 0;
    while ((letter = getopt(argc, argv, "i:n:l:")) != -1)
        if (letter == 'i')
            plan.seconds = read_decimal(optarg, 0.01, 1e6, synopsis);
        else if (letter == 'n')
            plan.count = read_number(optarg, 1, 1000000000, synopsis);
        else if (letter == 'l')
            plan.lines = read_number(optarg, 1, 1000000, synopsis);
        else
            usage(synopsis);
    if (optind < argc)
        usage(synopsis);
    return plan;
}

/* show() changes what it gets. */
static struct moment before, now, shown;

int main(int argc, char **argv)
{
    program_name = argv[0];
    const struct plan plan = read_plan(argc, argv);
    if (!slot_is_filled(SLOT_TRACE))
        return refuse_without("trace-read");
    if (!arch_trace_info()->routines)
        return refuse("routines are not counted: switch them on with `trace routines on`, or boot with "
                      "trace.routines=on");
    read_moment(&before);
    for (unsigned long done = 0; !plan.count || done < plan.count; done++) {
        sys_thread_sleep(deadline_after((uint64_t)(plan.seconds * 1e9)));
        read_moment(&now);
        shown = now;
        show(&shown, &before, &plan);
        before = now;
    }
    return 0;
}
