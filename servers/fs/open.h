/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/fs/open.h - open files, and the handles by which clients name them.
 *
 * An open file (POSIX: open file description) has a position and flags; FS_DUP and SERVER_INHERIT give it
 * more handles. A client's table is made by its first handle and goes with the client.
 */
#ifndef SERVERS_FS_OPEN_H
#define SERVERS_FS_OPEN_H

#include "node.h"
#include "pipe.h"

#define HANDLES_MAX 1024u /* of one client */

struct open_file {
    atomic_uint references;
    struct node *node;    /* a reference; these two never change */
    int access;           /* O_RDONLY, O_WRONLY, O_RDWR */
    pthread_mutex_t lock; /* outside the node's lock */
    /* lock: */
    int flags; /* O_APPEND, O_NONBLOCK */
    uint64_t position;
};

/* Takes over the reference to the node, also when it fails (NULL). */
struct open_file *open_file_create(struct node *node, int flags);
void open_file_put(struct open_file *file);
enum pipe_end open_file_end(const struct open_file *file); /* of pipes */

/* A handle for the file: takes over the reference; the number or -errno, and then the reference is gone. */
int64_t handle_add(uint32_t client, struct open_file *file);
struct open_file *handle_get(uint32_t client, uint64_t handle); /* a reference, or NULL */
int handle_close(uint32_t client, uint64_t handle);
int64_t handle_inherit(uint32_t parent, uint32_t child, uint64_t *handles, uint32_t count);
void handle_close_client(uint32_t client);
uint64_t handle_count(void);

#endif
