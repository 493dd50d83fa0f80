/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open.h - open files, and the handles by which clients name them.
 *
 * An open file (POSIX: open file description) has a position and flags; FS_DUP and SERVER_INHERIT add handles
 * to it. The handle table of a client is created with its first handle and freed when the client ends.
 */
#ifndef SERVERS_FS_OPEN_H
#define SERVERS_FS_OPEN_H

#include "node.h"
#include "pipe.h"

#define HANDLES_MAX 1024u /* per client */

struct open_file {
    atomic_uint references;
    struct node *node;    /* a reference; never changes, nor does `access` */
    int access;           /* O_RDONLY, O_WRONLY, O_RDWR */
    pthread_mutex_t lock; /* taken before the node's lock */
    /* covered by `lock`: */
    int flags; /* O_APPEND, O_NONBLOCK */
    uint64_t position;
};

/* Consumes the reference to the node, also on failure (NULL). */
struct open_file *open_file_create(struct node *node, int flags);
void open_file_put(struct open_file *file);
enum pipe_end open_file_end(const struct open_file *file); /* for pipes */

/* Adds a handle and consumes the reference to the file, also on failure. Returns the handle or -errno. */
int64_t handle_add(uint32_t client, struct open_file *file);
struct open_file *handle_get(uint32_t client, uint64_t handle); /* returns a reference, or NULL */
int handle_close(uint32_t client, uint64_t handle);
int64_t handle_inherit(uint32_t parent, uint32_t child, uint64_t *handles, uint32_t count);
void handle_close_client(uint32_t client);
uint64_t handle_count(void);

#endif
