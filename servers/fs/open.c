/* open.c - open files, the objects that handles name. Interface: open.h, servers/lib/client.h. */
#include "open.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

enum pipe_end open_file_end(const struct open_file *file)
{
    return file->access == O_WRONLY ? PIPE_WRITE : PIPE_READ;
}

struct open_file *open_file_create(struct node *node, int flags)
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

int64_t open_file_add(uint32_t client, struct open_file *file)
{
    if (!file)
        return -ENOMEM;
    int64_t handle = handle_add(client, file);
    handle_put(file);
    return handle;
}
