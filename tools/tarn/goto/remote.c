/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/remote.c - executes system calls in another process; see remote.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <tools/tarn/goto/remote.h>
#include <tools/tarn/goto/tracee.h>
#include <unistd.h>

#define STOPS_MAX    20u
#define RED_ZONE     4096u /* more than the 128 bytes below the stack pointer that a leaf function may use */
#define OPTIONS      ((void *)(TRACEE_OPTIONS | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACECLONE))
#define SYSCALL_STOP (SIGTRAP | 0x80)

#if __has_include(<asm/debugreg.h>) /* as freezer.c */

/* Values in rax of a thread whose system call was interrupted by a signal or ptrace, and will be restarted.
 */
enum { RESTART_SYS = 512, RESTART_INTERRUPTED, RESTART_UNHANDLED, RESTART_BLOCK = 516 };

bool remote_settle(pid_t thread, struct user_regs_struct *registers)
{
    if (ptrace(PTRACE_GETREGS, thread, NULL, registers) != 0)
        return false;
    long got = (long)registers->rax;
    if ((long)registers->orig_rax >= 0 &&
        ((got <= -RESTART_SYS && got >= -RESTART_UNHANDLED) || got == -RESTART_BLOCK)) {
        registers->rax = registers->orig_rax;
        registers->rip -= 2; /* the length of the instruction */
    }
    registers->orig_rax = (unsigned long)-1;
    return ptrace(PTRACE_SETREGS, thread, NULL, registers) == 0;
}

/* Finds a syscall instruction in the vDSO, which every process has. */
static uint64_t find_gate(pid_t pid, int memory)
{
    static const uint8_t instruction[] = {0x0f, 0x05};
    char line[400];
    uint8_t page[8192];
    uint64_t from = 0;
    FILE *maps = process_file(pid, "maps", "re");

    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
        if (strstr(line, "[vdso]") != NULL && sscanf(line, "%" SCNx64, &from) == 1)
            break;
    if (maps != NULL)
        fclose(maps);
    ssize_t got = from != 0 ? pread(memory, page, sizeof(page), (off_t)from) : -1;
    const uint8_t *at = got > 0 ? memmem(page, (size_t)got, instruction, sizeof(instruction)) : NULL;
    return at != NULL ? from + (uint64_t)(at - page) : 0;
}

bool remote_open(struct remote *remote, pid_t pid, pid_t thread, struct fail *fail)
{
    struct user_regs_struct registers;
    char path[40];

    snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
    *remote = (struct remote){.thread = thread, .memory = open(path, O_RDWR | O_CLOEXEC)};
    if (remote->memory < 0 || ptrace(PTRACE_GETREGS, thread, NULL, &registers) != 0 ||
        ptrace(PTRACE_SETOPTIONS, thread, NULL, OPTIONS) != 0)
        return fail_set(fail, "cannot control process %d: %s", (int)pid, strerror(errno));
    remote->scratch = (registers.rsp - RED_ZONE) & ~15ull;
    remote->gate = find_gate(pid, remote->memory);
    return remote->gate != 0 || fail_set(fail, "process %d has no system call instruction", (int)pid);
}

void remote_close(struct remote *remote)
{
    if (remote->memory >= 0)
        close(remote->memory);
    remote->memory = -1;
    remote_end(remote);
}

bool remote_begin(struct remote *remote, pid_t thread)
{
    remote->thread = thread;
    return ptrace(PTRACE_SETOPTIONS, thread, NULL, OPTIONS) == 0;
}

void remote_end(const struct remote *remote)
{
    ptrace(PTRACE_SETOPTIONS, remote->thread, NULL, TRACEE_OPTIONS);
}

bool remote_put(const struct remote *remote, const void *from, size_t bytes)
{
    return bytes <= REMOTE_SCRATCH &&
           pwrite(remote->memory, from, bytes, (off_t)remote->scratch) == (ssize_t)bytes;
}

bool remote_get(const struct remote *remote, void *to, size_t bytes)
{
    return pread(remote->memory, to, bytes, (off_t)remote->scratch) == (ssize_t)bytes;
}

/* Runs the thread to the begin or end of a system call. Waits for the process or thread that the call makes.
 */
static bool next_stop(pid_t thread, pid_t *made)
{
    unsigned long message;
    int status;

    for (unsigned i = 0; i < STOPS_MAX; i++) {
        if (ptrace(PTRACE_SYSCALL, thread, NULL, NULL) != 0)
            return false;
        if (!tracee_wait(thread, &status) || status >> 16 == PTRACE_EVENT_EXIT)
            return false;
        if (WSTOPSIG(status) == SYSCALL_STOP)
            return true;
        int event = status >> 16;
        if ((event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_CLONE) && made != NULL &&
            ptrace(PTRACE_GETEVENTMSG, thread, NULL, &message) == 0) {
            *made = (pid_t)message;
            tracee_wait(*made, &status);
        }
    }
    return false;
}

/* A main thread at its end must not continue: it would wait for the others, which are held. */
static bool is_ending(pid_t thread)
{
    siginfo_t about;

    return ptrace(PTRACE_GETSIGINFO, thread, NULL, &about) == 0 && about.si_code >> 8 == PTRACE_EVENT_EXIT;
}

long remote_call(const struct remote *remote, long number, const unsigned long arguments[6], pid_t *made)
{
    struct user_regs_struct before, registers;

    if (is_ending(remote->thread))
        return -ESRCH;
    if (ptrace(PTRACE_GETREGS, remote->thread, NULL, &before) != 0)
        return -errno;
    registers = before;
    registers.rip = remote->gate;
    registers.rax = (unsigned long)number;
    registers.orig_rax = (unsigned long)-1;
    registers.rdi = arguments[0], registers.rsi = arguments[1], registers.rdx = arguments[2];
    registers.r10 = arguments[3], registers.r8 = arguments[4], registers.r9 = arguments[5];
    if (ptrace(PTRACE_SETREGS, remote->thread, NULL, &registers) != 0 || !next_stop(remote->thread, NULL) ||
        !next_stop(remote->thread, made) || ptrace(PTRACE_GETREGS, remote->thread, NULL, &registers) != 0 ||
        ptrace(PTRACE_SETREGS, remote->thread, NULL, &before) != 0)
        return -ESRCH;
    return (long)registers.rax;
}
#endif
