/*
 * ps.c - lists processes and the authority that each holds; -t: also their threads. Asks the kernel, so
 * servers are listed, too. AUTHORITY: trace (control it; trace-read: only read it), machine (devices,
 * debugger, power), console (the raw console), device.
 */
#include <stdio.h>
#include <string.h>

#include <tarn/runtime.h>
#include <user/bin/util.h>

/* Indexed by enum thread_state of trace/schema/sched.ev. */
static const char *const state_names[] = {"running", "ready",    "send",     "receive", "reply", "notify",
                                          "futex",   "sleeping", "faulting", "stopped", "dead"};

static const char *state_name(uint32_t state)
{
    return state < sizeof state_names / sizeof state_names[0] ? state_names[state] : "?";
}

static void print_authority(const struct system_space *s)
{
    if (s->trace)
        printf(" trace%s", s->trace & RIGHT_WRITE ? "" : "-read");
    if (s->machine)
        printf(" %s", s->machine & RIGHT_MANAGE ? "machine" : "console");
    if (s->device)
        printf(" device");
}

static void print_threads(uint32_t pid)
{
    struct system_thread threads[32];
    int64_t bytes;
    for (uint64_t index = 0; (bytes = sys_system_read(SYSTEM_THREADS, index, threads, sizeof threads)) > 0;) {
        uint64_t count = (uint64_t)bytes / sizeof threads[0];
        for (uint64_t i = 0; i < count; i++) {
            const struct system_thread *t = &threads[i];
            if (t->pid == pid)
                printf("      %5u %-16.16s %-8s cpu %2u prio %2u %10.3f s\n", t->tid, t->name,
                       state_name(t->state), t->cpu, t->priority, (double)t->run_ns / 1e9);
        }
        index += count;
    }
}

int main(int argc, char **argv)
{
    if (read_options(argc, argv, "t", 0, "[-t]    -t: also the threads") != argc)
        usage("[-t]    -t: also the threads");
    printf("  PID  PPID THREADS     KIB NAME             AUTHORITY\n");
    struct system_space spaces[32];
    int64_t bytes;
    for (uint64_t index = 0; (bytes = sys_system_read(SYSTEM_SPACES, index, spaces, sizeof spaces)) > 0;) {
        uint64_t count = (uint64_t)bytes / sizeof spaces[0];
        for (uint64_t i = 0; i < count; i++) {
            const struct system_space *s = &spaces[i];
            printf("%5u %5u %7u %7llu %-*.16s", s->pid, s->parent_pid, s->threads,
                   (unsigned long long)(s->resident * (TARN_PAGE_SIZE / 1024)),
                   s->trace | s->machine | s->device ? 16 : 0, s->name); /* no blanks at the end of a line */
            print_authority(s);
            puts(s->dying ? " (dying)" : "");
            if (option('t'))
                print_threads(s->pid);
        }
        index += count;
    }
    return bytes < 0 ? complain("cannot read the process list: error %lld", (long long)-bytes) : 0;
}
