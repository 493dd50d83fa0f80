/*
 * open.h - open files (POSIX: open file descriptions): a position and flags. Clients name them by handles;
 * SERVER_INHERIT adds handles to the same file.
 */
#pragma once

#include "node.h"
#include "pipe.h"
#include <servers/lib/client.h>

extern const struct handle_class open_file_handles;

struct open_file {
    struct handle_object object; /* must be first */
    struct node *node;           /* a reference; never changes, nor does `access` */
    int access;                  /* O_RDONLY, O_WRONLY, O_RDWR */
    pthread_mutex_t lock;        /* taken before the node's lock */
    /* covered by `lock`: */
    int flags; /* O_APPEND, O_NONBLOCK */
    uint64_t position;
};

/* Consumes the reference to the node, also on failure (NULL). */
struct open_file *open_file_create(struct node *node, int flags);
enum pipe_end open_file_end(const struct open_file *file); /* for pipes */

/* Adds a handle and consumes the reference to the file, also on failure; NULL means -ENOMEM. */
int64_t open_file_add(uint32_t client, struct open_file *file);
