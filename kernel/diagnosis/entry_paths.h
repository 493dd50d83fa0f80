/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * entry_paths.h - which system calls and faults take the longer path, because they are traced or sampled.
 *
 * Most system calls are messages between programs that wait for each other, on the fast path (ipc_fast.c).
 * For these, syscall_entry and syscall_exit would only repeat what the events of the message and of the
 * switch say. So while those events are on, the fast path logs no entry and exit, and the event that stands
 * for the entry has a mark (trace/schema/ipc.ev). The general path logs entry and exit itself.
 */
#ifndef KERNEL_DIAGNOSIS_ENTRY_PATHS_H
#define KERNEL_DIAGNOSIS_ENTRY_PATHS_H

#include <stdbool.h>
#include <stdint.h>

/* By number of the system call; not SYSCALL_FAST: the entry calls syscall_call_watched(). */
enum {
    SYSCALL_FAST = 0,
    SYSCALL_WATCHED = 1,
    SYSCALL_COUNTED = 2, /* by routines alone */
    SYSCALL_COUNTED_MESSAGE = 3,
    SYSCALL_EXPLORED = 4, /* in place of SYSCALL_FAST, in the exploring kernel */
};
extern uint8_t syscall_watched[];

/* On the fast path, ipc_call stands for the entry of the system call, too; so does ipc_reply. */
extern bool call_is_entry, reply_is_entry;

/* Classes, switches or the sampling period may have changed. */
void update_entry_paths(void);

#endif
