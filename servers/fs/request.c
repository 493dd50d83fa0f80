/*
 * request.c - the requests of servers/protocol/fs.h: one function for each, and the table of them.
 *
 * Each function validates the client's arguments (handles, spans, paths), does the work through tree.h,
 * node.h and pipe.h, and returns the result. Any worker may run any of them at any time.
 */
#include "request.h"
#include "pipe.h"
#include "tree.h"
#include <errno.h>
#include <fcntl.h>
#include <servers/protocol/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <trace/fs.h>
#include <unistd.h>

/* ---- open files (POSIX: open file descriptions) ---------------------------------------------------- */

/* A position and flags. Clients name them by handles; SERVER_INHERIT adds handles to the same file. */
struct open_file {
    struct handle_object object; /* must be first */
    struct node *node;           /* a reference; never changes, nor does `access` */
    int access;                  /* O_RDONLY, O_WRONLY, O_RDWR */
    pthread_mutex_t lock;        /* taken before the node's lock */
    /* covered by `lock`: */
    int flags; /* O_APPEND, O_NONBLOCK */
    uint64_t position;
};

static enum pipe_end open_file_end(const struct open_file *file)
{
    return file->access == O_WRONLY ? PIPE_WRITE : PIPE_READ;
}

/* Consumes the reference to the node, also on failure (NULL). */
static struct open_file *open_file_create(struct node *node, int flags)
{
    struct open_file *file = calloc(1, sizeof(*file));
    if (!file) {
        node_put(node);
        return NULL;
    }
    atomic_store(&file->object.references, 1);
    pthread_mutex_init(&file->lock, NULL);
    file->node = node;
    file->access = flags & O_ACCMODE;
    file->flags = flags & (O_APPEND | O_NONBLOCK);
    if (node->kind == NODE_PIPE)
        pipe_open_end(node->pipe, open_file_end(file));
    return file;
}

static void free_open_file(void *object)
{
    struct open_file *file = object;
    if (file->node->kind == NODE_PIPE)
        pipe_close_end(file->node->pipe, open_file_end(file));
    node_put(file->node);
    pthread_mutex_destroy(&file->lock);
    free(file);
}

static void handle_closed(void *object, uint32_t client, uint64_t handle, bool exiting)
{
    struct open_file *file = object;
    if (file->node->kind == NODE_PIPE)
        pipe_forget(file->node->pipe, client, handle, exiting);
}

const struct handle_class open_file_handles = {.max = 1024, .free = free_open_file, .closed = handle_closed};

/* Adds a handle and consumes the reference to the file, also on failure; NULL means -ENOMEM. */
static int64_t open_file_add(uint32_t client, struct open_file *file)
{
    if (!file)
        return -ENOMEM;
    int64_t handle = handle_add(client, file);
    handle_put(file);
    return handle;
}

/* ---- opening and closing --------------------------------------------------------------------------- */

/* Copies the path that word[index] names. Returns its length or -errno. */
static int64_t copy_path(struct server_request *request, unsigned index, char path[FS_PATH_MAX])
{
    return server_path(request->client, request->word[index], path, FS_PATH_MAX);
}

static int check_open(struct node *node, int flags)
{
    int writes = (flags & O_ACCMODE) != O_RDONLY;
    if (node->kind == NODE_DIRECTORY && (writes || (flags & O_TRUNC)))
        return -EISDIR;
#ifdef O_DIRECTORY
    if (node->kind != NODE_DIRECTORY && (flags & O_DIRECTORY))
        return -ENOTDIR;
#endif
    if (node->kind == NODE_FILE && (flags & O_TRUNC) && writes)
        return node_truncate(node, 0);
    return 0;
}

static int64_t fs_open(struct server_request *request)
{
    char path[FS_PATH_MAX];
    struct node *node;
    int created, flags = (int)request->word[1];
    int64_t result = copy_path(request, 0, path);
    if (result < 0)
        return result;
    result = tree_open(path, flags, (mode_t)request->word[2], &node, &created);
    if (result < 0)
        return result;
    result = check_open(node, flags);
    if (result < 0) {
        node_put(node);
        return result;
    }
    uint64_t number = node->number;
    node_attributes(node, request->word);
    if (created)
        trace_fs_change(number, TRACE_FS_CREATE, request->client, path);
    trace_fs_open(number, request->client, (uint32_t)flags, path);
    return open_file_add(request->client, open_file_create(node, flags));
}

static int64_t fs_close(struct server_request *request)
{
    return handle_close(request->client, request->word[0]);
}

static int64_t fs_pipe(struct server_request *request)
{
    int flags = (int)request->word[0] & O_NONBLOCK;
    struct node *node = node_create(NODE_PIPE, S_IFIFO | 0600);
    if (!node)
        return -ENOMEM;
    node->pipe = pipe_create();
    if (!node->pipe) {
        node_put(node);
        return -ENOMEM;
    }
    node_get(node); /* one reference for each end */
    int64_t reader = open_file_add(request->client, open_file_create(node, O_RDONLY | flags));
    if (reader < 0) {
        node_put(node);
        return reader;
    }
    int64_t writer = open_file_add(request->client, open_file_create(node, O_WRONLY | flags));
    if (writer < 0) {
        handle_close(request->client, (uint64_t)reader);
        return writer;
    }
    request->word[0] = (uint64_t)reader;
    request->word[1] = (uint64_t)writer;
    return 0;
}

/* ---- reading and writing --------------------------------------------------------------------------- */

static int64_t transfer_file(struct server_request *request, struct open_file *file, bool writes)
{
    uint64_t span = request->word[1], offset = request->word[2];
    void *buffer = server_span(request->client, span);
    if (!buffer)
        return -EFAULT;
    bool here = offset == FS_HERE;
    if (here) {
        pthread_mutex_lock(&file->lock);
        offset = file->position;
    }
    int64_t result = writes ? node_write(file->node, &offset, buffer, SERVER_SPAN_LENGTH(span),
                                         here && file->flags & O_APPEND)
                            : node_read(file->node, offset, buffer, SERVER_SPAN_LENGTH(span));
    if (here) {
        if (result > 0)
            file->position = offset + (uint64_t)result;
        pthread_mutex_unlock(&file->lock);
    }
    if (result >= 0 && writes)
        trace_fs_write(file->node->number, offset, (uint32_t)result, request->client);
    else if (result >= 0)
        trace_fs_read(file->node->number, offset, (uint32_t)result, request->client);
    return result;
}

static bool may_wait(struct open_file *file)
{
    pthread_mutex_lock(&file->lock);
    bool wait = !(file->flags & O_NONBLOCK);
    pthread_mutex_unlock(&file->lock);
    return wait;
}

static int64_t transfer(struct server_request *request, struct open_file *file, bool writes)
{
    if (file->access == (writes ? O_RDONLY : O_WRONLY))
        return -EBADF;
    if (file->node->kind != NODE_PIPE)
        return transfer_file(request, file, writes);
    if (request->word[2] != FS_HERE)
        return -ESPIPE;
    return (writes ? pipe_write : pipe_read)(file->node->pipe, request, may_wait(file));
}

static int64_t fs_read(struct server_request *request, struct open_file *file)
{
    return transfer(request, file, false);
}

static int64_t fs_write(struct server_request *request, struct open_file *file)
{
    return transfer(request, file, true);
}

static int64_t fs_seek(struct server_request *request, struct open_file *file)
{
    uint64_t attributes[IPC_WORDS];
    int64_t offset = (int64_t)request->word[1], base = 0, position;
    if (file->node->kind == NODE_PIPE)
        return -ESPIPE;
    node_attributes(file->node, attributes);
    pthread_mutex_lock(&file->lock);
    if (request->word[2] == SEEK_CUR)
        base = (int64_t)file->position;
    else if (request->word[2] == SEEK_END)
        base = (int64_t)attributes[1];
    if (request->word[2] > SEEK_END || __builtin_add_overflow(base, offset, &position) || position < 0)
        position = -EINVAL;
    else
        file->position = (uint64_t)position;
    pthread_mutex_unlock(&file->lock);
    return position;
}

static int64_t fs_readdir(struct server_request *request, struct open_file *file)
{
    void *buffer = server_span(request->client, request->word[1]);
    if (!buffer)
        return -EFAULT;
    pthread_mutex_lock(&file->lock);
    int64_t result =
        tree_read_directory(file->node, &file->position, buffer, SERVER_SPAN_LENGTH(request->word[1]));
    pthread_mutex_unlock(&file->lock);
    return result;
}

/* ---- attributes ------------------------------------------------------------------------------------ */

static int64_t fs_stat(struct server_request *request, struct node *node)
{
    node_attributes(node, request->word);
    return 0;
}

static int64_t fs_fstat(struct server_request *request, struct open_file *file)
{
    return fs_stat(request, file->node);
}

static int64_t fs_truncate(struct server_request *request, struct node *node)
{
    return node_truncate(node, request->word[1]);
}

static int64_t fs_ftruncate(struct server_request *request, struct open_file *file)
{
    return file->access == O_RDONLY ? -EINVAL : node_truncate(file->node, request->word[1]);
}

static int64_t fs_set_time(struct server_request *request, struct node *node)
{
    pthread_mutex_lock(&node->lock);
    node->modified = request->word[1] == ~0ull ? now_ns() : request->word[1];
    pthread_mutex_unlock(&node->lock);
    return 0;
}

static int64_t fs_set_flags(struct server_request *request, struct open_file *file)
{
    pthread_mutex_lock(&file->lock);
    file->flags = (int)request->word[1] & (O_APPEND | O_NONBLOCK);
    pthread_mutex_unlock(&file->lock);
    return 0;
}

static int64_t fs_statfs(struct server_request *request)
{
    request->word[0] = atomic_load(&node_totals.bytes);
    request->word[1] = atomic_load(&node_totals.files);
    request->word[2] = atomic_load(&node_totals.directories);
    request->word[3] = handle_count();
    return 0;
}

/* ---- names ----------------------------------------------------------------------------------------- */

static int64_t fs_mkdir(struct server_request *request)
{
    char path[FS_PATH_MAX];
    int64_t result = copy_path(request, 0, path);
    if (result >= 0)
        result = tree_make(path, NODE_DIRECTORY, S_IFDIR | ((mode_t)request->word[1] & 0777));
    if (result == 0)
        trace_fs_change(0, TRACE_FS_MKDIR, request->client, path);
    return result;
}

static int64_t fs_realpath(struct server_request *request)
{
    char path[FS_PATH_MAX], real[FS_PATH_MAX];
    uint64_t span = request->word[1];
    char *out = server_span(request->client, span);
    int64_t result = copy_path(request, 0, path);
    if (result >= 0)
        result = out ? tree_real_path(path, real, sizeof(real), request->word[2] & FS_REALPATH_DIRECTORY)
                     : -EFAULT;
    if (result < 0)
        return result;
    if ((uint64_t)result > SERVER_SPAN_LENGTH(span))
        return -ERANGE;
    memcpy(out, real, (size_t)result);
    return result;
}

/* ---- memory ---------------------------------------------------------------------------------------- */

/* Sends a capability for the node's current contents, to read and execute. */
static int64_t fs_executable(struct server_request *request, struct node *node)
{
    if (node->kind != NODE_FILE)
        return node->kind == NODE_DIRECTORY ? -EISDIR : -EACCES;
    pthread_mutex_lock(&node->lock);
    int error = node_executable(node, &request->send[0]);
    request->word[0] = node->size;
    request->word[1] = node->number;
    request->word[2] = node->version;
    request->word[3] = node->authority;
    pthread_mutex_unlock(&node->lock);
    request->close_sent = true;
    return error;
}

static int64_t fs_map(struct server_request *request, struct open_file *file)
{
    struct node *node = file->node;
    if (!(request->word[1] & FS_MAP_SHARED))
        return file->access == O_WRONLY ? -EACCES : fs_executable(request, node);
    if (node->kind != NODE_FILE || file->access != O_RDWR)
        return -EACCES;
    pthread_mutex_lock(&node->lock);
    int error = node_share(node, &request->send[0]);
    request->word[0] = node->size;
    pthread_mutex_unlock(&node->lock);
    request->close_sent = true;
    return error;
}

/* ---- polling --------------------------------------------------------------------------------------- */

static int64_t fs_poll(struct server_request *request, struct open_file *file)
{
    if (file->node->kind != NODE_PIPE)
        return (int64_t)request->word[1] & (SERVER_POLL_READ | SERVER_POLL_WRITE);
    return pipe_poll(file->node->pipe, open_file_end(file), request);
}

/* ---- the table ------------------------------------------------------------------------------------- */

/* The function of a request, by what it acts on: one of these. */
struct handler {
    int64_t (*on_request)(struct server_request *request);
    int64_t (*on_file)(struct server_request *request, struct open_file *file); /* word[0] = handle */
    int64_t (*on_node)(struct server_request *request, struct node *node);      /* word[0] = path */
    int (*on_path)(const char *path);                                           /* the same */
    int (*on_paths)(const char *from, const char *to);                          /* word[0], word[1] = paths */
    enum trace_fs_change change; /* logged if a function on paths succeeds */
};

static const struct handler handlers[] = {
#define HANDLER(label, ...) [(label)-FS_OPEN] = {__VA_ARGS__}
    HANDLER(FS_OPEN, .on_request = fs_open),
    HANDLER(FS_CLOSE, .on_request = fs_close),
    HANDLER(FS_READ, .on_file = fs_read),
    HANDLER(FS_WRITE, .on_file = fs_write),
    HANDLER(FS_SEEK, .on_file = fs_seek),
    HANDLER(FS_STAT, .on_node = fs_stat),
    HANDLER(FS_FSTAT, .on_file = fs_fstat),
    HANDLER(FS_READDIR, .on_file = fs_readdir),
    HANDLER(FS_MKDIR, .on_request = fs_mkdir),
    HANDLER(FS_RMDIR, .on_path = tree_rmdir, .change = TRACE_FS_RMDIR),
    HANDLER(FS_UNLINK, .on_path = tree_unlink, .change = TRACE_FS_UNLINK),
    HANDLER(FS_RENAME, .on_paths = tree_rename, .change = TRACE_FS_RENAME),
    HANDLER(FS_LINK, .on_paths = tree_link, .change = TRACE_FS_LINK),
    HANDLER(FS_TRUNCATE, .on_node = fs_truncate),
    HANDLER(FS_FTRUNCATE, .on_file = fs_ftruncate),
    HANDLER(FS_REALPATH, .on_request = fs_realpath),
    HANDLER(FS_PIPE, .on_request = fs_pipe),
    HANDLER(FS_SET_FLAGS, .on_file = fs_set_flags),
    HANDLER(FS_MAP, .on_file = fs_map),
    HANDLER(FS_EXECUTABLE, .on_node = fs_executable),
    HANDLER(FS_SET_TIME, .on_node = fs_set_time),
    HANDLER(FS_STATFS, .on_request = fs_statfs),
#undef HANDLER
};

static int64_t handle_on_file(struct server_request *request, const struct handler *handler)
{
    struct open_file *file = handle_get(request->client, request->word[0]);
    if (!file)
        return -EBADF;
    int64_t result = handler->on_file(request, file);
    handle_put(file);
    return result;
}

static int64_t handle_on_node(struct server_request *request, const struct handler *handler)
{
    char path[FS_PATH_MAX];
    struct node *node;
    int64_t result = copy_path(request, 0, path);
    if (result >= 0)
        result = tree_find(path, &node);
    if (result < 0)
        return result;
    result = handler->on_node(request, node);
    node_put(node);
    return result;
}

static int64_t handle_on_paths(struct server_request *request, const struct handler *handler)
{
    char from[FS_PATH_MAX], to[FS_PATH_MAX];
    int64_t result = copy_path(request, 0, from);
    if (result >= 0 && handler->on_paths)
        result = copy_path(request, 1, to);
    if (result >= 0)
        result = handler->on_paths ? handler->on_paths(from, to) : handler->on_path(from);
    if (result == 0)
        trace_fs_change(0, handler->change, request->client, handler->on_paths ? to : from);
    return result;
}

static int64_t handle_request(struct server_request *request)
{
    static const struct handler poll = {.on_file = fs_poll};
    const struct handler *handler = &poll;
    if (request->label != SERVER_POLL) {
        if (request->label < FS_OPEN || request->label > FS_STATFS)
            return -ENOSYS;
        handler = &handlers[request->label - FS_OPEN];
    }
    if (handler->on_file)
        return handle_on_file(request, handler);
    if (handler->on_node)
        return handle_on_node(request, handler);
    return handler->on_request ? handler->on_request(request) : handle_on_paths(request, handler);
}

int64_t fs_handle(struct server_request *request)
{
    uint32_t label = (uint32_t)request->label;
    trace_fs_request_begin(label, request->client, request->word[0]);
    int64_t result = handle_request(request);
    trace_fs_request_end(label, (int32_t)result);
    return result;
}
