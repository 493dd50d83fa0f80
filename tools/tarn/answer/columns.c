/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/answer/columns.c - the sentences, and who shows them; see columns.h. */
#include <stdio.h>
#include <string.h>
#include <tools/tarn/answer/columns.h>

/* By key, the general sentence first. */
/* clang-format off */
const struct column_text column_texts[] = {
    {NULL, "acquisitions", "times that the lock was taken while its class was watched"},
    {NULL, "address", "address of the lock or event"},
    {"faults.instruction", "address", "address of the instruction that faulted"},
    {"faults.longest", "address", "address that was accessed"},
    {"faults.page", "address", "address of the page"},
    {"faults.region", "address", "address at which the file or memory is mapped"},
    {NULL, "after_ns", "when the step began, since the begin of the call"},
    {NULL, "all_not_begun", "ends without a begin, in all groups"},
    {NULL, "all_not_ended", "begins without an end, in all groups"},
    {NULL, "arg0", "first argument"},
    {NULL, "arg1", "second argument"},
    {NULL, "arrived", "switches to a thread that ran last on another processor: its migrations to this one"},
    {NULL, "at_ns", "when it began, since the begin of the trace"},
    {NULL, "back_ns", "time from the answer until the client goes on"},
    {NULL, "begin_ns", "when it was created, since the begin of the trace; empty: before the trace"},
    {NULL, "blocked_ns", "of the time waited: the holder was blocked, asleep or in a call"},
    {NULL, "boot_ns", "time until the processor first slept or ran a thread, a part of its busy time"},
    {NULL, "boot_percent", "part of its traced time until it first slept or ran a thread; it was busy then"},
    {NULL, "busy_ns", "time in which it did not sleep"},
    {NULL, "busy_percent", "part of its traced time in which it did not sleep"},
    {NULL, "by", "thread that ran longest on the processor meanwhile"},
    {NULL, "by_ran_ns", "how long that thread ran meanwhile"},
    {NULL, "by_tid", "number of the thread that ran meanwhile"},
    {"sched.waker", "by_tid", "number of the thread that woke"},
    {NULL, "bytes", "bytes that the events take in the trace"},
    {NULL, "call", "call that the step belongs to: server and function"},
    {NULL, "calls", "calls, those included of which only a part was seen"},
    {"breakdown.served", "calls", "times that a thread worked on the function"},
    {"ipc", "calls", "calls that were seen whole"},
    {"ipc.request", "calls", "calls that servers made in turn to answer this one"},
    {NULL, "class", "class of the lock or event"},
    {NULL, "client_pid", "process that called"},
    {NULL, "client_tid", "thread that called"},
    {NULL, "contended_percent", "part of the acquisitions that had to wait, while the class was watched"},
    {NULL, "contentions", "waits that ended"},
    {NULL, "count", "how many the row counts"},
    {"intervals.interval intervals.thread", "count", "intervals that were seen whole"},
    {"irq.cpu irq.irq irq.thread", "count", "interrupts, those included of which only a part was seen"},
    {"syscalls.error", "count", "calls that returned this result"},
    {NULL, "cpu", "number of the processor"},
    {NULL, "cpu_percent", "time that it ran, as part of the range; 100 is one processor all the time"},
    {"processes.tree", "cpu_percent", "time that its threads ran, as part of its life; 100 is one processor all the time"},
    {NULL, "cut", "calls of which only a part was seen"},
    {NULL, "deferred_ns", "time in which a server had taken the call but worked on others, to answer later"},
    {NULL, "delayed", "thread that waited for the processor"},
    {NULL, "depth", "how many functions stand above it in the tree"},
    {NULL, "did", "what the holder did meanwhile"},
    {NULL, "dispatch_ns", "time from the end of a wait until it ran again"},
    {NULL, "doing", "what the thread did: ran, was ready, or waited for what"},
    {NULL, "duration_ns", "how long it took"},
    {NULL, "end_ns", "when it ended, since the begin of the trace; empty: it lives on"},
    {NULL, "errors", "calls that returned an error"},
    {"ipc", "errors", "calls that the kernel ended with an error or the server refused"},
    {NULL, "events", "number of events"},
    {NULL, "events_per_second", "events for each second of the range"},
    {NULL, "ex_process_ns", "time in which a server worked on the call of the thread, itself or through servers that it called"},
    {NULL, "exception_ns", "time in exceptions other than page faults"},
    {NULL, "failed", "processes that exited with a status above 0"},
    {NULL, "fault_count", "page faults in the calls"},
    {NULL, "fault_ns", "time in which it waited for a pager or a fault handler"},
    {"noise", "fault_ns", "time in page faults"},
    {NULL, "faults", "page faults, those included of which only a part was seen"},
    {NULL, "faults_ns", "time that the kernel ran in page faults"},
    {"ipc", "faults_ns", "time in which the server waited for a pager or a fault handler"},
    {NULL, "file", "file that is mapped there"},
    {NULL, "for", "part of the call that the step belongs to"},
    {NULL, "free_ns", "of the time waited: the lock was free, and the waiter woken but not yet running"},
    {NULL, "from_cpu", "processor that sent"},
    {NULL, "from_ns", "shortest time that the row counts"},
    {NULL, "function", "function that the code is in"},
    {NULL, "futex_ns", "time in which it waited for a futex: a lock or an event of its program"},
    {NULL, "handed", "times that an IPC handed the processor over to it, so that it did not wait"},
    {NULL, "held_max_ns", "longest hold"},
    {NULL, "held_mean_ns", "mean of the holds"},
    {NULL, "held_ns", "sum of the holds"},
    {NULL, "holder", "thread that held the lock, or was waited for, longest during the wait"},
    {"locks.chain-holder", "holder", "thread that held the lock, or was waited for"},
    {"locks.instead", "holder", "thread that held the lock and was preempted"},
    {"locks.waiting", "holder", "thread that held the lock when the wait began"},
    {NULL, "holder_process", "process of the holder"},
    {NULL, "holder_tid", "number of the holder's thread"},
    {NULL, "holds", "times that the lock was let go and how long it was held is known: after a wait, or while its class was watched"},
    {NULL, "id", "id of the call, for --request"},
    {NULL, "idle_ns", "time in which the processor slept"},
    {NULL, "idle_percent", "part of its traced time in which it slept"},
    {NULL, "image", "program or kernel that the code belongs to"},
    {NULL, "inside_ns", "of the total: its thread ran in other activities inside it, such as faults and interrupts"},
    {NULL, "instead", "thread that ran longest on the processor of a preempted holder"},
    {NULL, "instead_ran_ns", "how long that thread ran while the holder was preempted"},
    {NULL, "instead_tid", "number of that thread"},
    {NULL, "instructions", "instructions that processors executed, as far as samples stand for them; empty: they do not count them"},
    {NULL, "interrupts_ns", "time in interrupts that came while it ran"},
    {NULL, "intervals", "intervals that were seen whole"},
    {NULL, "ip", "address of the instruction that faulted"},
    {NULL, "ipc_count", "calls by IPC in the POSIX calls"},
    {NULL, "ipi_ns", "time in inter-processor interrupts"},
    {NULL, "irq_ns", "time in interrupts of devices and timers"},
    {NULL, "its_calls_ns", "time in which the server was inside a call of its own"},
    {NULL, "joined", "inter-processor interrupts that the processor took together with an earlier one of their kind"},
    {NULL, "kernel_ns", "time of the samples that hit the kernel"},
    {NULL, "kernel_work_ns", "time of an idle thread while its processor did not sleep: boot and the kernel's own work"},
    {NULL, "killed", "processes that were killed: with a status below 0"},
    {NULL, "kind", "kind of activity"},
    {"noise.cause", "kind", "group of causes"},
    {NULL, "late_max_ns", "longest time that a sample was taken after it was due"},
    {NULL, "late_p50_ns", "time after which half of the due samples were taken"},
    {NULL, "late_p99_ns", "time after which 99 % of the due samples were taken"},
    {NULL, "latency_ns", "how long the call took, from call to return"},
    {NULL, "life_ns", "time that processes lived within the range"},
    {NULL, "lock", "address of the lock"},
    {NULL, "locks_ns", "time in which the server waited for a futex: a lock or an event of its program"},
    {NULL, "longest_ns", "longest wait"},
    {NULL, "lost_ns", "time in which nobody is known to have run, as events were lost"},
    {NULL, "lost_percent", "part of its traced time in which nobody is known to have run, as events were lost"},
    {NULL, "max_at_ns", "when the longest began, since the begin of the trace"},
    {NULL, "max_ns", "longest of those that were seen whole"},
    {"processes", "max_ns", "longest life within the range"},
    {NULL, "mean_ns", "mean of those that were seen whole"},
    {"breakdown faults.function faults.instruction faults.page faults.region processes", "mean_ns", "total, divided by their number"},
    {NULL, "meaning", "name of the error"},
    {NULL, "migrations", "runs on another processor than the run before"},
    {NULL, "min_ns", "shortest of those that were seen whole"},
    {NULL, "mode", "user: in a program; kernel: in the kernel"},
    {NULL, "no_room", "begins that were not followed, as too many were open"},
    {NULL, "not_begun", "ends without a begin"},
    {NULL, "not_ended", "begins without an end"},
    {NULL, "notification_ns", "time in which it waited for a notification"},
    {NULL, "number", "number of the class"},
    {"faults", "number", "number of the kind"},
    {"syscalls", "number", "number of the system call"},
    {NULL, "own_ns", "of the total: its thread ran in it, in no other activity inside it"},
    {NULL, "p50_ns", "half of those that were seen whole took at most this (median)"},
    {NULL, "p90_ns", "90 % of those that were seen whole took at most this"},
    {NULL, "p99_ns", "99 % of those that were seen whole took at most this"},
    {NULL, "parent_pid", "process that created it"},
    {NULL, "path", "file of its program"},
    {NULL, "percent", "part of the sum of all rows, in percent"},
    {NULL, "percent_up_to", "part of this row and all above it, in percent"},
    {NULL, "period_ns", "mean time between two samples of a processor"},
    {NULL, "pid", "number of the process; 0 is the kernel"},
    {NULL, "posix_ns", "time in the C library's part of POSIX calls"},
    {NULL, "preempted", "times that it stopped running although it could go on: for another thread, or at the end of its time slice"},
    {NULL, "preempted_ns", "of the time waited: the holder was ready, but had no processor"},
    {"noise", "preempted_ns", "time in which other threads ran in its place"},
    {NULL, "prio", "priority; of two ready threads the one with the higher runs first"},
    {NULL, "process", "name of the process"},
    {NULL, "processes", "number of processes"},
    {NULL, "programs_ns", "time of the samples that hit programs"},
    {NULL, "quanta", "equal parts of the work (--quantum)"},
    {NULL, "ran_ns", "time on a processor"},
    {NULL, "ready_ns", "time in which it was ready, and waited for a processor"},
    {"ipc", "ready_ns", "time in which the server was ready, and waited for a processor"},
    {"ipc.share", "ready_ns", "time in which threads of the process were ready, and the call waited for them"},
    {NULL, "receive_ns", "time in which it waited for a message"},
    {NULL, "reply_ns", "time in which it waited for the answer to a call"},
    {NULL, "result", "what the call returned; negative: an error"},
    {NULL, "run_max_ns", "longest stretch of running"},
    {NULL, "run_mean_ns", "mean stretch of running"},
    {NULL, "running_ns", "time on a processor"},
    {"ipc", "running_ns", "time in which the server ran"},
    {"ipc.share", "running_ns", "time in which threads of the process ran for the call"},
    {"locks", "running_ns", "of the time waited: the holder ran"},
    {NULL, "samples", "number of samples"},
    {"profile.callers", "samples", "samples in the innermost function, reached along this branch"},
    {"profile.calls profile.function", "samples", "samples in the function itself, in none that it called"},
    {NULL, "self_ns", "time of the samples in the function itself, in none that it called"},
    {NULL, "self_percent", "part of all samples, by --weight, that lie in the function itself"},
    {NULL, "send_ns", "time in which it waited for a server to take its message"},
    {NULL, "sent", "inter-processor interrupts that were sent"},
    {NULL, "server_pid", "process that was called"},
    {NULL, "server_tid", "thread that answered"},
    {NULL, "share_percent", "part of all samples, by --weight"},
    {NULL, "since_ns", "when the wait began, since the begin of the trace"},
    {NULL, "sleep_ns", "time in which it slept for a given time"},
    {NULL, "slowdown_percent", "how much longer the parts took than their work alone"},
    {NULL, "source", "source file and line"},
    {NULL, "spins", "times round the loop in which the kernel waits for a spinlock, or a program tries a lock again before it sleeps"},
    {NULL, "state", "state at the end of the range"},
    {NULL, "status", "exit status; negative: killed; empty: it lives on"},
    {NULL, "steps", "steps that the call was cut into"},
    {NULL, "stretches", "stretches of time in the state"},
    {"sched.end", "stretches", "stretches of running that ended so"},
    {NULL, "suspended_ns", "time in which it was suspended"},
    {NULL, "switches", "times that a processor switched to the thread"},
    {"sched.cpu", "switches", "times that the processor switched to a thread"},
    {"stats.cpu", "switches", "times that the processor switched to a thread"},
    {NULL, "syscalls_ns", "time that the kernel ran in system calls"},
    {NULL, "taken", "inter-processor interrupts that were taken, those that joined an earlier one left out"},
    {NULL, "taken_ns", "time that noise took from the work"},
    {NULL, "taken_percent", "time that noise took, as part of the work"},
    {NULL, "thread", "name of the thread"},
    {NULL, "threads", "number of threads"},
    {NULL, "tid", "number of the thread; 0 is the idle thread of a processor"},
    {NULL, "time_ns", "time that processors worked, as far as samples stand for it"},
    {NULL, "times", "how often"},
    {NULL, "to_cpu", "processor that was sent to"},
    {NULL, "to_ns", "the times that the row counts are shorter than this"},
    {NULL, "to_server_ns", "time from the call until a server took it"},
    {NULL, "total_ns", "sum of the times that the row counts"},
    {"profile", "total_ns", "time of the samples in the function and in what it called"},
    {NULL, "total_percent", "part of all samples, by --weight, that lie in the function or in what it called"},
    {NULL, "unknown_ns", "time in which it is not known whether it ran: events were lost, or none told yet"},
    {"locks", "unknown_ns", "of the time waited: what the holder did, or who it was, is not known"},
    {NULL, "until_ns", "when it ended, since the begin of the trace"},
    {NULL, "untold_ns", "time of which it is not known what the thread did, as after lost events, though it may have run"},
    {NULL, "user_ns", "time in its own code"},
    {NULL, "value", "value of the field (--group)"},
    {NULL, "wait_max_ns", "longest wait"},
    {NULL, "wait_mean_ns", "mean of the waits"},
    {NULL, "wait_p99_ns", "99 % of the waits took at most this"},
    {NULL, "waited_ns", "sum of the waits"},
    {"breakdown", "waited_ns", "time in which the server waited while it worked on the function"},
    {"locks.instead", "waited_ns", "time in which the thread ran in the holder's place while others waited for the lock"},
    {"sched", "waited_ns", "time in which it was ready, and waited for a processor"},
    {NULL, "waiting_ns", "of the total: its thread did not run"},
    {"ipc", "waiting_ns", "time in which threads of the process waited for something else, and the call for them"},
    {"threads", "waiting_ns", "time in which it waited for something other than a processor"},
    {NULL, "waits", "number of waits"},
    {"sched", "waits", "waits for a processor that were seen whole"},
    {NULL, "waits_ns", "time in which it waited for a message, a notification, a lock or a time"},
    {"ipc", "waits_ns", "time in which the server waited for something else"},
    {NULL, "waker", "thread that ended the wait: it let the lock go, or signalled"},
    {NULL, "waker_tid", "number of that thread"},
    {NULL, "wakeups", "times that its wait was ended by another thread, an interrupt or a timer"},
    {"sched", "wakeups", "waits for a processor that began with a wake-up by this thread"},
    {NULL, "wall_ns", "time that it lived within the range; the columns beside it add up to this"},
    {NULL, "watch", "of so many acquisitions of a lock of the class one is logged; empty: the class is not watched"},
    {NULL, "what", "name of the system call"},
    {"faults", "what", "kind of fault"},
    {NULL, "woken", "thread that was woken"},
    {NULL, "work_ns", "time that it ran its program and its system calls"},
    {NULL, NULL, NULL}};
/* clang-format on */

/* Is WORD one of LIST, which blanks separate? */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (; *list != '\0'; list += strcspn(list, " "), list += *list == ' ')
        if (strcspn(list, " ") == length && memcmp(list, word, length) == 0)
            return true;
    return false;
}

/* How closely WHERE fits the table: 0 not at all, 3 best. */
static unsigned fit_of(const char *where, const struct answer_kind *kind, const struct table *table)
{
    char name[80];

    if (where == NULL)
        return 1;
    snprintf(name, sizeof(name), "%s.%s", kind->name, table->key);
    return has_word(where, name) ? 3 : has_word(where, kind->name) ? 2 : 0;
}

const struct column_text *column_text(const struct answer_kind *kind, const struct table *table,
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

/* ---- shown ---- */

#define TEXT_INDENT 22u
#define TEXT_WIDTH  100u

/* An entry of a list, in as many lines as it takes. IN: what follows the name; "": nothing. */
static void print_entry(FILE *to, const char *name, const char *in, const char *text)
{
    unsigned used = (unsigned)fprintf(to, "  %s", name);

    used += (unsigned)fprintf(to, "%*s", used < TEXT_INDENT - 1 ? (int)(TEXT_INDENT - 1 - used) : 0, "");
    if (*in != '\0')
        used += (unsigned)fprintf(to, " (%s)", in);
    while (*text != '\0') {
        unsigned length = (unsigned)strcspn(text, " ");

        if (used + 1 + length > TEXT_WIDTH)
            used = (unsigned)fprintf(to, "\n%*s", (int)TEXT_INDENT - 1, "") - 1;
        used += (unsigned)fprintf(to, " %.*s", (int)length, text);
        text += length;
        text += *text == ' ';
    }
    fputc('\n', to);
}

/* The tables of KIND that TEXT is for, unless it is for more than some. */
static void list_tables(const struct answer_kind *kind, const struct column_text *text, char *list,
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

/* Those of TABLE whose sentences were not SHOWN. */
static void print_columns(FILE *to, const struct answer_kind *kind, const struct table *table,
                          bool shown[TEXTS])
{
    for (unsigned c = 0; c < table->column_count; c++) {
        struct table_column column = table->columns[c];
        const struct column_text *text = column_text(kind, table, column.key);
        char heading[HEADING_BYTES], tables[200];

        if (column.kind == COLUMN_BAR || text == NULL || shown[text - column_texts])
            continue;
        shown[text - column_texts] = true;
        column.heading = NULL; /* of a total it is made for its sentence */
        list_tables(kind, text, tables, sizeof(tables));
        print_entry(to, column_heading(&column, heading), tables, text->text);
    }
}

void columns_print_help(FILE *to, const struct answer_kind *kind)
{
    bool shown[TEXTS] = {false};

    fputs("Columns:\n", to);
    if (kind->totals != NULL)
        print_columns(to, kind, kind->totals, shown);
    for (unsigned i = 0; i < kind->table_count; i++)
        print_columns(to, kind, &kind->tables[i], shown);
}

void columns_print_all(FILE *to)
{
    fputs("The columns of all answers. A sentence with names of answers or tables in front is theirs.\n\n",
          to);
    for (const struct column_text *text = column_texts; text->key != NULL; text++) {
        const struct table_column column = {.key = text->key, .kind = COLUMN_TIME};
        char heading[HEADING_BYTES];

        print_entry(to, column_heading(&column, heading), text->where != NULL ? text->where : "", text->text);
    }
}
