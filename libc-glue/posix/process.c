/* process.c - ends, waits for and kills processes; for starting them see spawn.c. */
#include "call.h"

#include <servers/protocol/proc.h>
#include <signal.h>
#include <sys/wait.h>
#include <tarn/server.h>
#include <unistd.h>

/* Normally proc kills the space before the call returns.
 * A process without proc (proc itself, init) ends here. */
static void __attribute__((noreturn)) exit_process(uint64_t label, uint64_t a, uint64_t b, int32_t status)
{
    call_server(SLOT_PROC, label, a, b, 0, 0);
    for (;;) {
        sys_space_kill(SLOT_SPACE, status);
        sys_thread_exit();
    }
}

void _exit(int status)
{
    enter_call(TRACE_LIBC_EXIT, (uint64_t)status, 0);
    exit_process(PROC_EXIT, (uint64_t)(status & 0xff), 0, status & 0xff);
}

void end_process(int signal)
{
    exit_process(PROC_KILL, process_id(), (uint64_t)signal, -signal);
}

static int64_t wait_for_child(pid_t pid, int *status, int options)
{
    struct ipc_message message = {
        .label = PROC_WAIT,
        .word = {pid > 0 ? (uint64_t)pid : PROC_ANY, options & WNOHANG ? PROC_WAIT_NO_HANG : 0},
    };
    int64_t result = call_server_message(SLOT_PROC, &message);
    if (result > 0 && status)
        *status = (int)message.word[0];
    return result;
}

pid_t waitpid(pid_t pid, int *status, int options)
{
    return (pid_t)LIBC_CALL(WAITPID, pid, options, wait_for_child(pid, status, options));
}

pid_t wait(int *status)
{
    return waitpid(-1, status, 0);
}

int kill(pid_t pid, int signal)
{
    enter_call(TRACE_LIBC_KILL, (uint64_t)pid, (uint64_t)signal);
    int64_t result = pid <= 0 || signal < 0 || signal >= NSIG
                         ? -EINVAL
                         : call_server(SLOT_PROC, PROC_KILL, (uint64_t)pid, (uint64_t)signal, 0, 0);
    if (result < 0 && signal && (uint32_t)pid == process_id())
        end_process(signal);
    return (int)leave_call(TRACE_LIBC_KILL, result);
}

pid_t getpid(void)
{
    return (pid_t)process_id();
}

pid_t getppid(void)
{
    return (pid_t)call_server(SLOT_PROC, PROC_GET_PARENT, 0, 0, 0, 0);
}

/* ---- not supported in Tarn: users, fork and exec --------------------------------------------------- */

uid_t getuid(void)
{
    return 0;
}
uid_t geteuid(void)
{
    return 0;
}
gid_t getgid(void)
{
    return 0;
}
gid_t getegid(void)
{
    return 0;
}

pid_t fork(void)
{
    errno = ENOSYS;
    return -1;
}

int execve(const char *path, char *const argv[], char *const envp[])
{
    errno = ENOSYS;
    return -1;
}
