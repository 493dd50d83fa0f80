/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reap.c - cleans up after dead processes.
 *
 * One thread waits for death_notification. A dead space has already freed its memory. The reaper tells the
 * servers to drop their state for the process, then replies to its parent: when wait returns, all files are
 * closed. No worker waits for this thread, so it may wait for any server.
 */
#include "proc.h"
#include "process.h"
#include <arch/trace.h>
#include <pthread.h>
#include <tarn/runtime.h>
#include <tarn/server.h>

#define BATCH 128u

cap_t death_notification;

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
void inherit_profiles(uint32_t space, uint32_t heir)
{
    if (arch_trace_info()->profiles)
        sys_profile_inherit(space, heir);
}

void client_is_gone(uint32_t pid)
{
    for (unsigned i = 0; i < server_count; i++)
        call_server(servers[i], SERVER_CLIENT_EXIT, pid, 0, 0, 0);
    server_client_exit(pid);
}

/* The inverse of kill_space. */
static int status_of_dead(cap_t space)
{
    int32_t status = (int32_t)sys_space_status(space);
    return status < 0 ? status_of_signal(-status) : status_of_exit((uint64_t)status);
}

static void reap(uint32_t pid, cap_t dead_space)
{
    /* For a process without a status: its last thread ended, or
     * the kernel killed it to free memory (kernel/memory/scarce.h). */
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

static void *reaper_main(void *argument)
{
    for (;;) {
        uint32_t pids[BATCH], spaces[BATCH];
        int64_t bits = sys_notification_wait(death_notification, TARN_FOREVER);
        if (bits <= 0)
            continue;
        unsigned count;
        do {
            count = process_with_bits((uint64_t)bits, pids, spaces, BATCH);
            for (unsigned i = 0; i < count; i++)
                if (is_dead(spaces[i]))
                    reap(pids[i], spaces[i]);
        } while (count == BATCH);
    }
    return NULL;
}

void start_reaper(void)
{
    pthread_t thread;
    int64_t notification = sys_notification_create();
    death_notification = notification > 0 ? (cap_t)notification : 0;
    if (notification < 0 || pthread_create(&thread, NULL, reaper_main, NULL) != 0)
        panic("proc: cannot start the reaper");
}
