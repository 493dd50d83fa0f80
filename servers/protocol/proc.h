/* proc.h - requests to the process server (SLOT_PROC). For conventions and spans see server.h. */
#pragma once

#include <servers/protocol/server.h>
#include <string.h>
#include <tarn/abi.h>

enum {
    /* span of struct proc_spawn, capabilities of the trace and the machine to hand on -> pid of the new
     * process. It gets those, with the sender's rights, and what the label of its executable says; nothing
     * else. */
    PROC_SPAWN = 0x100,
    /* pid or PROC_ANY, PROC_WAIT_* -> pid (0: none, with PROC_WAIT_NO_HANG); word[0] = status */
    PROC_WAIT,
    PROC_EXIT,       /* exit status, 0..255; no reply */
    PROC_KILL,       /* pid, signal (0: only test whether the process exists), PROC_KILL_* */
    PROC_GET_PARENT, /* pid, 0 = own -> parent's pid */
    /* Services that ordinary programs publish; see <tarn/service.h>.
     * word[0..3] hold the name, padded with NULs. */
    /* cap[0] = endpoint, with RIGHT_GRANT. EEXIST if the name
     * is taken. The name becomes free when its owner ends. */
    PROC_PUBLISH,
    /* word[4] = deadline -> cap[0] = the endpoint, badge =
     * caller's pid. Waits until the service is published. */
    PROC_CONNECT,
};

#define PROC_ANY          (~0ull)
#define PROC_WAIT_NO_HANG 1u
#define PROC_KILL_TREE    1u /* and all its descendants */

/* The status from PROC_WAIT is as in <sys/wait.h>: exit status << 8, or the number of the signal that killed
 * the process. A fault counts as SIGSEGV, SIGILL, SIGFPE, SIGTRAP or SIGBUS. */

#define PROC_SPAWN_BYTES        SERVER_BUFFER_BYTES /* total size including strings; E2BIG if larger */
#define PROC_FDS_MAX            256u
#define PROC_ARGS_MAX           4096u /* argc + envc */
#define PROC_SERVICE_NAME_BYTES 32u

/* The argument of PROC_SPAWN, in a shared buffer, 8-byte
 * aligned; the open files and the strings follow it. */
struct proc_spawn {
    uint32_t size; /* of everything, including this header */
    uint32_t argc, envc;
    uint32_t fd_count; /* number of entries in fd[]; each `handle` is the parent's */
    uint32_t path;     /* offset from the start of this header: absolute path of the executable */
    uint32_t cwd;      /* offset: the child's working directory */
    uint32_t strings;  /* offset: argc strings, then envc strings, each with its NUL */
    uint64_t affinity; /* CPUs that the child's first thread may run on, one bit each; 0 = all */
    struct startup_fd fd[];
};

/* Appends bytes to a request that is being made and returns their offset. If they do not fit, its size
 * becomes larger than PROC_SPAWN_BYTES. */
static inline uint32_t proc_spawn_append(struct proc_spawn *request, const void *bytes, size_t size)
{
    uint32_t offset = request->size;
    if (offset > PROC_SPAWN_BYTES || size > PROC_SPAWN_BYTES - offset) {
        request->size = PROC_SPAWN_BYTES + 1;
        return offset;
    }
    memcpy((char *)request + offset, bytes, size);
    request->size += (uint32_t)size;
    return offset;
}

static inline uint32_t proc_spawn_append_string(struct proc_spawn *request, const char *string)
{
    return proc_spawn_append(request, string, strlen(string) + 1);
}
