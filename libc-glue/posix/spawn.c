/*
 * spawn.c - starts programs (<spawn.h>).
 *
 * posix_spawn applies the file actions to a list of the child's descriptors, then builds one struct
 * proc_spawn in a shared buffer: open files, then the strings. proc does the rest.
 */
#include "file.h"

#include <fcntl.h>
#include <servers/protocol/authority.h>
#include <servers/protocol/fs.h>
#include <servers/protocol/proc.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- file actions and attributes ------------------------------------------------------------------- */

enum action_kind { ACTION_OPEN, ACTION_DUP2, ACTION_CLOSE, ACTION_CHDIR };

struct action {
    enum action_kind kind;
    int fd, source; /* dup2: duplicates `source` as `fd` */
    int flags;
    mode_t mode;
    char *path;
};

struct __posix_spawn_file_actions {
    size_t count, capacity;
    struct action *action;
};

struct __posix_spawnattr {
    short flags;
    uint32_t authority;
};

int posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions)
{
    *actions = calloc(1, sizeof(**actions));
    return *actions ? 0 : ENOMEM;
}

int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *actions)
{
    for (size_t i = 0; i < (*actions)->count; i++)
        free((*actions)->action[i].path);
    free((*actions)->action);
    free(*actions);
    return 0;
}

static int add_action(posix_spawn_file_actions_t *actions, struct action action, const char *path)
{
    struct __posix_spawn_file_actions *list = *actions;
    if (action.kind != ACTION_CHDIR && (action.fd < 0 || action.fd >= FILES_MAX))
        return EBADF;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 4;
        struct action *grown = realloc(list->action, capacity * sizeof(*grown));
        if (!grown)
            return ENOMEM;
        list->action = grown;
        list->capacity = capacity;
    }
    if (path && !(action.path = strdup(path)))
        return ENOMEM;
    list->action[list->count++] = action;
    return 0;
}

int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *restrict actions, int fd,
                                     const char *restrict path, int flags, mode_t mode)
{
    return add_action(actions, (struct action){.kind = ACTION_OPEN, .fd = fd, .flags = flags, .mode = mode},
                      path);
}

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int source, int fd)
{
    return add_action(actions, (struct action){.kind = ACTION_DUP2, .fd = fd, .source = source}, NULL);
}

int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t *actions, int fd)
{
    return add_action(actions, (struct action){.kind = ACTION_CLOSE, .fd = fd}, NULL);
}

int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *restrict actions,
                                         const char *restrict path)
{
    return add_action(actions, (struct action){.kind = ACTION_CHDIR}, path);
}

int posix_spawnattr_init(posix_spawnattr_t *attr)
{
    *attr = calloc(1, sizeof(**attr));
    return *attr ? 0 : ENOMEM;
}

int posix_spawnattr_destroy(posix_spawnattr_t *attr)
{
    free(*attr);
    return 0;
}

/* Groups, signals and scheduling policies are not supported: only 0 is accepted. */
int posix_spawnattr_setflags(posix_spawnattr_t *attr, short flags)
{
    if (flags)
        return EINVAL;
    (*attr)->flags = flags;
    return 0;
}

int posix_spawnattr_getflags(const posix_spawnattr_t *restrict attr, short *restrict flags)
{
    *flags = (*attr)->flags;
    return 0;
}

int posix_spawnattr_setauthority_np(posix_spawnattr_t *attr, uint32_t authority)
{
    (*attr)->authority = authority;
    return 0;
}

/* ---- the child's files ----------------------------------------------------------------------------- */

struct plan {
    struct startup_fd fd[FILES_MAX]; /* by descriptor; kind FILE_NONE: closed */
    const char *cwd;                 /* NULL: as in the parent */
    int opened[FILES_MAX];           /* opened for the child; closed in the parent afterwards */
    int opened_count;
};

static void collect_inherited(struct plan *plan)
{
    struct startup_fd entry;
    for (int fd = next_inherited(0, &entry); fd >= 0; fd = next_inherited(fd + 1, &entry))
        plan->fd[fd] = entry;
}

/* Fills in the entry for descriptor `fd`, even if that is close-on-exec. */
static int describe_descriptor(int fd, struct startup_fd *entry)
{
    struct file *file = get_file(fd);
    if (!file)
        return EBADF;
    *entry = (struct startup_fd){
        .kind = file->kind, .server = file->server, .flags = file->flags, .handle = file->handle};
    put_file(file);
    return 0;
}

static int play_open(struct plan *plan, const struct action *action)
{
    int fd = open(action->path, action->flags | O_CLOEXEC, action->mode);
    if (fd < 0)
        return errno;
    plan->opened[plan->opened_count++] = fd;
    return describe_descriptor(fd, &plan->fd[action->fd]);
}

static int play_dup2(struct plan *plan, const struct action *action)
{
    if (action->source < 0 || action->source >= FILES_MAX)
        return EBADF;
    if (plan->fd[action->source].kind == FILE_NONE)
        return describe_descriptor(action->source, &plan->fd[action->fd]);
    plan->fd[action->fd] = plan->fd[action->source];
    return 0;
}

static int play_action(struct plan *plan, const struct action *action)
{
    switch (action->kind) {
    case ACTION_OPEN:
        return plan->opened_count < FILES_MAX ? play_open(plan, action) : EMFILE;
    case ACTION_DUP2:
        return play_dup2(plan, action);
    case ACTION_CLOSE:
        plan->fd[action->fd].kind = FILE_NONE;
        return 0;
    case ACTION_CHDIR:
        plan->cwd = action->path;
        return 0;
    }
    return EINVAL;
}

static int make_plan(struct plan *plan, const posix_spawn_file_actions_t *actions)
{
    int error = 0;
    collect_inherited(plan);
    for (size_t i = 0; actions && !error && i < (*actions)->count; i++)
        error = play_action(plan, &(*actions)->action[i]);
    return error;
}

/* ---- the request ----------------------------------------------------------------------------------- */

static uint32_t append_strings(struct proc_spawn *request, char *const strings[])
{
    uint32_t count = 0;
    for (; strings && strings[count]; count++)
        proc_spawn_append_string(request, strings[count]);
    return count;
}

/* Appends an absolute path with a NUL; does not resolve it or check that it exists. */
static uint32_t append_path(struct proc_spawn *request, const char *path)
{
    char directory[FS_PATH_MAX];
    uint32_t place = request->size;
    if (path[0] != '/' && getcwd(directory, sizeof(directory))) {
        proc_spawn_append(request, directory, strlen(directory));
        proc_spawn_append(request, "/", 1);
    }
    proc_spawn_append_string(request, path);
    return place;
}

/* Builds the request of servers/protocol/proc.h: header, open files, strings. It may not fit. */
static void make_request(struct proc_spawn *request, const struct plan *plan, const char *path,
                         char *const argv[], char *const envp[])
{
    *request = (struct proc_spawn){.size = sizeof(*request), .affinity = process_affinity()};
    for (int fd = 0; fd < FILES_MAX; fd++) {
        struct startup_fd entry = plan->fd[fd];
        if (entry.kind == FILE_NONE)
            continue;
        entry.fd = fd;
        proc_spawn_append(request, &entry, sizeof(entry));
        request->fd_count++;
    }
    request->path = append_path(request, path);
    char directory[FS_PATH_MAX];
    request->cwd = plan->cwd                              ? append_path(request, plan->cwd)
                   : getcwd(directory, sizeof(directory)) ? proc_spawn_append_string(request, directory)
                                                          : proc_spawn_append_string(request, "/");
    request->strings = request->size;
    request->argc = append_strings(request, argv);
    request->envc = append_strings(request, envp);
}

/* The message carries capabilities with just these rights; close_authority closes them. */
static int64_t add_authority(struct ipc_message *message, uint32_t authority)
{
    for (unsigned i = 0, count = 0; i < AUTHORITIES; i++) {
        if (!(authority >> i & 1))
            continue;
        const uint32_t rights = authorities[i].rights | RIGHT_GRANT;
        int64_t info = sys_cap_info(authorities[i].slot);
        int64_t copy = info < 0 || (info & rights) != rights
                           ? -E_BAD_RIGHT
                           : sys_cap_copy(SLOT_SPACE, authorities[i].slot, 0, rights, 0);
        if (copy < 0)
            return info < 0 || copy == -E_BAD_RIGHT ? -EPERM : errno_of(copy);
        message->cap[count++] = (uint16_t)copy;
    }
    return authority >> AUTHORITIES ? -EINVAL : 0;
}
_Static_assert(AUTHORITIES <= IPC_CAPS, "one message carries all");

static void close_authority(const uint16_t caps[IPC_CAPS])
{
    for (unsigned i = 0; i < IPC_CAPS; i++)
        if (caps[i])
            sys_cap_close(caps[i]);
}

static int64_t request_spawn(const struct plan *plan, const char *path, uint32_t authority,
                             char *const argv[], char *const envp[])
{
    struct shared_buffer shared;
    struct ipc_message message = {.label = PROC_SPAWN};
    int64_t result = borrow_buffer(SLOT_PROC, &shared);
    if (result < 0)
        return result;
    struct proc_spawn *request = (struct proc_spawn *)shared.base;
    make_request(request, plan, path, argv, envp);
    message.word[0] = buffer_span(&shared, 0, request->size);
    result = request->size > PROC_SPAWN_BYTES ? -E2BIG : add_authority(&message, authority);
    const struct ipc_message sent = message;
    if (result == 0)
        result = call_server_message(SLOT_PROC, &message);
    close_authority(sent.cap);
    return_buffer(&shared);
    return result;
}

static int64_t spawn_program(const char *path, const posix_spawn_file_actions_t *actions, uint32_t authority,
                             char *const argv[], char *const envp[])
{
    struct plan *plan = calloc(1, sizeof(*plan));
    if (!plan)
        return -ENOMEM;
    int64_t result = -make_plan(plan, actions);
    if (result == 0)
        result = request_spawn(plan, path, authority, argv, envp);
    for (int i = 0; i < plan->opened_count; i++)
        close(plan->opened[i]);
    free(plan);
    return result;
}

int posix_spawn(pid_t *restrict pid, const char *restrict path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *restrict attr, char *const argv[], char *const envp[])
{
    enter_call(TRACE_LIBC_SPAWN, (uint64_t)path, 0);
    name_path(TRACE_LIBC_SPAWN, path);
    int64_t result = spawn_program(path, actions, attr ? (*attr)->authority : 0, argv, envp ? envp : environ);
    if (result > 0 && pid)
        *pid = (pid_t)result;
    leave_plain(TRACE_LIBC_SPAWN, result);
    return result < 0 ? (int)-result : 0;
}

int posix_spawnp(pid_t *restrict pid, const char *restrict file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *restrict attr, char *const argv[], char *const envp[])
{
    const char *search = getenv("PATH");
    if (strchr(file, '/'))
        return posix_spawn(pid, file, actions, attr, argv, envp);
    if (!search)
        search = "/bin";
    int error = ENOENT;
    while (*search) {
        size_t length = strcspn(search, ":");
        char path[FS_PATH_MAX];
        int size = snprintf(path, sizeof(path), "%.*s%s%s", (int)length, search, length ? "/" : "", file);
        if (size > 0 && (size_t)size < sizeof(path) && access(path, X_OK) == 0)
            return posix_spawn(pid, path, actions, attr, argv, envp);
        if (errno != ENOENT && errno != ENOTDIR)
            error = errno;
        search += length + (search[length] == ':');
    }
    return error;
}
