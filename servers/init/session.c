/*
 * session.c - the first process: starts the servers (boot.c), then runs the program of run=PATH, and shells
 * on the console; its first thread reports servers that die.
 */
#include "init.h"
#include <errno.h>
#include <pthread.h>
#include <servers/lib/server.h>
#include <servers/protocol/proc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tarn/file_kind.h>
#include <tarn/runtime.h>
#include <tarn/server.h>

#define SHELL         "/bin/sh"
#define STATUS_NO_RUN 127u

/* ---- the kernel's command line --------------------------------------------------------------------- */

static char program[128]; /* PATH of run=PATH, or "" */
static bool exits;        /* exit=1 */

static void read_boot_options(void)
{
    char text[1024] = "", *rest = text;
    int64_t size = sys_system_read(SYSTEM_COMMAND_LINE, 0, text, sizeof(text) - 1);
    text[size > 0 ? size : 0] = 0;
    for (char *word; (word = strtok_r(rest, " \t\n", &rest));) {
        if (!strncmp(word, "run=", 4))
            strncpy(program, word + 4, sizeof(program) - 1);
        else if (!strcmp(word, "exit=1"))
            exits = true;
    }
}

/* ---- running a program ----------------------------------------------------------------------------- */

/* proc itself waits for several replies of other servers, one after the other. */
#define SPAWN_NS (10 * SERVER_PATIENCE_NS)

/* If proc is dead, the main thread ends the machine (watch_servers): nothing is reported here. */
static int64_t call_proc(struct ipc_message *message, uint64_t deadline)
{
    int64_t error = ipc_call_deadline(SLOT_PROC, message, deadline);
    while (error == -E_DEAD)
        sys_thread_sleep(TARN_FOREVER);
    return error < 0 ? errno_of(error) : (int64_t)message->label;
}

/* Starts `path` on the console. Returns its pid or -errno. A shell that it starts holds all authority, so
 * that the person at the console can grant it; other programs have what their labels say. */
static int64_t spawn(const char *path, const char *argument)
{
    static const char *const environment[] = {"PATH=/bin:/sbin", "HOME=/", "TERM=vt100"};
    struct shared_buffer shared;
    if (borrow_buffer(SLOT_PROC, &shared) < 0)
        panic("init: proc does not reply");
    struct proc_spawn *request = (struct proc_spawn *)shared.base;
    *request = (struct proc_spawn){
        .size = sizeof(*request) + 3 * sizeof(struct startup_fd),
        .argc = argument ? 2 : 1,
        .envc = sizeof(environment) / sizeof(environment[0]),
        .fd_count = 3,
    };
    for (int fd = 0; fd < 3; fd++)
        request->fd[fd] =
            (struct startup_fd){.fd = fd, .kind = FILE_CONSOLE, .server = SLOT_CONSOLE, .flags = fd ? 1 : 0};
    request->path = proc_spawn_append_string(request, path);
    request->cwd = proc_spawn_append_string(request, "/");
    request->strings = proc_spawn_append_string(request, path);
    if (argument)
        proc_spawn_append_string(request, argument);
    for (unsigned i = 0; i < request->envc; i++)
        proc_spawn_append_string(request, environment[i]);
    struct ipc_message message = {.label = PROC_SPAWN};
    message.word[0] = buffer_span(&shared, 0, request->size);
    if (!strcmp(path, SHELL)) {
        message.cap[0] = SLOT_TRACE;
        message.cap[1] = SLOT_MACHINE;
    }
    int64_t pid = call_proc(&message, deadline_after(SPAWN_NS));
    return_buffer(&shared);
    return pid;
}

/* Returns the wait status or -errno. A program may run for ever, and nothing waits for this thread. */
static int64_t wait_for(int64_t pid)
{
    struct ipc_message message = {.label = PROC_WAIT, .word = {(uint64_t)pid, 0}};
    int64_t result = call_proc(&message, TARN_FOREVER);
    return result < 0 ? result : (int64_t)message.word[0];
}

static uint32_t exit_status(int64_t status)
{
    if (status < 0)
        return STATUS_NO_RUN;
    return WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status) : 128u + (uint32_t)WTERMSIG(status);
}

/* ---- sessions -------------------------------------------------------------------------------------- */

/* Runs a program or, if it is no executable, a shell script. */
static uint32_t run_path(const char *path)
{
    int64_t pid = spawn(path, NULL);
    if (pid == -ENOEXEC)
        pid = spawn(SHELL, path);
    if (pid < 0) {
        debug_printf("init: cannot run %s: %s\n", path, strerror((int)-pid));
        return STATUS_NO_RUN;
    }
    uint32_t status = exit_status(wait_for(pid));
    debug_printf("init: %s ended with status %u\n", path, (unsigned)status);
    return status;
}

static void *run_sessions(void *argument)
{
    wait_for_servers();
    debug_printf("tarn: ready\n");
    if (program[0]) {
        uint32_t status = run_path(program);
        if (exits)
            shut_down(status);
    }
    for (;;) {
        int64_t pid = spawn(SHELL, NULL);
        if (pid < 0) {
            debug_printf("init: cannot run %s: %s\n", SHELL, strerror((int)-pid));
            if (exits)
                shut_down(STATUS_NO_RUN);
            return NULL;
        }
        uint32_t status = exit_status(wait_for(pid));
        debug_printf("init: the shell ended with status %u\n", (unsigned)status);
    }
}

int main(void)
{
    pthread_t thread;
    set_server_patience(SERVER_PATIENCE_NS);
    read_boot_options();
    start_servers();
    if (pthread_create(&thread, NULL, run_sessions, NULL) != 0)
        panic("init: cannot start a thread");
    watch_servers();
}
