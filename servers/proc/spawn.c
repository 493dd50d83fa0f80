/*
 * spawn.c - PROC_SPAWN: from a request to a running program.
 *
 *   - copy_request: copies the request out of the client's shared buffer and validates it
 *   - find_executable: gets the file's memory from fs; for a script, that of its interpreter (script.c)
 *   - program_create, program_load: makes a space and maps the executable (servers/lib/program.c)
 *   - give_authority: copies the servers' endpoints with the child's pid as badge; the trace and the machine
 *     as far as the parent hands them on or the label of the executable says
 *   - inherit_files: servers with files (fs, net) give the child handles of its parent's
 *   - program_start: makes the stack, the startup block and the first thread
 *
 * Nothing of the child runs before program_start, so errors on the way only have to undo the steps.
 */
#include "proc.h"
#include "process.h"
#include "script.h"
#include <errno.h>
#include <servers/lib/program.h>
#include <servers/lib/servers.h>
#include <servers/protocol/authority.h>
#include <servers/protocol/fs.h>
#include <servers/protocol/proc.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>
#include <tarn/server.h>

struct spawn {
    struct proc_spawn *request; /* private copy */
    const char *path, *cwd;
    struct startup_fd *fds;
    uint32_t parent;
    uint32_t handed[CAP_TYPES]; /* rights of the capabilities that came with the request, by type */
    uint32_t label;             /* of the executable */
    struct program program;
    bool registered;
};

/* ---- the request ----------------------------------------------------------------------------------- */

/* Returns the NUL-terminated string at this offset of the request, or NULL. */
static const char *string_at(const struct proc_spawn *request, uint32_t offset)
{
    const char *string = (const char *)request + offset;
    if (offset < sizeof(*request) || offset >= request->size || !memchr(string, 0, request->size - offset))
        return NULL;
    return string;
}

static int check_request(struct spawn *spawn)
{
    struct proc_spawn *request = spawn->request;
    if (request->fd_count > PROC_FDS_MAX || request->argc > PROC_ARGS_MAX || request->envc > PROC_ARGS_MAX ||
        request->argc == 0)
        return -EINVAL;
    uint64_t fds_end = sizeof(*request) + request->fd_count * sizeof(struct startup_fd);
    if (fds_end > request->size || request->strings < fds_end || request->strings > request->size)
        return -EINVAL;
    spawn->path = string_at(request, request->path);
    spawn->cwd = string_at(request, request->cwd);
    spawn->fds = request->fd;
    if (!spawn->path || !spawn->cwd)
        return -EINVAL;
    if (strlen(spawn->path) >= FS_PATH_MAX || strlen(spawn->cwd) >= FS_PATH_MAX)
        return -ENAMETOOLONG;
    return 0;
}

/* Returns the size of the argc + envc strings at `strings`, or 0 if some are missing. */
static uint64_t measure_strings(const struct proc_spawn *request)
{
    const char *start = (const char *)request + request->strings, *next = start;
    const char *end = (const char *)request + request->size;
    for (uint64_t i = 0; i < (uint64_t)request->argc + request->envc; i++) {
        const char *nul = memchr(next, 0, (size_t)(end - next));
        if (!nul)
            return 0;
        next = nul + 1;
    }
    return (uint64_t)(next - start);
}

/* The capability proves what the parent holds; the child gets a copy of our own. */
static void note_handed(const struct server_request *message, struct spawn *spawn)
{
    for (unsigned i = 0; i < IPC_CAPS; i++) {
        int64_t info = message->received[i] ? sys_cap_info(message->received[i]) : 0;
        if (info > 0 && info >> 8 < CAP_TYPES)
            spawn->handed[info >> 8] |= info & RIGHT_ALL;
    }
}

static int copy_request(struct server_request *message, struct spawn *spawn)
{
    note_handed(message, spawn);
    uint32_t size = SERVER_SPAN_LENGTH(message->word[0]);
    const void *bytes = server_span(message->client, message->word[0]);
    if (!bytes)
        return -EFAULT;
    if (size < sizeof(struct proc_spawn))
        return -EINVAL;
    spawn->request = malloc(size);
    if (!spawn->request)
        return -ENOMEM;
    memcpy(spawn->request, bytes, size);
    return spawn->request->size == size ? check_request(spawn) : -EINVAL;
}

/* ---- resources from other servers ------------------------------------------------------------------ */

/* Gets a capability for the file's memory (to be closed), its size and its label. */
static int get_executable(const char *path, cap_t *executable, uint64_t *size, uint32_t *label)
{
    struct shared_buffer shared;
    int64_t result = borrow_buffer(SLOT_FS, &shared);
    if (result < 0)
        return (int)result;
    size_t length = strlen(path);
    memcpy(shared.base, path, length);
    struct ipc_message message = {.label = FS_EXECUTABLE, .word = {buffer_span(&shared, 0, length)}};
    result = call_server_message(SLOT_FS, &message);
    return_buffer(&shared);
    if (result < 0)
        return (int)result;
    *executable = message.cap[0];
    *size = message.word[0];
    *label = (uint32_t)message.word[3];
    return *executable ? 0 : -EIO;
}

/* Replaces the request for a script by one for its interpreter. */
static int use_interpreter(struct spawn *spawn, const struct script_line *line)
{
    int error;
    struct proc_spawn *request = script_request(spawn->request, line, &error);
    if (!request)
        return error;
    free(spawn->request);
    spawn->request = request;
    return check_request(spawn);
}

/* Returns 1 for a script, 0 if it is none, or -errno. */
static int read_script(cap_t file, uint64_t size, struct script_line *line)
{
    char head[SCRIPT_LINE_MAX];
    uint64_t wanted = size < sizeof(head) ? size : sizeof(head);
    int64_t result = wanted ? sys_memory_read(file, 0, head, wanted) : 0;
    return result < 0 ? (int)errno_of(result) : script_parse(head, wanted, line);
}

/* Gets the memory of the executable that will run (to be closed) and its size. */
static int find_executable(struct spawn *spawn, cap_t *executable, uint64_t *size)
{
    for (unsigned level = 0;; level++) {
        struct script_line line;
        int error = get_executable(spawn->path, executable, size, &spawn->label);
        if (error)
            return error;
        int script = read_script(*executable, *size, &line);
        if (script == 0)
            return 0;
        sys_cap_close(*executable);
        *executable = 0;
        error = script < 0 ? script : level == SCRIPT_NESTING_MAX ? -ELOOP : use_interpreter(spawn, &line);
        if (error)
            return error;
    }
}

/* Replaces the parent's handles of one server by the child's. */
static int inherit_from(const struct spawn *spawn, cap_t server)
{
    struct shared_buffer shared;
    uint64_t handles[PROC_FDS_MAX], *inherited;
    uint32_t count = 0;
    for (uint32_t i = 0; i < spawn->request->fd_count; i++)
        if (spawn->fds[i].server == server)
            handles[count++] = spawn->fds[i].handle;
    int64_t result = count ? borrow_buffer(server, &shared) : 0;
    if (!count || result < 0)
        return (int)result;
    inherited = memcpy(shared.base, handles, count * sizeof(*handles));
    result = call_server(server, SERVER_INHERIT, spawn->parent, spawn->program.pid,
                         buffer_span(&shared, 0, count * sizeof(*handles)), 0);
    for (uint32_t i = 0; result >= 0 && i < spawn->request->fd_count; i++)
        if (spawn->fds[i].server == server)
            spawn->fds[i].handle = *inherited++;
    return_buffer(&shared);
    return result < 0 ? (int)result : 0;
}

static int inherit_files(const struct spawn *spawn)
{
    int error = 0;
    for (unsigned i = 0; !error && i < SERVER_COUNT; i++)
        if (server_declarations[i].flags & HAS_FILES)
            error = inherit_from(spawn, server_declarations[i].slot);
    return error;
}

/* Rights of a capability that the child gets. */
static uint32_t rights_over(const struct spawn *spawn, uint32_t type)
{
    uint32_t rights = spawn->handed[type];
    for (unsigned i = 0; i < AUTHORITIES; i++)
        if (spawn->label >> i & 1 && authorities[i].type == type)
            rights |= authorities[i].rights | RIGHT_GRANT;
    return rights;
}

static int give_authority(const struct spawn *spawn)
{
    const struct program *child = &spawn->program;
    const uint32_t trace = rights_over(spawn, CAP_TRACE), machine = rights_over(spawn, CAP_MACHINE);
    int error = program_give(child, SLOT_SERVICE, SLOT_PROC, RIGHT_SEND | RIGHT_GRANT, child->pid);
    for (unsigned i = 0; !error && i < server_count; i++)
        error = program_give(child, servers[i], servers[i], RIGHT_SEND | RIGHT_GRANT, child->pid);
    if (!error && trace)
        error = program_give(child, SLOT_TRACE, SLOT_TRACE, trace, 0);
    if (!error && machine)
        error = program_give(child, SLOT_MACHINE, SLOT_MACHINE, machine, 0);
    return error;
}

/* ---- the complete request -------------------------------------------------------------------------- */

/* Adds the child to the table and registers for its faults and its death. */
static int register_child(struct spawn *spawn)
{
    unsigned bit;
    cap_t space = spawn->program.space;
    int error = process_add(spawn->program.pid, path_basename(spawn->path), spawn->parent, space, &bit);
    if (error)
        return error;
    int64_t result = sys_space_set_fault_handler(space, fault_endpoint);
    if (result >= 0)
        result = sys_space_watch(space, death_notification, 1ull << bit);
    spawn->registered = result >= 0;
    if (!spawn->registered)
        process_remove(spawn->program.pid);
    return result < 0 ? errno_of(result) : 0;
}

static int start_child(struct spawn *spawn)
{
    const struct proc_spawn *request = spawn->request;
    struct startup_arguments arguments = {
        .block = {.pid = spawn->program.pid,
                  .parent_pid = spawn->parent,
                  .argc = (int32_t)request->argc,
                  .fd_count = request->fd_count,
                  .fds = spawn->fds,
                  .cwd = spawn->cwd,
                  .path = spawn->path,
                  .affinity = request->affinity},
        .envc = request->envc,
        .strings = (const char *)request + request->strings,
        .strings_size = measure_strings(request),
    };
    if (!arguments.strings_size)
        return -EINVAL;
    return program_start(&spawn->program, &arguments, TARN_PRIO_USER);
}

static int make_child(struct spawn *spawn)
{
    cap_t executable = 0;
    uint64_t size = 0;
    int error = find_executable(spawn, &executable, &size);
    if (!error)
        error = program_create(spawn->path, spawn->parent, &spawn->program);
    if (!error)
        error = program_load(&spawn->program, executable, size);
    if (executable)
        sys_cap_close(executable);
    if (!error)
        error = register_child(spawn);
    if (!error)
        error = give_authority(spawn);
    if (!error)
        error = inherit_files(spawn);
    return error ? error : start_child(spawn);
}

/* A registered child dies as others do: servers may have given it files. */
static void discard_child(struct spawn *spawn)
{
    if (!spawn->registered) {
        program_discard(&spawn->program);
        return;
    }
    if (spawn->program.thread)
        sys_cap_close(spawn->program.thread);
    process_abandon(spawn->program.pid);
}

int64_t spawn_process(struct server_request *message, uint32_t parent)
{
    struct spawn spawn = {.parent = parent};
    int error = copy_request(message, &spawn);
    if (!error) {
        error = make_child(&spawn);
        if (error)
            discard_child(&spawn);
        else
            sys_cap_close(spawn.program.thread); /* the space suffices to kill it */
    }
    free(spawn.request);
    return error ? error : (int64_t)spawn.program.pid;
}
