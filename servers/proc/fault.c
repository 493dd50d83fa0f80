/*
 * fault.c - handles faults of programs: reports them on the console and kills the process.
 *
 * The kernel sends IPC_LABEL_FAULT to an endpoint that only it can call; the faulting thread waits. The
 * thread never resumes: its process is killed with the corresponding signal as status.
 */
#include "proc.h"
#include "process.h"
#include <signal.h>
#include <tarn/runtime.h>

static const struct {
    const char *what;
    int signal;
} faults[] = {
    [FAULT_PAGE] = {"accessed an invalid address", SIGSEGV},
    [FAULT_ILLEGAL] = {"executed an illegal instruction", SIGILL},
    [FAULT_ARITHMETIC] = {"caused an arithmetic error", SIGFPE},
    [FAULT_BREAKPOINT] = {"hit a breakpoint", SIGTRAP},
    [FAULT_PROTECTION] = {"caused a protection fault", SIGSEGV},
    [FAULT_ALIGNMENT] = {"made an unaligned access", SIGBUS},
};

static void handle_fault(const struct ipc_message *message)
{
    char name[TARN_NAME_BYTES];
    uint64_t reason = message->word[0];
    uint32_t tid = (uint32_t)message->word[4], pid = (uint32_t)message->word[5];
    if (reason >= sizeof(faults) / sizeof(faults[0]) || !faults[reason].what)
        reason = FAULT_PROTECTION;
    process_get_name(pid, name, sizeof(name));
    debug_printf("proc: %s (pid %u, thread %u) %s: address %#llx, instruction %#llx, access %llu: killed\n",
                 name, (unsigned)pid, (unsigned)tid, faults[reason].what,
                 (unsigned long long)message->word[1], (unsigned long long)message->word[2],
                 (unsigned long long)message->word[3]);
    /* First, because the reply may end the process's last thread. */
    process_note_exit(pid, status_of_signal(faults[reason].signal));
    ipc_reply(&(struct ipc_message){.label = FAULT_REPLY_KILL}); /* this thread */
    process_kill_noted(pid);
}

void *fault_main(void *endpoint)
{
    struct ipc_message message;
    for (;;)
        if (ipc_receive((cap_t)(uintptr_t)endpoint, &message) >= 0 && message.label == IPC_LABEL_FAULT)
            handle_fault(&message);
    return NULL;
}
