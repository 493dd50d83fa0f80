/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/fs/node.h - files and directories as objects, whatever their names.
 *
 * A node lives as long as a name, an open file or somebody at work refers to it. `lock` covers its contents;
 * it is held for one operation and never while another node's lock is wanted, but by those that hold the
 * tree's topology_lock (tree.c), so there is no order among nodes.
 */
#ifndef SERVERS_FS_NODE_H
#define SERVERS_FS_NODE_H

#include "storage.h"
#include <base/tree.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

enum node_kind { NODE_FILE, NODE_DIRECTORY, NODE_PIPE, NODE_NULL, NODE_ZERO };

struct pipe;

struct dir_entry {
    struct tree_node by_name, by_position;
    uint64_t position; /* grows from entry to entry; readdir goes on from here */
    struct node *node; /* a reference */
    uint8_t length;
    char name[];
};

struct directory {
    struct node *parent; /* no reference: a directory with an entry is not removed. NULL: it was removed */
    struct tree_node *names, *positions;
    uint32_t entry_count;
    uint64_t next_position;
};

struct node {
    atomic_uint references;
    enum node_kind kind; /* these three never change */
    mode_t mode;         /* S_IFMT and permissions */
    uint64_t number;
    pthread_mutex_t lock;
    /* lock: */
    uint32_t links;
    uint64_t modified; /* nanoseconds since boot */
    uint64_t size;     /* files */
    uint64_t version;  /* files: grows with every change */
    union {
        struct storage storage;     /* files */
        struct directory directory; /* directories */
        struct pipe *pipe;          /* pipes; has a lock of its own */
    };
};

struct attributes {
    uint64_t number, size, modified;
    uint32_t mode, links;
};

struct node *node_create(enum node_kind kind, mode_t mode); /* one reference; NULL: no memory */
void node_get(struct node *node);
void node_put(struct node *node);
void node_attributes(struct node *node, struct attributes *attributes);

/* Files and devices: bytes, or -errno. With `append` *offset is set to the end first. */
int64_t node_read(struct node *node, uint64_t offset, void *buffer, uint64_t size);
int64_t node_write(struct node *node, uint64_t *offset, const void *buffer, uint64_t size, int append);
int node_truncate(struct node *node, uint64_t size);

/* Figures of the whole file system. */
struct node_totals {
    _Atomic uint64_t bytes, files, directories;
};
extern struct node_totals node_totals;

uint64_t now_ns(void);

#endif
