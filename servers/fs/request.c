/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request.c - the requests of servers/protocol/fs.h: one function for each, and the table of them.
 *
 * Each function validates the client's arguments (handles, spans, paths), does the work through tree.h,
 * node.h, pipe.h and open.h, and returns the result. Any worker may run any of them at any time.
 */
#include "request.h"
#include "open.h"
#include "tree.h"
#include <errno.h>
#include <fcntl.h>
#include <servers/protocol/fs.h>
#include <string.h>
#include <sys/stat.h>
#include <trace/fs.h>
#include <unistd.h>

static void put_attributes(struct server_request *request, struct node *node)
{
    struct attributes attributes;
    node_attributes(node, &attributes);
    request->word[0] = attributes.number;
    request->word[1] = attributes.size;
    request->word[2] = attributes.mode | (uint64_t)attributes.links << 32;
    request->word[3] = attributes.modified;
}

/* Copies the path that word[index] names. Returns its length or -errno. */
static int64_t copy_path(struct server_request *request, unsigned index, char path[FS_PATH_MAX])
{
    return server_path(request->client, request->word[index], path, FS_PATH_MAX);
}

static void log_change(struct server_request *request, uint64_t file, enum trace_fs_change what,
                       const char *path)
{
    trace_fs_change(file, what, request->client, path);
}

/* ---- opening and closing --------------------------------------------------------------------------- */

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
    put_attributes(request, node);
    if (created)
        log_change(request, number, TRACE_FS_CREATE, path);
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

static int64_t fs_dup(struct server_request *request)
{
    struct open_file *file = handle_get(request->client, request->word[0]);
    return file ? open_file_add(request->client, file) : -EBADF;
}

/* ---- reading and writing --------------------------------------------------------------------------- */

static int64_t read_file(struct server_request *request, struct open_file *file)
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
    int64_t result = node_read(file->node, offset, buffer, SERVER_SPAN_LENGTH(span));
    if (here) {
        if (result > 0)
            file->position += (uint64_t)result;
        pthread_mutex_unlock(&file->lock);
    }
    if (result >= 0)
        trace_fs_read(file->node->number, offset, (uint32_t)result, request->client);
    return result;
}

static int64_t write_file(struct server_request *request, struct open_file *file)
{
    uint64_t span = request->word[1], offset = request->word[2];
    const void *buffer = server_span(request->client, span);
    if (!buffer)
        return -EFAULT;
    bool here = offset == FS_HERE;
    int append = 0;
    if (here) {
        pthread_mutex_lock(&file->lock);
        offset = file->position;
        append = file->flags & O_APPEND;
    }
    int64_t result = node_write(file->node, &offset, buffer, SERVER_SPAN_LENGTH(span), append);
    if (here) {
        if (result > 0)
            file->position = offset + (uint64_t)result;
        pthread_mutex_unlock(&file->lock);
    }
    if (result >= 0)
        trace_fs_write(file->node->number, offset, (uint32_t)result, request->client);
    return result;
}

static bool may_wait(struct open_file *file)
{
    pthread_mutex_lock(&file->lock);
    bool wait = !(file->flags & O_NONBLOCK);
    pthread_mutex_unlock(&file->lock);
    return wait;
}

static int64_t with_file(struct server_request *request,
                         int64_t (*operate)(struct server_request *, struct open_file *))
{
    struct open_file *file = handle_get(request->client, request->word[0]);
    if (!file)
        return -EBADF;
    int64_t result = operate(request, file);
    open_file_put(file);
    return result;
}

static int64_t read_any(struct server_request *request, struct open_file *file)
{
    if (file->access == O_WRONLY)
        return -EBADF;
    if (file->node->kind != NODE_PIPE)
        return read_file(request, file);
    if (request->word[2] != FS_HERE)
        return -ESPIPE;
    return pipe_read(file->node->pipe, request, may_wait(file));
}

static int64_t write_any(struct server_request *request, struct open_file *file)
{
    if (file->access == O_RDONLY)
        return -EBADF;
    if (file->node->kind != NODE_PIPE)
        return write_file(request, file);
    if (request->word[2] != FS_HERE)
        return -ESPIPE;
    return pipe_write(file->node->pipe, request, may_wait(file));
}

static int64_t fs_read(struct server_request *request)
{
    return with_file(request, read_any);
}

static int64_t fs_write(struct server_request *request)
{
    return with_file(request, write_any);
}

static int64_t seek_file(struct server_request *request, struct open_file *file)
{
    struct attributes attributes;
    int64_t offset = (int64_t)request->word[1], base = 0, position;
    if (file->node->kind == NODE_PIPE)
        return -ESPIPE;
    node_attributes(file->node, &attributes);
    pthread_mutex_lock(&file->lock);
    if (request->word[2] == SEEK_CUR)
        base = (int64_t)file->position;
    else if (request->word[2] == SEEK_END)
        base = (int64_t)attributes.size;
    if (request->word[2] > SEEK_END || __builtin_add_overflow(base, offset, &position) || position < 0)
        position = -EINVAL;
    else
        file->position = (uint64_t)position;
    pthread_mutex_unlock(&file->lock);
    return position;
}

static int64_t fs_seek(struct server_request *request)
{
    return with_file(request, seek_file);
}

static int64_t read_directory(struct server_request *request, struct open_file *file)
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

static int64_t fs_readdir(struct server_request *request)
{
    return with_file(request, read_directory);
}

/* ---- attributes ------------------------------------------------------------------------------------ */

static int64_t with_node(struct server_request *request,
                         int64_t (*operate)(struct server_request *, struct node *))
{
    char path[FS_PATH_MAX];
    struct node *node;
    int64_t result = copy_path(request, 0, path);
    if (result >= 0)
        result = tree_find(path, &node);
    if (result < 0)
        return result;
    result = operate(request, node);
    node_put(node);
    return result;
}

static int64_t stat_node(struct server_request *request, struct node *node)
{
    put_attributes(request, node);
    return 0;
}

static int64_t fs_stat(struct server_request *request)
{
    return with_node(request, stat_node);
}

static int64_t stat_file(struct server_request *request, struct open_file *file)
{
    return stat_node(request, file->node);
}

static int64_t fs_fstat(struct server_request *request)
{
    return with_file(request, stat_file);
}

static int64_t truncate_node(struct server_request *request, struct node *node)
{
    return node_truncate(node, request->word[1]);
}

static int64_t fs_truncate(struct server_request *request)
{
    return with_node(request, truncate_node);
}

static int64_t truncate_file(struct server_request *request, struct open_file *file)
{
    return file->access == O_RDONLY ? -EINVAL : node_truncate(file->node, request->word[1]);
}

static int64_t fs_ftruncate(struct server_request *request)
{
    return with_file(request, truncate_file);
}

static int64_t set_time(struct server_request *request, struct node *node)
{
    pthread_mutex_lock(&node->lock);
    node->modified = request->word[1] == ~0ull ? now_ns() : request->word[1];
    pthread_mutex_unlock(&node->lock);
    return 0;
}

static int64_t fs_set_time(struct server_request *request)
{
    return with_node(request, set_time);
}

static int64_t get_flags(struct server_request *request, struct open_file *file)
{
    pthread_mutex_lock(&file->lock);
    int64_t flags = file->access | file->flags;
    pthread_mutex_unlock(&file->lock);
    return flags;
}

static int64_t fs_get_flags(struct server_request *request)
{
    return with_file(request, get_flags);
}

static int64_t set_flags(struct server_request *request, struct open_file *file)
{
    pthread_mutex_lock(&file->lock);
    file->flags = (int)request->word[1] & (O_APPEND | O_NONBLOCK);
    pthread_mutex_unlock(&file->lock);
    return 0;
}

static int64_t fs_set_flags(struct server_request *request)
{
    return with_file(request, set_flags);
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

static int64_t with_name(struct server_request *request, enum trace_fs_change what,
                         int (*operate)(const char *path))
{
    char path[FS_PATH_MAX];
    int64_t result = copy_path(request, 0, path);
    if (result >= 0)
        result = operate(path);
    if (result == 0)
        log_change(request, 0, what, path);
    return result;
}

static int64_t fs_mkdir(struct server_request *request)
{
    char path[FS_PATH_MAX];
    int64_t result = copy_path(request, 0, path);
    if (result >= 0)
        result = tree_make(path, NODE_DIRECTORY, S_IFDIR | ((mode_t)request->word[1] & 0777));
    if (result == 0)
        log_change(request, 0, TRACE_FS_MKDIR, path);
    return result;
}

static int64_t fs_rmdir(struct server_request *request)
{
    return with_name(request, TRACE_FS_RMDIR, tree_rmdir);
}

static int64_t fs_unlink(struct server_request *request)
{
    return with_name(request, TRACE_FS_UNLINK, tree_unlink);
}

static int64_t with_two_names(struct server_request *request, enum trace_fs_change what,
                              int (*operate)(const char *from, const char *to))
{
    char from[FS_PATH_MAX], to[FS_PATH_MAX];
    int64_t result = copy_path(request, 0, from);
    if (result >= 0)
        result = copy_path(request, 1, to);
    if (result >= 0)
        result = operate(from, to);
    if (result == 0)
        log_change(request, 0, what, to);
    return result;
}

static int64_t fs_rename(struct server_request *request)
{
    return with_two_names(request, TRACE_FS_RENAME, tree_rename);
}

static int64_t fs_link(struct server_request *request)
{
    return with_two_names(request, TRACE_FS_LINK, tree_link);
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
static int64_t send_executable(struct server_request *request, struct node *node)
{
    if (node->kind != NODE_FILE)
        return node->kind == NODE_DIRECTORY ? -EISDIR : -EACCES;
    pthread_mutex_lock(&node->lock);
    int error = storage_executable(&node->storage, node->size, &request->send[0]);
    request->word[0] = node->size;
    request->word[1] = node->number;
    request->word[2] = node->version;
    pthread_mutex_unlock(&node->lock);
    request->close_sent = true;
    return error;
}

static int64_t fs_executable(struct server_request *request)
{
    return with_node(request, send_executable);
}

static int64_t map_file(struct server_request *request, struct open_file *file)
{
    struct node *node = file->node;
    if (!(request->word[1] & FS_MAP_SHARED))
        return file->access == O_WRONLY ? -EACCES : send_executable(request, node);
    if (node->kind != NODE_FILE || file->access != O_RDWR)
        return -EACCES;
    pthread_mutex_lock(&node->lock);
    int error = storage_share(&node->storage, node->size, &request->send[0]);
    request->word[0] = node->size;
    pthread_mutex_unlock(&node->lock);
    request->close_sent = true;
    return error;
}

static int64_t fs_map(struct server_request *request)
{
    return with_file(request, map_file);
}

/* ---- polling --------------------------------------------------------------------------------------- */

static int64_t poll_file(struct server_request *request, struct open_file *file)
{
    if (file->node->kind != NODE_PIPE)
        return (int64_t)request->word[1] & (SERVER_POLL_READ | SERVER_POLL_WRITE);
    return pipe_poll(file->node->pipe, open_file_end(file), request);
}

static int64_t fs_poll(struct server_request *request)
{
    return with_file(request, poll_file);
}

/* ---- the table ------------------------------------------------------------------------------------- */

typedef int64_t (*fs_function)(struct server_request *request);

static const fs_function functions[] = {
#define ENTRY(label, function) [(label)-FS_OPEN] = (function)
    ENTRY(FS_OPEN, fs_open),
    ENTRY(FS_CLOSE, fs_close),
    ENTRY(FS_READ, fs_read),
    ENTRY(FS_WRITE, fs_write),
    ENTRY(FS_SEEK, fs_seek),
    ENTRY(FS_STAT, fs_stat),
    ENTRY(FS_FSTAT, fs_fstat),
    ENTRY(FS_READDIR, fs_readdir),
    ENTRY(FS_MKDIR, fs_mkdir),
    ENTRY(FS_RMDIR, fs_rmdir),
    ENTRY(FS_UNLINK, fs_unlink),
    ENTRY(FS_RENAME, fs_rename),
    ENTRY(FS_LINK, fs_link),
    ENTRY(FS_TRUNCATE, fs_truncate),
    ENTRY(FS_FTRUNCATE, fs_ftruncate),
    ENTRY(FS_REALPATH, fs_realpath),
    ENTRY(FS_PIPE, fs_pipe),
    ENTRY(FS_DUP, fs_dup),
    ENTRY(FS_GET_FLAGS, fs_get_flags),
    ENTRY(FS_SET_FLAGS, fs_set_flags),
    ENTRY(FS_MAP, fs_map),
    ENTRY(FS_EXECUTABLE, fs_executable),
    ENTRY(FS_SET_TIME, fs_set_time),
    ENTRY(FS_STATFS, fs_statfs),
#undef ENTRY
};

static fs_function find_function(uint64_t label)
{
    if (label == SERVER_POLL)
        return fs_poll;
    uint64_t index = label - FS_OPEN;
    return index < sizeof(functions) / sizeof(functions[0]) ? functions[index] : NULL;
}

int64_t fs_handle(struct server_request *request)
{
    uint32_t label = (uint32_t)request->label;
    fs_function function = find_function(request->label);
    trace_fs_request_begin(label, request->client, request->word[0]);
    int64_t result = function ? function(request) : -ENOSYS;
    trace_fs_request_end(label, (int32_t)result);
    return result;
}
