/* SPDX-License-Identifier: BSD-2-Clause */
/* columns.c - descriptions of the columns of all analyses; see columns.h. */
#include <stdio.h>
#include <string.h>
#include <tools/tarn/analysis/columns.h>

/* Sorted by key, the general description first. */
/* clang-format off */
const struct column_text column_texts[] = {
    {NULL, "acquisitions", "acquisitions while the lock class was sampled"},
    {NULL, "acquisitions_error", "95 % bound of the error of acquisitions, if only one in N was logged"},
    {NULL, "address", "address of the lock or event"},
    {"faults.instruction", "address", "address of the faulting instruction"},
    {"faults.longest", "address", "accessed address"},
    {"faults.page", "address", "address of the page"},
    {"faults.region", "address", "address at which the file or memory is mapped"},
    {NULL, "after_ns", "start of the step, since the start of the call"},
    {NULL, "all_not_begun", "ends without a begin, in all groups"},
    {NULL, "all_not_ended", "begins without an end, in all groups"},
    {NULL, "arg0", "first argument"},
    {NULL, "arg1", "second argument"},
    {NULL, "arrived", "switches to a thread that last ran on another CPU: migrations to this CPU"},
    {NULL, "at_ns", "start, since the start of the trace"},
    {NULL, "back_ns", "time from the reply until the client runs again"},
    {NULL, "begin_ns", "creation time, since the start of the trace; empty: before the trace"},
    {NULL, "bits", "width of the counter, which counts modulo 2^bits"},
    {NULL, "blocked_ns", "part of the wait time in which the holder was blocked, asleep or in a call"},
    {NULL, "boot_ns", "time until the CPU first slept or ran a thread; part of its busy time"},
    {NULL, "boot_percent", "share of traced time before the CPU first slept or ran a thread; part of busy %"},
    {NULL, "busy_ns", "time in which the CPU did not sleep"},
    {NULL, "busy_percent", "share of traced time in which the CPU did not sleep"},
    {NULL, "by", "thread that ran longest on the CPU meanwhile"},
    {NULL, "by_ran_ns", "run time of that thread meanwhile"},
    {NULL, "by_tid", "thread ID of the thread that ran meanwhile"},
    {"sched.waker", "by_tid", "thread ID of the waker"},
    {NULL, "bytes", "size of the events in the trace, in bytes"},
    {NULL, "call", "call that the step belongs to: server and function"},
    {NULL, "calls", "calls, including those seen only in part"},
    {"breakdown.served", "calls", "times that a thread worked on the function"},
    {"counters", "calls", "calls that were counted from begin to end"},
    {"ipc", "calls", "calls seen from begin to end"},
    {"ipc.request", "calls", "nested calls that servers made while they served this one"},
    {NULL, "class", "class of the lock or event"},
    {NULL, "client_pid", "process ID of the caller"},
    {NULL, "client_tid", "thread ID of the caller"},
    {NULL, "contended_percent", "share of acquisitions that had to wait, while the lock class was sampled"},
    {NULL, "contentions", "waits that ended"},
    {NULL, "count", "number of occurrences"},
    {"intervals.interval, intervals.thread", "count", "intervals seen from begin to end"},
    {"irq.cpu, irq.irq, irq.thread", "count", "interrupts, including those seen only in part"},
    {"syscalls.error", "count", "calls that returned this result"},
    {NULL, "count0", "what the counter of slot 0 counted; the heading is its name"},
    {NULL, "count1", "what the counter of slot 1 counted; the heading is its name"},
    {NULL, "count2", "what the counter of slot 2 counted; the heading is its name"},
    {NULL, "count3", "what the counter of slot 3 counted; the heading is its name"},
    {NULL, "counted", "what the hardware counter counted that drove the sampling; empty: the clock drove it"},
    {NULL, "counter", "hardware counter that drove the sampling; empty: the clock drove it"},
    {NULL, "cpu", "the CPU's number"},
    {NULL, "cpu_percent", "run time as a share of the range; 100 is one CPU all the time"},
    {"processes.tree", "cpu_percent", "run time of the process's threads as a share of its lifetime; 100 is one CPU all the time"},
    {NULL, "cut", "calls seen only in part"},
    {NULL, "deferred_ns", "time in which a server had received the call but worked on others, to reply later"},
    {NULL, "delayed", "thread that waited for the CPU"},
    {NULL, "depth", "number of functions above it in the tree"},
    {NULL, "did", "what the holder did meanwhile"},
    {NULL, "dispatch_ns", "time from the end of a wait until the thread ran again"},
    {NULL, "doing", "what the thread did: ran, was ready, or what it waited for"},
    {NULL, "duration_ns", "duration"},
    {NULL, "end_ns", "end time, since the start of the trace; empty: still alive at the end"},
    {NULL, "errors", "calls that returned an error"},
    {"ipc", "errors", "calls that failed in the kernel or that the server refused"},
    {NULL, "estimated", "number of events that the logged ones stand for"},
    {NULL, "estimated_error", "95 % bound of the error of the estimate"},
    {NULL, "events", "number of events"},
    {NULL, "events_per_second", "events per second of the range"},
    {NULL, "exception_ns", "time in exceptions other than page faults"},
    {NULL, "executable", "program that contains the code, or the kernel"},
    {NULL, "failed", "processes that exited with a status above 0"},
    {NULL, "fault_count", "page faults in the calls"},
    {NULL, "fault_ns", "time in which the thread waited for a pager or a fault handler"},
    {"noise", "fault_ns", "time in page faults"},
    {NULL, "faults", "page faults, including those seen only in part"},
    {NULL, "faults_ns", "time that the kernel ran in page faults"},
    {"ipc", "faults_ns", "time in which the server waited for a pager or a fault handler"},
    {NULL, "file", "file mapped there"},
    {NULL, "for", "part of the call that the step belongs to"},
    {NULL, "free_ns", "part of the wait time in which the lock was free and the waiter was woken but not yet running"},
    {NULL, "from_cpu", "sending CPU"},
    {NULL, "from_ns", "shortest time counted in this row"},
    {NULL, "function", "function that contains the code"},
    {NULL, "futex_ns", "time in which the thread waited for a futex: a lock or an event of its program"},
    {NULL, "handed", "times that an IPC handed the CPU over to the thread, so that it did not wait"},
    {NULL, "held_max_ns", "longest hold time"},
    {NULL, "held_mean_ns", "mean hold time"},
    {NULL, "held_ns", "sum of the hold times"},
    {NULL, "holder", "thread that held the lock, or was waited for, longest during the wait"},
    {"locks.chain-holder", "holder", "thread that held the lock, or was waited for"},
    {"locks.instead", "holder", "thread that held the lock and was preempted"},
    {"locks.waiting", "holder", "thread that held the lock when the wait began"},
    {NULL, "holder_process", "process of the holder"},
    {NULL, "holder_tid", "thread ID of the holder"},
    {NULL, "holds", "releases with a known hold time: after a wait, or while the lock class was sampled"},
    {NULL, "id", "the ID of the call, for --request"},
    {"counters", "id", "number of the interval, which the program chose"},
    {NULL, "idle_ns", "time in which the CPU slept"},
    {NULL, "idle_percent", "share of traced time in which the CPU slept"},
    {NULL, "in_server_ns", "time in which a server worked on the thread's call, directly or through servers that it called"},
    {NULL, "inside_ns", "part of the total in which the thread ran nested activities, such as faults and interrupts"},
    {NULL, "instead", "thread that ran longest on the CPU of a preempted holder"},
    {NULL, "instead_ran_ns", "run time of that thread while the holder was preempted"},
    {NULL, "instead_tid", "thread ID of that thread"},
    {NULL, "instructions", "instructions executed, estimated from samples; empty: the CPUs do not count them"},
    {NULL, "interrupts_ns", "time in interrupts that arrived while the thread ran"},
    {NULL, "intervals", "intervals seen from begin to end"},
    {"counters", "intervals", "intervals that were counted"},
    {NULL, "ip", "address of the faulting instruction"},
    {NULL, "ipc", "instructions per cycle, if both are counted"},
    {NULL, "ipc_count", "calls by IPC made in the POSIX calls"},
    {NULL, "ipi_ns", "time in inter-processor interrupts"},
    {NULL, "irq_ns", "time in device and timer interrupts"},
    {NULL, "its_calls_ns", "time in which the server was in a call of its own"},
    {NULL, "joined", "inter-processor interrupts that the CPU handled together with an earlier one of the same type"},
    {NULL, "kernel_ns", "time of samples in the kernel"},
    {NULL, "kernel_work_ns", "time of an idle thread while its CPU did not sleep: boot and the kernel's own work"},
    {NULL, "killed", "processes that were killed: exit status below 0"},
    {NULL, "kind", "type of activity"},
    {"noise.cause", "kind", "group of causes"},
    {NULL, "late_max_ns", "longest delay of a sample"},
    {NULL, "late_p50_ns", "median delay of samples: from the due time until the sample was taken"},
    {NULL, "late_p99_ns", "99th percentile of the delay of samples"},
    {NULL, "latency_ns", "duration of the call, from call to return"},
    {NULL, "life_ns", "lifetime of the processes within the range"},
    {NULL, "lock", "address of the lock"},
    {NULL, "locks_ns", "time in which the server waited for a futex: a lock or an event of its program"},
    {NULL, "longest_ns", "longest wait"},
    {NULL, "lost_ns", "time for which the running thread is unknown because events were lost"},
    {NULL, "lost_percent", "share of traced time for which the running thread is unknown because events were lost"},
    {NULL, "max_at_ns", "start of the longest one, since the start of the trace"},
    {NULL, "max_ns", "longest of those seen from begin to end"},
    {"processes", "max_ns", "longest lifetime within the range"},
    {NULL, "mean0", "count0 divided by the number of calls or intervals"},
    {NULL, "mean1", "count1 divided by the number of calls or intervals"},
    {NULL, "mean2", "count2 divided by the number of calls or intervals"},
    {NULL, "mean3", "count3 divided by the number of calls or intervals"},
    {NULL, "mean_ns", "mean of those seen from begin to end"},
    {"breakdown, faults.function, faults.instruction, faults.page, faults.region, processes", "mean_ns", "total divided by the count"},
    {NULL, "meaning", "name of the error"},
    {NULL, "migrations", "runs on another CPU than the previous run"},
    {NULL, "min_ns", "shortest of those seen from begin to end"},
    {NULL, "mode", "user: in a program; kernel: in the kernel"},
    {NULL, "no_room", "begins that were not followed because too many intervals were open"},
    {NULL, "not_begun", "ends without a begin"},
    {NULL, "not_ended", "begins without an end"},
    {NULL, "notification_ns", "time in which the thread waited for a notification"},
    {NULL, "number", "number of the class"},
    {"counters", "number", "system call number"},
    {"faults", "number", "number of the fault type"},
    {"syscalls", "number", "system call number"},
    {NULL, "one_of", "latest sampling factor N: one in N events was logged"},
    {NULL, "own_ns", "part of the total in which the thread ran the activity itself, not a nested one"},
    {NULL, "p50_ns", "median of those seen from begin to end"},
    {NULL, "p90_ns", "90th percentile of those seen from begin to end"},
    {NULL, "p99_ns", "99th percentile of those seen from begin to end"},
    {NULL, "parent_pid", "process ID of the process that started it"},
    {NULL, "path", "path of the executable"},
    {NULL, "per_second", "total divided by the length of the trace or range"},
    {NULL, "percent", "share of the sum of all rows, in percent"},
    {NULL, "percent_up_to", "cumulative share of this row and all above it, in percent"},
    {NULL, "period_count", "mean count between two samples of a CPU, if a hardware counter drives the sampling"},
    {NULL, "period_ns", "mean time between two samples of a CPU"},
    {NULL, "pid", "process ID; 0 is the kernel"},
    {NULL, "posix_ns", "time in the C library's part of POSIX calls"},
    {NULL, "preempted", "times that the thread stopped running while still runnable: for another thread, or at the end of its time slice"},
    {NULL, "preempted_ns", "part of the wait time in which the holder was ready but had no CPU"},
    {"noise", "preempted_ns", "time in which other threads ran in its place"},
    {NULL, "prio", "priority; among ready threads, the highest runs first"},
    {NULL, "process", "process name"},
    {NULL, "processes", "number of processes"},
    {NULL, "programs_ns", "time of samples in programs"},
    {NULL, "quanta", "equal parts of the work (--quantum)"},
    {NULL, "ran_ns", "time on a CPU"},
    {NULL, "ready_ns", "time in which the thread was ready and waited for a CPU"},
    {"ipc", "ready_ns", "time in which the server was ready and waited for a CPU"},
    {"ipc.share", "ready_ns", "time in which threads of the process were ready and the call waited for them"},
    {NULL, "receive_ns", "time in which the thread waited for a message"},
    {NULL, "reply_ns", "time in which the thread waited for the reply to a call"},
    {NULL, "result", "return value of the call; negative: an error"},
    {NULL, "run_max_ns", "longest run"},
    {NULL, "run_mean_ns", "mean length of a run"},
    {NULL, "running_ns", "time on a CPU"},
    {"ipc", "running_ns", "time in which the server ran"},
    {"ipc.share", "running_ns", "time in which threads of the process ran for the call"},
    {"locks", "running_ns", "part of the wait time in which the holder ran"},
    {NULL, "runs", "times that the thread was switched away from"},
    {NULL, "samples", "number of samples"},
    {"profile.callers", "samples", "samples in the innermost function, reached along this branch"},
    {"profile.calls, profile.function", "samples", "samples in the function itself, without its callees"},
    {NULL, "self_ns", "time of the samples in the function itself, without its callees"},
    {NULL, "self_percent", "share of all samples, by --weight, in the function itself"},
    {NULL, "send_ns", "time in which the thread waited for a server to receive its message"},
    {NULL, "sent", "inter-processor interrupts sent"},
    {NULL, "server_pid", "process ID of the server"},
    {NULL, "server_tid", "thread that replied"},
    {NULL, "share_percent", "share of all samples, by --weight"},
    {NULL, "since_ns", "start of the wait, since the start of the trace"},
    {NULL, "sleep_ns", "time in which the thread slept until a given time"},
    {NULL, "slot", "slot that the counter is bound to"},
    {NULL, "slowdown_percent", "how much longer the parts took than their work alone"},
    {NULL, "source", "source file and line"},
    {NULL, "spins", "iterations of the loop in which the kernel waits for a spinlock, or in which a program retries a lock before it sleeps"},
    {NULL, "state", "state at the end of the range"},
    {NULL, "status", "exit status; negative: killed; empty: still alive"},
    {NULL, "steps", "number of steps in the call"},
    {NULL, "stretches", "number of intervals in the state"},
    {"sched.end", "stretches", "runs that ended for this reason"},
    {NULL, "suspended_ns", "time in which the thread was suspended"},
    {NULL, "switches", "times that a CPU switched to the thread"},
    {"sched.cpu", "switches", "times that the CPU switched to a thread"},
    {"stats.cpu", "switches", "times that the CPU switched to a thread"},
    {NULL, "syscalls_ns", "time that the kernel ran in system calls"},
    {NULL, "taken", "inter-processor interrupts handled, without those that joined an earlier one"},
    {NULL, "taken_ns", "time that noise took from the work"},
    {NULL, "taken_percent", "time that noise took, as a share of the work"},
    {NULL, "thread", "thread name"},
    {NULL, "threads", "number of threads"},
    {NULL, "tid", "thread ID; 0 is the idle thread of a CPU"},
    {NULL, "time_ns", "time that CPUs worked, estimated from samples"},
    {NULL, "times", "number of occurrences"},
    {NULL, "to_cpu", "receiving CPU"},
    {NULL, "to_ns", "upper limit of the times counted in this row, exclusive"},
    {NULL, "to_server_ns", "time from the call until a server received it"},
    {NULL, "total", "what it counted on all CPUs, idle ones included"},
    {NULL, "total_ns", "sum of the times counted in this row"},
    {"profile", "total_ns", "time of the samples in the function and its callees"},
    {NULL, "total_percent", "share of all samples, by --weight, in the function or its callees"},
    {NULL, "unknown_ns", "time in which it is unknown whether the thread ran: events were lost, or none was logged yet"},
    {"breakdown", "unknown_ns", "time for which it is unknown what the thread did, for example after lost events; it may have run"},
    {"locks", "unknown_ns", "part of the wait time in which the holder, or what it did, is unknown"},
    {NULL, "until_ns", "end, since the start of the trace"},
    {NULL, "user_ns", "time in the thread's own code"},
    {NULL, "value", "value of the field (--group)"},
    {NULL, "wait_max_ns", "longest wait"},
    {NULL, "wait_mean_ns", "mean wait"},
    {NULL, "wait_p99_ns", "99th percentile of the waits"},
    {NULL, "waited_ns", "sum of the waits"},
    {"breakdown", "waited_ns", "time in which the server waited while it worked on the function"},
    {"locks.instead", "waited_ns", "time in which the thread ran in the holder's place while others waited for the lock"},
    {"sched", "waited_ns", "time in which the thread was ready and waited for a CPU"},
    {NULL, "waiting_ns", "part of the total in which the thread did not run"},
    {"ipc", "waiting_ns", "time in which threads of the process waited for something else and the call waited for them"},
    {"threads", "waiting_ns", "time in which the thread waited for something other than a CPU"},
    {NULL, "waits", "number of waits"},
    {"sched", "waits", "waits for a CPU seen from begin to end"},
    {NULL, "waits_ns", "time in which the thread waited for a message, a notification, a lock or a time"},
    {"ipc", "waits_ns", "time in which the server waited for something else"},
    {NULL, "waker", "thread that ended the wait: it released the lock, or signalled"},
    {NULL, "waker_tid", "thread ID of that thread"},
    {NULL, "wakeups", "times that another thread, an interrupt or a timer ended the thread's wait"},
    {"sched", "wakeups", "waits for a CPU that began with a wake-up by this thread"},
    {NULL, "wall_ns", "lifetime within the range; the columns beside it add up to this"},
    {NULL, "watch", "sampling interval N: one of N acquisitions of the lock class is logged; empty: not sampled"},
    {NULL, "what", "name of the system call"},
    {"faults", "what", "type of fault"},
    {NULL, "woken", "thread that was woken"},
    {NULL, "work_ns", "time that the thread ran its program and its system calls"},
    {NULL, NULL, NULL}};
/* clang-format on */

/* Returns how closely WHERE fits the table: 0 (not at all) to 3 (best). */
static unsigned fit_of(const char *where, const struct analysis_kind *kind, const struct table *table)
{
    char name[80];

    if (where == NULL)
        return 1;
    snprintf(name, sizeof(name), "%s.%s", kind->name, table->key);
    return list_names(where, name) ? 3 : list_names(where, kind->name) ? 2 : 0;
}

const struct column_text *column_text(const struct analysis_kind *kind, const struct table *table,
                                      const char *key)
{
    const struct column_text *best = NULL;
    unsigned best_fit = 0;

    for (const struct column_text *text = column_texts; text->key != NULL; text++) {
        unsigned fit = strcmp(text->key, key) == 0 ? fit_of(text->where, kind, table) : 0;

        if (fit > best_fit) {
            best = text;
            best_fit = fit;
        }
    }
    return best;
}

/* ---- output ---- */

/* Prints one entry. IN is printed in parentheses before the text, unless it is "". */
static void put_column(struct page *page, const char *name, const char *in, const char *text)
{
    char whole[500];

    snprintf(whole, sizeof(whole), *in != '\0' ? "(%s) %s" : "%s%s", in, text);
    page_entry(page, name, NULL, whole);
}

/* Lists the tables of KIND that TEXT names. */
static void list_tables(const struct analysis_kind *kind, const struct column_text *text, char *list,
                        size_t size)
{
    size_t used = 0;

    *list = '\0';
    for (unsigned i = 0; text->where != NULL && i < kind->table_count && used < size; i++)
        if (fit_of(text->where, kind, &kind->tables[i]) == 3)
            used += (size_t)snprintf(list + used, size - used, "%s%s", used != 0 ? ", " : "",
                                     kind->tables[i].key);
}

#define TEXTS (sizeof(column_texts) / sizeof(column_texts[0]))

/* Describes the columns of TABLE whose descriptions were not SHOWN yet. */
static void put_columns(struct page *page, const struct analysis_kind *kind, const struct table *table,
                        bool shown[TEXTS])
{
    for (unsigned c = 0; c < table->column_count; c++) {
        struct table_column column = table->columns[c];
        const struct column_text *text = column_text(kind, table, column.key);
        char heading[HEADING_BYTES], tables[200];

        if (column.kind == COLUMN_BAR || text == NULL || shown[text - column_texts])
            continue;
        shown[text - column_texts] = true;
        column.heading = NULL; /* a total's heading is worded for its sentence */
        list_tables(kind, text, tables, sizeof(tables));
        put_column(page, column_heading(&column, heading), tables, text->text);
    }
}

void columns_describe(struct page *page, const struct analysis_kind *kind)
{
    bool shown[TEXTS] = {false};

    page_heading(page, "Columns");
    if (kind->totals != NULL)
        put_columns(page, kind, kind->totals, shown);
    for (unsigned i = 0; i < kind->table_count; i++)
        put_columns(page, kind, &kind->tables[i], shown);
}

void columns_print_all(FILE *to)
{
    struct page page = {.to = to};

    fputs("The columns of all analyses. Names in parentheses limit a description to those analyses or "
          "tables.\n\n",
          to);
    for (const struct column_text *text = column_texts; text->key != NULL; text++) {
        const struct table_column column = {.key = text->key, .kind = COLUMN_TIME};
        char heading[HEADING_BYTES];

        put_column(&page, column_heading(&column, heading), text->where != NULL ? text->where : "",
                   text->text);
    }
}
