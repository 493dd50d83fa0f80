/*
 * tests/guest/explore_again.c - starts the workload `again=PATH` of the kernel's command line, for `tarn
 * explore` with perturbations that programs do or suffer. The exploring kernel spares this one, the first
 * ordinary program.
 *
 * If programs are killed, or their allocations fail, the workload starts again and again. After each start
 * all other programs end, so what is left at the end can be compared with a run without perturbations. Beside
 * it runs explore_control, if the trace is controlled; all settings are ordinary again at the end.
 */
#include "leak.h"
#include "run.h"

#include <errno.h>
#include <string.h>
#include <tarn/explore.h>
#include <tarn/syscall.h>
#include <tarn/trace_control.h>
#include <trace/event/sizes.h>
#include <trace/format/layout.h>

#define STARTS_MAX 8
#define ENOUGH_NS  300000000u /* no further start after that */
#define PATIENCE   1000       /* ms, for programs to be gone */
#define REST       20000      /* us: servers forget dead clients */

static char *workload;
static bool starts_again, controls;

static void read_options(void)
{
    static char options[1024];
    int64_t size = sys_system_read(SYSTEM_COMMAND_LINE, 0, options, sizeof options - 1);
    options[size > 0 ? size : 0] = 0;
    for (char *word = strtok(options, " \n"); word; word = strtok(NULL, " \n")) {
        if (!strncmp(word, "again=", 6))
            workload = word + 6;
        if (strncmp(word, "explore=", 8) != 0)
            continue;
        controls = strstr(word, ",control");
        starts_again = strstr(word, ",kills") || strstr(word, ",allocations");
    }
}

/* 0: not started. */
static pid_t start(const char *path)
{
    pid_t pid = start_program(path);
    if (pid == -ENOEXEC)
        pid = start_program("/bin/sh", path);
    return pid > 0 ? pid : 0;
}

static int run(void)
{
    if (controls)
        setenv("EXPLORE_CONTROL", "1", 1); /* tests/guest/leak.h */
    pid_t control = controls ? start("/test/explore_control") : 0;
    const int status = status_of(start(workload));
    if (control) {
        kill(control, SIGKILL);
        status_of(control);
    }
    return status;
}

static void stop_control(void)
{
    /* Another drain: gives back the notification of one that has ended now, not at a heartbeat. */
    const cap_t bell = (cap_t)sys_notification_create();
    const uint64_t operations[][3] = {{TRACE_OP_SET_ROUTINES},       {TRACE_OP_SET_PROFILE},
                                      {TRACE_OP_BIND_COUNTERS},      {TRACE_OP_SAMPLE_LOCKS, ~0ull},
                                      {TRACE_OP_SET_MASK, ~0ull},    {TRACE_OP_SET_MODE, TRACE_MODE_FLIGHT},
                                      {TRACE_OP_SET_DRAIN, bell, 1}, {TRACE_OP_SET_DRAIN, bell}};
    for (unsigned i = 0; i < sizeof operations / sizeof *operations; i++)
        sys_trace_control(SLOT_TRACE, (uint32_t)operations[i][0], operations[i][1], operations[i][2]);
    for (uint32_t class = 0; class < TRACE_CLASS_COUNT; class ++)
        sys_trace_control(SLOT_TRACE, TRACE_OP_SET_SWITCHES, class, ~0ull);
    sys_cap_close(bell);
    trace_set_sizes(SLOT_TRACE, 0, 0);
}

/* What a pull has in traced and net comes back when its connection has ended. */
static void await_links(const struct system_stats *before)
{
    for (int i = 0; i < PATIENCE; i++, usleep(5000)) {
        const struct system_stats now = read_stats();
        if (now.threads <= before->threads && now.notifications <= before->notifications)
            return;
    }
}

static bool settle(void)
{
    int64_t left = 1;
    for (int i = 0; i < PATIENCE && left; i++) {
        left = sys_system_read(SYSTEM_EXPLORE, EXPLORE_SETTLE, NULL, 0);
        usleep(1000);
    }
    usleep(REST);
    return left == 0;
}

int main(void)
{
    read_options();
    const struct system_stats before = read_stats();
    uint64_t end = clock_monotonic_ns() + ENOUGH_NS;
    bool settled = workload != NULL;
    int status = 0;
    for (int i = 0; i < STARTS_MAX && settled && (i == 0 || (starts_again && clock_monotonic_ns() < end));
         i++) {
        status = run();
        settled = settle();
    }
    if (controls) {
        stop_control();
        await_links(&before);
    }
    if (settled && !starts_again)
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    printf(settled ? "all programs ended\n" : "Bail out! programs are left\n");
    return !settled;
}
