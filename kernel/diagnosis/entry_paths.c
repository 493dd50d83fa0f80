/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * entry_paths.c - interface: entry_paths.h.
 *
 * CPUs read the results without a lock, so a system call that runs while they change may be logged twice, or
 * not at all.
 */
#include <kernel/diagnosis/counters.h>
#include <kernel/diagnosis/entry_paths.h>
#include <kernel/diagnosis/handler.h>
#include <kernel/diagnosis/profile.h>
#include <kernel/diagnosis/routines.h>
#include <kernel/explore/explore.h>
#include <tarn/syscall.h>
#include <trace/counter.h>
#include <trace/ipc.h>
#include <trace/sched.h>
#include <trace/syscall.h>

uint8_t syscall_watched[SYS_COUNT] = {[0 ... SYS_COUNT - 1] = 1}; /* all classes are enabled at boot */
bool call_is_entry, reply_is_entry;

static void set(uint8_t *watched, uint8_t how)
{
    __atomic_store_n(watched, how, __ATOMIC_RELAXED);
}

static uint8_t how_to_watch(unsigned number, bool on)
{
    if (!on || !routines_alone)
        return on ? SYSCALL_WATCHED : explore_needs_entries() ? SYSCALL_EXPLORED : SYSCALL_FAST;
    return syscall_is_message(number) ? SYSCALL_COUNTED_MESSAGE : SYSCALL_COUNTED;
}

void update_entry_paths(void)
{
    const bool counted = counters_are_bound() && TRACE_ON_COUNTER_SYSCALL();
    const bool traced = TRACE_ON_SYSCALL() || counted, sampled = profile_period != 0 || routines_on;
    set((uint8_t *)&routines_alone, routines_on && !traced && !profile_period && !TRACE_ON_IPC());
    const bool replaceable = TRACE_ON_SYSCALL_ENTRY() && !sampled && !counted;
    /* a call ends with ipc_return, the wait for the next message with the switch to the thread */
    call_is_entry = replaceable && TRACE_ON_IPC_CALL() && TRACE_ON_IPC_RETURN();
    reply_is_entry = replaceable && TRACE_ON_IPC_REPLY() && TRACE_ON_SCHED_SWITCH();
    for (unsigned number = 0; number < SYS_COUNT; number++) {
        const bool is_entry =
            (number == SYS_ipc_call && call_is_entry) || (number == SYS_ipc_reply_receive && reply_is_entry);
        set(&syscall_watched[number], how_to_watch(number, (traced || sampled) && !is_entry));
    }
    counters_follow_mask();
}
