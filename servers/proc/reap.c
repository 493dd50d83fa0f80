/*
 * reap.c - cleans up after dead processes.
 *
 * One thread waits for death_notification. A dead space has already freed its memory. The reaper tells the
 * servers to drop their state for the process, then replies to its parent: when wait returns, all files are
 * closed. No worker waits for this thread, so it may wait for any server, but not for ever: a server that
 * does not reply in time is late (event server_late). Processes end without it, and the reaper tells it later
 * of all that have ended meanwhile.
 */
#include "proc.h"
#include "process.h"
#include <arch/trace.h>
#include <errno.h>
#include <servers/lib/servers.h>
#include <stdlib.h>
#include <tarn/runtime.h>
#include <trace/process.h>

#define BATCH      128u
#define UNTOLD_MAX 0x10000u
#define RETRY_NS   1000000000ull /* between attempts to tell a late server */
#define PROBE_NS   50000000ull   /* patience with a late server */

void kill_space(uint32_t space, int status)
{
    int signal = status & 0x7f;
    sys_space_kill(space, signal ? -signal : status >> 8);
}

void close_space(uint32_t space)
{
    sys_cap_close(space);
}

/* If it fails, one of the two has just ended. */
void inherit_routines(uint32_t space, uint32_t heir)
{
    if (arch_trace_info()->routines)
        sys_routines_inherit(space, heir);
}

/* ---- telling the servers --------------------------------------------------------------------------- */

/* Ended processes that a server does not know of yet. The last row is proc's own. */
static struct untold {
    uint32_t *pids;
    unsigned count, size;
    bool is_late;
} untold[SERVER_COUNT + 1];
static uint64_t retry_at = TARN_FOREVER;

static const char *name_of(cap_t slot)
{
    for (unsigned i = 0; i < SERVER_COUNT; i++)
        if (server_declarations[i].slot == slot)
            return server_declarations[i].path;
    return "?";
}

static void set_late(unsigned server, bool is_late)
{
    if (untold[server].is_late == is_late)
        return;
    untold[server].is_late = is_late;
    trace_process_server_late(is_late, untold[server].count, name_of(servers[server]));
    debug_printf("proc: /%s %s\n", name_of(servers[server]),
                 is_late ? "does not reply: processes end without it" : "replies again");
}

/* Returns false if the server must be notified again. */
static bool tell(unsigned server, uint32_t pid, uint64_t patience)
{
    uint64_t deadline =
        deadline_after(patience / 2); /* for requests in progress; the rest is for the reply */
    struct ipc_message message = {.label = SERVER_CLIENT_EXIT, .word = {pid, deadline}};
    if (server == server_count)
        return server_client_exit(pid, deadline) == 0;
    int64_t error = ipc_call_deadline(servers[server], &message, deadline + patience / 2);
    if (error == -E_DEAD) { /* it needs to know nothing any more */
        untold[server].is_late = false;
        return true;
    }
    set_late(server, error < 0);
    return error == 0 && (int64_t)message.label != -EAGAIN;
}

static bool has_space(struct untold *list)
{
    if (list->count < list->size)
        return true;
    unsigned size = list->size ? list->size * 2 : 64;
    uint32_t *pids = size <= UNTOLD_MAX ? realloc(list->pids, size * sizeof(*pids)) : NULL;
    if (!pids)
        return false;
    list->pids = pids;
    list->size = size;
    return true;
}

static void tell_later(unsigned server, uint32_t pid)
{
    struct untold *list = &untold[server];
    if (has_space(list))
        list->pids[list->count++] = pid;
    else
        debug_printf("proc: too many ended processes: /%s keeps what process %u had\n",
                     name_of(servers[server]), (unsigned)pid);
    if (retry_at == TARN_FOREVER)
        retry_at = deadline_after(RETRY_NS);
}

static void client_is_gone(uint32_t pid)
{
    for (unsigned i = 0; i <= server_count; i++)
        if (untold[i].is_late || !tell(i, pid, SERVER_PATIENCE_NS))
            tell_later(i, pid);
}

/* In any order, because a server that must be notified again may take long. */
static void tell_late_servers(void)
{
    retry_at = TARN_FOREVER;
    for (unsigned i = 0; i <= server_count; i++) {
        struct untold *list = &untold[i];
        for (unsigned next = list->count; next-- > 0;) {
            if (tell(i, list->pids[next], PROBE_NS))
                list->pids[next] = list->pids[--list->count];
            if (list->is_late)
                break;
        }
        if (list->count)
            retry_at = deadline_after(RETRY_NS);
    }
}

/* ---- dead processes -------------------------------------------------------------------------------- */

/* The inverse of kill_space. */
static int status_of_dead(cap_t space)
{
    int32_t status = (int32_t)sys_space_status(space);
    return status < 0 ? status_of_signal(-status) : status_of_exit((uint64_t)status);
}

static void reap(uint32_t pid, cap_t dead_space)
{
    /* For a process without a status: its last thread ended, or
     * the kernel killed it to free memory (kernel/ipc/scarce.c). */
    process_note_exit(pid, status_of_dead(dead_space));
    cap_t space = process_take_space(pid);
    if (space)
        close_space(space);
    process_forget_waits(pid);
    client_is_gone(pid);
    process_finish(pid);
}

static bool is_dead(cap_t space)
{
    return sys_space_info(space) == -E_DEAD;
}

void *reaper_main(void *deaths)
{
    for (;;) {
        uint32_t pids[BATCH], spaces[BATCH];
        int64_t bits = sys_notification_wait((cap_t)(uintptr_t)deaths, retry_at);
        unsigned count = 0;
        if (clock_monotonic_ns() >= retry_at)
            tell_late_servers();
        do {
            if (bits <= 0)
                break;
            count = process_with_bits((uint64_t)bits, pids, spaces, BATCH);
            for (unsigned i = 0; i < count; i++)
                if (is_dead(spaces[i]))
                    reap(pids[i], spaces[i]);
        } while (count == BATCH);
    }
    return NULL;
}
