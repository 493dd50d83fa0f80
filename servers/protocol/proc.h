/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/protocol/proc.h - requests to the process server (SLOT_PROC). Conventions, spans, windows:
 * server.h.
 */
#ifndef SERVERS_PROTOCOL_PROC_H
#define SERVERS_PROTOCOL_PROC_H

#include <servers/protocol/server.h>
#include <tarn/abi.h>

enum {
    PROC_SPAWN = 0x100, /* span of struct proc_spawn -> pid of the new process */
    PROC_WAIT, /* pid or PROC_ANY, PROC_WAIT_* -> pid (0: PROC_WAIT_NO_HANG and none); word[0] = status */
    PROC_EXIT, /* exit status, 0..255; there is no answer */
    PROC_KILL, /* pid, signal (0: only ask whether it lives), PROC_KILL_* */
    PROC_GET_PARENT, /* pid, 0 = own -> parent's pid */
    PROC_SHUTDOWN,   /* status: ends the machine; needs PROC_AUTHORITY_TRACE or _MACHINE */
    /* Names for services of ordinary programs; <tarn/service.h>. The name lies in word[0..3], NUL-padded. */
    PROC_PUBLISH, /* cap[0] = endpoint, with RIGHT_GRANT; EEXIST: taken. The name is free again when its owner
                     ends */
    PROC_CONNECT, /* word[4] = deadline -> cap[0] = the endpoint, badge = caller's pid; waits until it is
                     published */
    PROC_DEBUG,   /* MACHINE_DEBUG_*, its argument: machine_debug; needs what PROC_SHUTDOWN needs */
};

#define PROC_ANY          (~0ull)
#define PROC_WAIT_NO_HANG 1u
#define PROC_KILL_TREE    1u /* and all its descendants */

/* The status of PROC_WAIT is <sys/wait.h>'s: exit status << 8, or the number of the signal that killed it. A
 * fault counts as SIGSEGV, SIGILL, SIGFPE, SIGTRAP or SIGBUS. */

/* What a process may be trusted with beyond the servers. A child gets at most what its parent has. */
#define PROC_AUTHORITY_TRACE   1u /* SLOT_TRACE: read and control the trace */
#define PROC_AUTHORITY_MACHINE 2u /* SLOT_MACHINE */

#define PROC_SPAWN_BYTES        SERVER_WINDOW_BYTES /* all of it, strings included: E2BIG beyond */
#define PROC_FDS_MAX            256u
#define PROC_ARGS_MAX           4096u /* argc + envc */
#define PROC_SERVICE_NAME_BYTES 32u

/* Lies in the window, 8-byte aligned, followed by the open files and the strings. */
struct proc_spawn {
    uint32_t size;      /* of all, this header included */
    uint32_t authority; /* PROC_AUTHORITY_* to pass on */
    uint32_t argc, envc;
    uint32_t fd_count; /* struct startup_fd fd[fd_count] follow; `handle` is the parent's */
    uint32_t path;     /* offset from the start of this header: absolute path of the image */
    uint32_t cwd;      /* the same: the child's working directory */
    uint32_t strings;  /* the same: argc strings, then envc strings, each with its NUL */
    uint64_t affinity; /* processors that the child's first thread may run on, a bit each; 0 = all */
    struct startup_fd fd[];
};

#endif
