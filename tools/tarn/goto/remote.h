/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/remote.h - executes system calls in a thread of another process.
 *
 * The thread is stopped by ptrace, and its registers are restored afterwards. If it is killed meanwhile, the
 * call fails.
 */
#ifndef TARN_GOTO_REMOTE_H
#define TARN_GOTO_REMOTE_H

#include <sys/types.h>
#include <sys/user.h>
#include <tools/tarn/tarn.h>

struct remote {
    pid_t thread;
    int memory;       /* /proc/PID/mem */
    uint64_t gate;    /* address of a syscall instruction in it */
    uint64_t scratch; /* address of REMOTE_SCRATCH unused bytes of its stack */
};

#define REMOTE_SCRATCH 256u

/* THREAD belongs to process PID. Close it in either case. */
bool remote_open(struct remote *remote, pid_t pid, pid_t thread, struct fail *fail);
void remote_close(struct remote *remote);
/* Between them it calls in another stopped thread of the process, which may then resume. */
bool remote_begin(struct remote *remote, pid_t thread);
void remote_end(const struct remote *remote);
/* Returns the call's result; an error is -errno. MADE gets the stopped process or thread that the call makes;
 * may be NULL. */
long remote_call(const struct remote *remote, long number, const unsigned long arguments[6], pid_t *made);
#define remote_system(remote, number, ...) \
    remote_call((remote), (number), (unsigned long[6]){__VA_ARGS__}, NULL)
/* Copy to the scratch bytes, and back. */
bool remote_put(const struct remote *remote, const void *from, size_t bytes);
bool remote_get(const struct remote *remote, void *to, size_t bytes);
/* Makes a thread that was stopped in a system call restart it when it resumes. */
bool remote_settle(pid_t thread, struct user_regs_struct *registers);

#endif
