/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/proc/fault.c - threads that did what they may not: say so, end the process.
 *
 * The kernel sends IPC_LABEL_FAULT on an endpoint that nobody else can call, and the thread waits. It never
 * runs again: its process is killed, as if by the signal that other systems send.
 */
#include "proc.h"
#include "process.h"
#include <pthread.h>
#include <signal.h>
#include <tarn/runtime.h>

cap_t fault_endpoint;

static const struct {
    const char *what;
    int signal;
} faults[] = {
    [FAULT_PAGE] = {"touched memory that it has not", SIGSEGV},
    [FAULT_ILLEGAL] = {"ran an illegal instruction", SIGILL},
    [FAULT_ARITHMETIC] = {"made an arithmetic error", SIGFPE},
    [FAULT_BREAKPOINT] = {"hit a breakpoint", SIGTRAP},
    [FAULT_PROTECTION] = {"did what it has no right to", SIGSEGV},
    [FAULT_ALIGNMENT] = {"touched memory out of alignment", SIGBUS},
};

static void handle_fault(const struct ipc_message *message)
{
    char name[TARN_NAME_BYTES];
    uint64_t reason = message->word[0];
    uint32_t tid = (uint32_t)message->word[4], pid = (uint32_t)message->word[5];
    if (reason >= sizeof(faults) / sizeof(faults[0]) || !faults[reason].what)
        reason = FAULT_PROTECTION;
    process_get_name(pid, name, sizeof(name));
    server_log("proc: %s (pid %u, thread %u) %s: address %#llx, instruction %#llx, access %llu: killed", name,
               (unsigned)pid, (unsigned)tid, faults[reason].what, (unsigned long long)message->word[1],
               (unsigned long long)message->word[2], (unsigned long long)message->word[3]);
    process_note_exit(pid, status_of_signal(faults[reason].signal)); /* its last thread may end right here: */
    ipc_reply(&(struct ipc_message){.label = FAULT_REPLY_KILL});     /* the thread first, then all others */
    process_kill_noted(pid);
}

static void *fault_main(void *argument)
{
    struct ipc_message message;
    for (;;)
        if (ipc_receive(fault_endpoint, &message) >= 0 && message.label == IPC_LABEL_FAULT)
            handle_fault(&message);
    return NULL;
}

void start_fault_handler(void)
{
    pthread_t thread;
    int64_t endpoint = sys_endpoint_create();
    fault_endpoint = endpoint > 0 ? (cap_t)endpoint : 0;
    if (endpoint < 0 || pthread_create(&thread, NULL, fault_main, NULL) != 0)
        panic("proc: cannot start the fault handler");
}
